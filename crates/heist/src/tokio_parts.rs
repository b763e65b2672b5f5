//! What comes from the tokio crate, built without its runtime: channels and locks, the I/O traits
//! and their helpers, and the macros that combine futures. None of it depends on a runtime, and
//! having the very same traits is what makes heist work with crates that were written for them.

pub use tokio::{join, pin, select, try_join};

/// Channels and locks for tasks: those of the tokio crate.
pub mod sync {
    pub use tokio::sync::*;
}

/// The traits of asynchronous I/O and their helpers: those of the tokio crate.
pub mod io {
    pub use tokio::io::*;
}
