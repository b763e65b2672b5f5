//! The console: a running program describes its runtimes over HTTP, on a Unix socket or a loopback
//! TCP port.
//!
//! `heist top` and `heist doctor` use it, and so can `curl` and Prometheus. It serves metrics, the
//! state of workers and tasks, recent stalls, and a trace.
//!
//! # Examples
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
//! The environment variable `HEIST_CONSOLE=1` gives each runtime of a program a console without
//! changing the program.
//! [The README](https://docs.rs/crate/heist/latest/source/src/console/README.md) describes what is
//! served, where, and to which clients.
//!
//! # Cost
//!
//! A runtime with a console reads the clock twice per poll, and keeps statistics of each task up to
//! a limit ([`Config::max_tasks`]). One thread serves all clients. It works at most a quarter of
//! the time and uses at most a few MiB, however many clients there are; a trace that is being sent
//! is in an unnamed file.

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

pub use crate::env::Address;
pub use config::Config;
pub(crate) use config::{Console, Settings};
pub use error::StartError;
pub use place::directory;
