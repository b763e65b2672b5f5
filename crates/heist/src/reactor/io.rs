//! I/O: what a file descriptor is ready for, and who waits for that.

mod evented;
mod ready;

pub(crate) use evented::{Direction, Evented, ReadyEvent};
pub use ready::{Interest, Ready};
