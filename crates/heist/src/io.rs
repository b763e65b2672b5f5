//! Asynchronous I/O: the traits and their helpers, and what a descriptor is ready for.
//!
//! The traits and helpers are those of the tokio crate. They take no part in the budget of
//! [`task::coop`](crate::task::coop), as said in [`sync`](crate::sync).

mod async_fd;

pub use crate::reactor::io::{Interest, Ready};
pub use crate::tokio_parts::io::*;

/// Descriptors of your own.
pub mod unix {
    #[allow(deprecated, reason = "Tokio still has the name")]
    pub use super::async_fd::AsyncFdTryNewError;
    pub use super::async_fd::{
        AsyncFd, AsyncFdReadyGuard, AsyncFdReadyMutGuard, AsyncFdRegisterError, TryIoError,
    };
}
