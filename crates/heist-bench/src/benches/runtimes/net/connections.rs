//! What a connection costs a server while it does nothing: memory.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::net::sockopt;

use super::server::Host;
use super::{RUNTIMES, Service};
use crate::bench::{Bench, Fault, Pace, Sample, Setup};
use crate::benches::driver::GIVE_UP;
use crate::unit::Unit;

const CONNECTIONS: u64 = 5000;

/// Before the first measurement, and still there at the second: what a server sets up with its
/// first connections, and code that runs for the first time, is not what is measured here.
const FIRST: u64 = 64;

/// The size of a message and of the server's buffer, in bytes.
const MESSAGE: usize = 64;

pub fn bench() -> Bench {
    let mut bench = Bench::new(
        "conn_bytes",
        "5000 connections that wait, to an echo server; its memory per connection",
        Unit::B,
        Pace::Once,
    );
    for runtime in RUNTIMES {
        bench = bench.side(runtime, move |setup| {
            let host = Host::of(runtime)?;
            let Setup { workers, .. } = *setup;
            let connections = setup.scaled(CONNECTIONS);
            Ok(move |_| sample(&host, workers, connections))
        });
    }
    bench
}

/// Measures a new server: an old one would reuse memory that earlier connections left.
fn sample(host: &Host, workers: usize, connections: u64) -> Result<Sample, Fault> {
    let server = host.start(workers, Service::Echo(MESSAGE))?;
    let first = connect(server.address, FIRST).map_err(Fault::Setup)?;
    let before = server.resident().map_err(Fault::Setup)?;
    let more = connect(server.address, connections).map_err(Fault::Setup)?;
    let after = server.resident().map_err(Fault::Setup)?;
    drop((first, more));
    Ok(Sample::Value(after.saturating_sub(before) as f64 / connections as f64))
}

/// Connects and exchanges a message, so that the server's task waits for more.
fn connect(address: SocketAddr, number: u64) -> io::Result<Vec<TcpStream>> {
    let connect = |_| {
        let mut stream = TcpStream::connect(address)?;
        // Closed by us, it would keep its port for a minute.
        sockopt::set_socket_linger(&stream, Some(Duration::ZERO))?;
        stream.set_read_timeout(Some(GIVE_UP))?;
        let mut reply = [0; MESSAGE];
        stream.write_all(&[1; MESSAGE])?;
        stream.read_exact(&mut reply)?;
        Ok(stream)
    };
    (0..number).map(connect).collect()
}
