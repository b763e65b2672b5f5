//! Signals that the system sends to the process.
//!
//! The first time that somebody listens to a kind of signal, a handler is installed that replaces
//! what the system would do otherwise. It stays **for as long as the process lives**, also when
//! nobody listens any more: a program that has once awaited [`ctrl_c`] is not ended by Ctrl-C from
//! then on. Handlers that others have installed before are called too.
//!
//! ```no_run
//! use heist::signal;
//!
//! #[heist::main]
//! async fn main() -> std::io::Result<()> {
//!     println!("working until somebody presses Ctrl-C");
//!     signal::ctrl_c().await?;
//!     println!("tidying up");
//!     Ok(())
//! }
//! ```
//!
//! How a signal gets from its handler to a task is told in `signal/README.md`.

mod board;
pub mod unix;

use std::io;
use unix::{SignalKind, signal};

/// Waits for Ctrl-C, that is for `SIGINT`.
///
/// What was sent before the future is first polled may be missed. In a loop, make one
/// [`Signal`](unix::Signal) before it, rather than a new future in each round.
///
/// # Errors
/// If the handler cannot be installed.
///
/// # Panics
/// If it is polled outside of a runtime, or in one without I/O (see
/// [`Builder::enable_io`](crate::runtime::Builder::enable_io)).
///
/// ```
/// # use heist::signal;
/// # fn somebody_presses_ctrl_c() {
/// #     use rustix::process::{Signal, getpid, kill_process};
/// #     kill_process(getpid(), Signal::INT).unwrap();
/// # }
/// # let rt = heist::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # rt.block_on(async {
/// let pressed = signal::ctrl_c();
/// # let pressed = async { heist::join!(biased; pressed, async { somebody_presses_ctrl_c() }).0 };
/// pressed.await.unwrap();
/// println!("good bye");
/// # });
/// ```
pub async fn ctrl_c() -> io::Result<()> {
    signal(SignalKind::interrupt())?.recv().await;
    Ok(())
}
