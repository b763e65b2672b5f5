//! What a running program tells about its runtime: a Unix socket, or a loopback TCP port, that answers
//! plain HTTP. `heist top` and `heist doctor` ask it; so can `curl` and Prometheus.
//!
//! ```
//! use heist::console::{Address, Config};
//! use heist::runtime::Builder;
//!
//! # let dir = tempfile::tempdir().unwrap();
//! # let path = dir.path().join("console.sock");
//! let rt = Builder::new_multi_thread().console(Config::unix(&path)).build().unwrap();
//! assert_eq!(rt.handle().console_address(), Some(&Address::Unix(path)));
//! ```
//!
//! Without touching the program, `HEIST_CONSOLE=1` gives each of its runtimes a console. What is served,
//! where, and to whom, is told in
//! [the README](https://docs.rs/crate/heist/latest/source/src/console/README.md).
//!
//! A runtime with a console reads the clock twice a poll, and keeps numbers of each task up to a limit
//! ([`Config::max_tasks`]). Whoever asks, and however often, is served by one thread, which works a
//! quarter of the time at most and keeps no more than a few MiB for all of its clients; a trace on its way
//! is in a file without a name.

mod answers;
mod client;
mod config;
mod error;
mod http;
mod json;
mod place;
mod prometheus;
mod server;
mod snapshot;
mod source;
mod stalls;
mod trace;

pub use config::{Address, Config};
pub(crate) use config::{Console, Wish};
pub use error::StartError;
pub use place::directory;
