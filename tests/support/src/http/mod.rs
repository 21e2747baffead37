//! A small HTTP/1.1 server on threads, written here so that it can also misbehave byte by byte.
//!
//! One thread per connection, keep-alive, `HEAD`, `Range` with `If-Range`, entity tags, chunked bodies on demand.
//! [`server`] accepts, [`connection`] talks, [`misbehave`] holds the rules that spoil an answer, [`log`] what was asked.

mod connection;
mod log;
mod message;
mod misbehave;
mod server;

pub use log::{Hit, Log};
pub use message::{Request, Response};
pub use misbehave::Misbehave;
pub(crate) use misbehave::Rules;
pub(crate) use server::{Handler, Server};
