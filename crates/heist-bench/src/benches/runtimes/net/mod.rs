//! Servers, and how well they do under load.
//!
//! A server is a process with the runtime of one side, which lives as long as the bench runs.
//! The load is another process, the same for all sides, started for each sample: so that all
//! meet the same clients, and no side shares its process with another.
//!
//! - `service`, `http`: what the servers do, the same code for all
//! - `server`: their processes
//! - `bare`: servers without a runtime
//! - `talk`, `client`, `load`, `wrk`: the load
//! - `usage`, `calls`: what a server uses, and its system calls
//! - `connections`: what a connection costs that does nothing

mod bare;
pub mod calls;
mod client;
mod connections;
mod http;
pub mod load;
pub mod server;
pub mod service;
mod talk;
mod usage;
mod wrk;

use std::time::Duration;

use crate::bench::{Bench, Pace, Row, Runtime, Setup};
use crate::unit::Unit;
use calls::Counter;
use load::{Load, Report};
use server::{Host, Server};
use service::{SMALL, Service};

/// Guessed: connections, caches and branch predictors have settled.
const WARM_UP: Duration = Duration::from_millis(100);

/// Guessed: with a thousand connections, some ten requests each.
const TIME: Duration = Duration::from_millis(500);

/// The number of connections in a quick run.
const FEW_CONNECTIONS: usize = 10;

const RUNTIMES: [Runtime; 5] =
    [Runtime::Heist, Runtime::Tokio, Runtime::Smol, Runtime::HeistUnwatched, Runtime::Go];

/// Those that serve under load.
const SERVERS: [Runtime; 5] =
    [Runtime::HeistOne, Runtime::HeistAlone, Runtime::TokioAlone, Runtime::Bare, Runtime::BareOne];

/// The rows of a bench under load: how many of something a second, how long one takes, and what it
/// costs the server.
macro_rules! rows {
    ($name:literal, $about:literal, $rate:expr) => {
        [
            Row { name: $name, about: concat!($about, "; how many a second"), unit: $rate },
            Row {
                name: concat!($name, "_p50"),
                about: concat!("as ", $name, "; median of how long one takes"),
                unit: Unit::Us,
            },
            Row {
                name: concat!($name, "_p99"),
                about: concat!("as ", $name, "; p99 of how long one takes"),
                unit: Unit::Us,
            },
            Row {
                name: concat!($name, "_cpu"),
                about: concat!("as ", $name, "; the server's CPU time for one"),
                unit: Unit::Us,
            },
            Row {
                name: concat!($name, "_csw"),
                about: concat!("as ", $name, "; how often a thread of the server sleeps for one"),
                unit: Unit::Switches,
            },
            Row {
                name: concat!($name, "_sys"),
                about: concat!("as ", $name, "; the server's system calls for one"),
                unit: Unit::Calls,
            },
            Row {
                name: concat!($name, "_ctl"),
                about: concat!("as ", $name, "; how many of them are epoll_ctl"),
                unit: Unit::Calls,
            },
        ]
    };
}

pub fn benches() -> Vec<Bench> {
    const REQUESTS: Unit = Unit::Rate("req/s");
    const CONNECTIONS: Unit = Unit::Rate("conn/s");
    const LARGE: usize = 16 * 1024;
    let echo = |rows, connections, size| under_load(rows, connections, Service::Echo(size));
    vec![
        echo(rows!("echo_tcp_1x64", "1 connection, echoes of 64 B", REQUESTS), 1, SMALL),
        echo(rows!("echo_tcp_1x16k", "1 connection, echoes of 16 KiB", REQUESTS), 1, LARGE),
        echo(rows!("echo_tcp_64x64", "64 connections, echoes of 64 B", REQUESTS), 64, SMALL),
        echo(rows!("echo_tcp_64x16k", "64 connections, echoes of 16 KiB", REQUESTS), 64, LARGE),
        echo(rows!("echo_tcp_1000x64", "1000 connections, echoes of 64 B", REQUESTS), 1000, SMALL),
        echo(
            rows!("echo_tcp_1000x16k", "1000 connections, echoes of 16 KiB", REQUESTS),
            1000,
            LARGE,
        ),
        under_load(
            rows!(
                "echo_compute",
                "64 connections, echoes of 64 B after 20 us of CPU time",
                REQUESTS
            ),
            64,
            Service::Compute,
        ),
        under_load(
            rows!("echo_fan_out", "64 connections, echoes of 64 B after 4 tasks of 5 us", REQUESTS),
            64,
            Service::FanOut,
        ),
        under_load(
            rows!("http_hello", "64 connections to hyper, HTTP/1.1, kept alive", REQUESTS),
            64,
            Service::Http,
        ),
        under_load(
            rows!("accept_storm", "64 at a time connect, get a byte back, are closed", CONNECTIONS),
            64,
            Service::Once,
        ),
        under_load(
            rows!("accept_slow", "as accept_storm, after 200 us of CPU time each", CONNECTIONS),
            64,
            Service::OnceSlowly,
        ),
        connections::bench(),
    ]
}

fn under_load(rows: [Row; 7], connections: usize, service: Service) -> Bench {
    let [first, further @ ..] = rows;
    let mut bench = Bench::new(first.name, first.about, first.unit, Pace::Once);
    bench.rows.extend(further);
    let runtimes = RUNTIMES.into_iter().chain(SERVERS);
    for runtime in runtimes.filter(|runtime| service.is_served_by(*runtime)) {
        bench = bench.side(runtime, move |setup| {
            let host = Host::of(runtime)?;
            let server = host.start(setup.workers, service)?;
            let load = load_of(setup, &server, connections);
            let with_wrk = service == Service::Http && !setup.quick && wrk::is_there();
            Ok(move |_| {
                // They are there as long as this is.
                let _ = (&server, &host);
                let report = load.run(service)?;
                if !with_wrk {
                    return Ok(report.sample());
                }
                // It counts no system calls.
                Ok(Report { calls: report.calls, ..wrk::run("wrk", load)? }.sample())
            })
        });
    }
    bench
}

fn load_of(setup: &Setup, server: &Server, connections: usize) -> Load {
    let scaled = |time: Duration| Duration::from_millis(setup.scaled(time.as_millis() as u64));
    Load {
        address: server.address,
        server: server.process(),
        connections: if setup.quick { connections.min(FEW_CONNECTIONS) } else { connections },
        warm_up: scaled(WARM_UP),
        time: scaled(TIME),
        counter: Counter::here(),
    }
}
