//! A real S3 server in the test process, which checks signatures.

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tempfile::TempDir;
use tflock_test_support::Program;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::{IndexFixture, LOCK, start, warnings};

pub(crate) const ACCESS_KEY: &str = "AKIATESTACCESSKEY";
pub(crate) const SECRET_KEY: &str = "secret-of-the-bucket";

/// An S3 server on loopback with the bucket `fleet`.
pub(crate) struct S3Server {
    port: u16,
    /// Contains the bucket.
    root: TempDir,
    /// Runs the server until it is dropped.
    _runtime: Runtime,
}

impl S3Server {
    pub(crate) fn start() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("fleet")).unwrap();
        let mut service = S3ServiceBuilder::new(s3s_fs::FileSystem::new(root.path()).unwrap());
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        let service = service.build();
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        runtime.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let server = Builder::new(TokioExecutor::new());
                let connection = server.serve_connection(TokioIo::new(socket), service.clone());
                tokio::spawn(connection.into_owned());
            }
        });
        Self {
            port,
            root,
            _runtime: runtime,
        }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Adds an object to the bucket.
    pub(crate) fn put(&self, key: &str, content: &[u8]) {
        let path = self.root.path().join("fleet").join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Returns a command that uses the bucket with this secret.
    pub(super) fn command(&self, fixture: &IndexFixture, line: &str, secret: &str) -> Program {
        let command = self.configure(fixture.command(line), secret);
        command.env("TFLOCK_INDEX_SIGNING_KEY", fixture.signer.secret_text())
    }

    /// Makes the bucket the index of a command.
    pub(super) fn configure(&self, command: Program, secret: &str) -> Program {
        command
            .env("TFLOCK_INDEX", "s3://fleet/team")
            .env("AWS_ENDPOINT_URL", self.endpoint())
            .env("AWS_REGION", "eu-central-1")
            .env("AWS_ACCESS_KEY_ID", ACCESS_KEY)
            .env("AWS_SECRET_ACCESS_KEY", secret)
    }

    fn has(&self, fixture: &IndexFixture, platform: &str) -> bool {
        let path = fixture.key(platform).path();
        self.root.path().join("fleet/team").join(path).is_file()
    }
}

#[test]
fn a_bucket_is_filled_and_read() {
    let (fixture, server) = (start(), S3Server::start());
    let push = format!("{LOCK} a --index-push --no-download");
    let nothing = server
        .command(&fixture, &push, SECRET_KEY)
        .run()
        .expect_code(1);
    nothing.assert_stderr("no index has its hashes");
    let push = format!("{LOCK} a --index-push");
    let outcome = server
        .command(&fixture, &push, SECRET_KEY)
        .run()
        .expect_success();
    outcome.assert_stdout("added 2 records to the index\n");
    assert_eq!(warnings(&outcome), 0, "{outcome}");
    assert!(server.has(&fixture, "linux_amd64") && server.has(&fixture, "darwin_arm64"));
    let expected = fixture.forget();
    let read = format!("{LOCK} a --no-download");
    let outcome = server
        .command(&fixture, &read, SECRET_KEY)
        .run()
        .expect_success();
    assert_eq!(
        (fixture.downloads(), warnings(&outcome)),
        (0, 0),
        "{outcome}"
    );
    assert_eq!(fixture.forget(), expected);
}

#[test]
fn empty_variables_are_not_set() {
    let (fixture, server) = (start(), S3Server::start());
    let command = server.command(&fixture, &format!("{LOCK} a --index-push"), SECRET_KEY);
    let command = ["AWS_SKIP_SIGNATURE", "AWS_SESSION_TOKEN", "AWS_ALLOW_HTTP"]
        .into_iter()
        .fold(command, |command, name| command.env(name, ""));
    let outcome = command.run().expect_success();
    outcome.assert_stdout("added 2 records to the index\n");
    assert_eq!(warnings(&outcome), 0, "{outcome}");
}

/// Two writers: the second one finds the records of the first one.
#[test]
fn an_object_is_created_only_once() {
    let (fixture, server) = (start(), S3Server::start());
    let push = format!("{LOCK} a --index-push --index-key {}", other_key());
    let added = ["added 2 records", "1 created"];
    for expected in added {
        let outcome = server
            .command(&fixture, &push, SECRET_KEY)
            .run()
            .expect_success();
        outcome.assert_stdout(expected);
        assert_eq!(
            outcome.stdout.contains("added"),
            expected == added[0],
            "{outcome}"
        );
        fixture.forget();
    }
}

fn other_key() -> String {
    let key = tflock::index::SignerKey::generate("other").unwrap();
    key.verifier().to_string()
}

#[test]
fn refused_credentials_are_a_warning_and_are_not_shown() {
    let (fixture, server) = (start(), S3Server::start());
    for line in [format!("{LOCK} a"), format!("{LOCK} b --index-push -v")] {
        let command = server
            .command(&fixture, &line, "wrong-secret")
            .env("TFLOCK_LOG", "trace");
        let outcome = command.run().expect_success();
        outcome.assert_stderr("cannot read the hash index `s3://fleet/team`");
        outcome.assert_stderr("the server responded with 403");
        assert_eq!(warnings(&outcome), 1, "{outcome}");
        for secret in ["wrong-secret", ACCESS_KEY] {
            assert!(!outcome.stdout.contains(secret), "{outcome}");
            assert!(!outcome.stderr.contains(secret), "{outcome}");
        }
    }
}
