//! Asynchronous I/O: the traits and their helpers, and what a descriptor is ready for.
//!
//! The traits and helpers are those of the tokio crate. They take no part in the budget of
//! [`task::coop`](crate::task::coop), as said in [`sync`](crate::sync).

pub use crate::reactor::io::{Interest, Ready};
pub use crate::tokio_parts::io::*;
