//! Servers and proxies on loopback that do one thing with every connection.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use tflock_test_support::{Identity, TestAuthority};

/// A TLS alert that ends the handshake: the server supports none of the client's TLS versions.
pub(crate) const PROTOCOL_VERSION: &[u8] = &[21, 3, 1, 0, 2, 2, 70];

/// A TLS alert that ends the handshake: the server and the client have no cipher suite in common.
pub(crate) const HANDSHAKE_FAILURE: &[u8] = &[21, 3, 3, 0, 2, 2, 40];

/// Starts a server that runs `serve` on a thread for each connection. Returns its port.
pub(crate) fn listen(serve: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            // The client may close the connection at any time.
            thread::spawn(move || drop(serve(stream)));
        }
    });
    port
}

/// Starts a server that reads a request head and responds with `response`.
pub(crate) fn respond(response: impl Into<Vec<u8>>) -> u16 {
    let response = response.into();
    listen(move |mut stream| {
        read_head(&mut stream)?;
        stream.write_all(&response)
    })
}

/// Starts a server that responds to the first bytes, whatever they are.
pub(crate) fn respond_at_once(response: &'static [u8]) -> u16 {
    listen(move |mut stream| {
        stream.read_exact(&mut [0; 16])?;
        stream.write_all(response)?;
        // Closing the connection with unread data would discard the response.
        stream.shutdown(std::net::Shutdown::Write)?;
        stream.read_to_end(&mut Vec::new()).map(drop)
    })
}

/// Starts a server that responds with status 404 over TLS.
pub(crate) fn respond_with_tls(config: Arc<ServerConfig>) -> u16 {
    listen(move |stream| {
        let tls = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(tls, stream);
        read_head(&mut stream)?;
        stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
    })
}

/// Returns the configuration of a server that requires a certificate of the client.
pub(crate) fn requiring_client_certificate(authority: &TestAuthority) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let (chain, key) = authority.issue(&Identity::named("localhost"));
    let mut roots = RootCertStore::empty();
    roots.add(chain[0].clone()).unwrap();
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(chain, key);
    Arc::new(config.unwrap())
}

/// Starts a proxy that connects every tunnel to `target`, a port on this machine. Requires `credentials`, if given, in the form of
/// the header `Proxy-Authorization`.
pub(crate) fn proxy(target: u16, credentials: Option<&'static str>) -> u16 {
    listen(move |mut client| {
        let head = read_head(&mut client)?;
        if credentials.is_some_and(|credentials| !head.contains(credentials)) {
            return client.write_all(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
            );
        }
        let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, target)) else {
            return client.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
        };
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
        thread::spawn(move || drop(io::copy(&mut from, &mut to)));
        io::copy(&mut &server, &mut client).map(drop)
    })
}

/// Returns a port on which no server listens.
pub(crate) fn closed_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Reads until the end of the headers.
fn read_head(stream: &mut impl io::Read) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
