//! Accepts connections and starts a thread for each, until the server is dropped.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use rustls::ServerConfig;

use super::connection;
use super::log::Log;
use super::message::{ReceivedRequest, Response};
use super::misbehave::Rules;

/// A source of correct responses.
pub(crate) trait Handler: Send + Sync + 'static {
    /// Returns the correct response to `request`.
    fn answer(&self, request: &ReceivedRequest) -> Response;
}

/// State shared by all connections of a server.
pub(crate) struct Shared {
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) log: Log,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    /// Open connections by number, which the server closes when it is dropped.
    open: Mutex<BTreeMap<usize, TcpStream>>,
    stopping: AtomicBool,
}

/// A server on a loopback port.
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens on a free port. Uses TLS if a TLS configuration is given.
    pub(crate) fn start(
        handler: Arc<dyn Handler>,
        rules: Arc<Rules>,
        log: Log,
        tls: Option<Arc<ServerConfig>>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let (open, stopping) = (Mutex::default(), AtomicBool::new(false));
        let shared = Arc::new(Shared {
            handler,
            rules,
            log,
            tls,
            open,
            stopping,
        });
        let accepting = Arc::clone(&shared);
        let acceptor = thread::spawn(move || accept(&listener, &accepting));
        Ok(Self {
            address,
            shared,
            acceptor: Some(acceptor),
        })
    }

    /// Returns the server's port on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the accepting thread. The connection fails if the thread has already ended.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
        for stream in self.shared.open.lock().expect("not poisoned").values() {
            // The connection may already be closed.
            drop(stream.shutdown(Shutdown::Both));
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for (number, stream) in listener.incoming().enumerate() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if let Ok(handle) = stream.try_clone() {
            let mut open = shared.open.lock().expect("not poisoned");
            open.insert(number, handle);
        }
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // An error in a connection affects only that connection.
            drop(connection::serve(&stream, &shared));
            shared.open.lock().expect("not poisoned").remove(&number);
        });
    }
}
