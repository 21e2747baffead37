//! A slow network between tflock and servers on loopback: relays that limit the rate and delay every byte.
//!
//! A relay does not change how TCP behaves on loopback, so slow start and lost packets are not part of the simulation.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The number of bytes that are sent in one step.
const PIECE: usize = 16 << 10;

/// The maximum number of steps in transit. The rates and the delay of the benchmark never require as many.
const IN_FLIGHT: usize = 4096;

/// A network whose directions each have a rate and a delay. All connections share the rate.
#[derive(Clone)]
pub(super) struct SlowNetwork {
    bytes_per_second: u64,
    delay: Duration,
    up: Direction,
    down: Direction,
}

/// The time at which the last byte sent in one direction has left, so that the next one can follow.
type Direction = Arc<Mutex<Instant>>;

/// Bytes, and the time at which they arrive.
type Piece = (Instant, Vec<u8>);

impl SlowNetwork {
    pub(super) fn new(bytes_per_second: u64, delay: Duration) -> Self {
        let direction = || Arc::new(Mutex::new(Instant::now()));
        Self {
            bytes_per_second,
            delay,
            up: direction(),
            down: direction(),
        }
    }

    /// Starts a relay to a port on loopback, and returns the port of the relay. It runs until the process ends.
    pub(super) fn relay(&self, target: u16) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let port = listener.local_addr().expect("a bound port").port();
        let network = self.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let network = network.clone();
                // A server that does not accept the connection closes that of the client.
                thread::spawn(move || network.connect(client, target).ok());
            }
        });
        port
    }

    fn connect(&self, client: TcpStream, target: u16) -> std::io::Result<()> {
        let server = TcpStream::connect(("127.0.0.1", target))?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        // The handshake of TCP takes one round trip.
        thread::sleep(self.delay * 2);
        self.pump(client.try_clone()?, server.try_clone()?, &self.up);
        self.pump(server, client, &self.down);
        Ok(())
    }

    /// Transfers everything from one connection to another, in two threads.
    fn pump(&self, from: TcpStream, to: TcpStream, direction: &Direction) {
        let (sender, receiver) = sync_channel(IN_FLIGHT);
        let (network, direction) = (self.clone(), Arc::clone(direction));
        thread::spawn(move || network.receive(from, &sender, &direction));
        thread::spawn(move || deliver(&receiver, to));
    }

    fn receive(&self, mut from: TcpStream, sender: &SyncSender<Piece>, direction: &Direction) {
        let mut buffer = vec![0; PIECE];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let nanoseconds = count as u64 * 1_000_000_000 / self.bytes_per_second;
            let sent = {
                let mut free = direction.lock().expect("not poisoned");
                *free = (*free).max(Instant::now()) + Duration::from_nanos(nanoseconds);
                *free
            };
            thread::sleep(sent.saturating_duration_since(Instant::now()));
            let piece = (sent + self.delay, buffer[..count].to_vec());
            if sender.send(piece).is_err() {
                return;
            }
        }
    }
}

/// Writes each piece at its arrival time, and then closes this direction of the connection.
fn deliver(pieces: &Receiver<Piece>, mut to: TcpStream) {
    for (arrival, bytes) in pieces {
        thread::sleep(arrival.saturating_duration_since(Instant::now()));
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    // The other side may have closed the connection already.
    let _ = to.shutdown(Shutdown::Write);
}
