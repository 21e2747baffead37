//! An S3 server on loopback, which checks signatures and counts requests.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

const ACCESS_KEY: &str = "AKIABENCHMARK";
const SECRET_KEY: &str = "secret-of-the-benchmark";

/// An S3 server with the bucket `fleet`.
pub(super) struct BenchBucket {
    pub(super) port: u16,
    requests: Arc<AtomicUsize>,
    /// The directory of the bucket. It is removed when this value is dropped.
    _root: TempDir,
    /// Runs the server until it is dropped.
    _runtime: Runtime,
}

impl BenchBucket {
    pub(super) fn start() -> Self {
        let root = TempDir::with_prefix("tflock-bench-s3").expect("a temporary directory");
        std::fs::create_dir(root.path().join("fleet")).expect("the directory is writable");
        let objects = s3s_fs::FileSystem::new(root.path()).expect("the directory exists");
        let mut service = S3ServiceBuilder::new(objects);
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        let service = service.build();
        let requests = Arc::new(AtomicUsize::new(0));
        let runtime = Runtime::new().expect("threads can be started");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"));
        let listener = listener.expect("loopback has a free port");
        let port = listener.local_addr().expect("a bound port").port();
        let counter = Arc::clone(&requests);
        runtime.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (service, counter) = (service.clone(), Arc::clone(&counter));
                let counted = service_fn(move |request| {
                    counter.fetch_add(1, Ordering::Relaxed);
                    Service::call(&service, request)
                });
                let server = Builder::new(TokioExecutor::new());
                let connection = server.serve_connection(TokioIo::new(socket), counted);
                tokio::spawn(connection.into_owned());
            }
        });
        Self {
            port,
            requests,
            _root: root,
            _runtime: runtime,
        }
    }

    /// Adds environment variables to a command so that it uses the bucket as its index. `port` belongs to the server or to a relay to
    /// it.
    pub(super) fn configure(command: &mut Command, port: u16) {
        command
            .env("TFLOCK_INDEX", "s3://fleet/tflock")
            .env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}"))
            .env("AWS_REGION", "eu-central-1")
            .env("AWS_ACCESS_KEY_ID", ACCESS_KEY)
            .env("AWS_SECRET_ACCESS_KEY", SECRET_KEY);
    }

    /// Returns the number of requests since the last call.
    pub(super) fn take_requests(&self) -> usize {
        self.requests.swap(0, Ordering::Relaxed)
    }
}
