//! A small multithreaded HTTP/1.1 server that lets tests control faulty responses byte by byte.
//!
//! The server has one thread per connection and supports keep-alive, `HEAD`, `Range` with `If-Range`, entity tags and
//! chunked bodies. [`server`] accepts connections, [`connection`] sends responses, [`misbehave`] contains the rules for
//! faulty ones, and [`log`] records the requests.

mod connection;
mod log;
mod message;
mod misbehave;
mod server;

pub use log::{Hit, Log};
pub use message::{ReceivedRequest, Response};
pub use misbehave::Misbehave;
pub(crate) use misbehave::Rules;
pub(crate) use server::{Handler, Server};
