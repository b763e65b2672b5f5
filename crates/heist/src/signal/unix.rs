//! Signals of Unix, of any kind.

mod kind;

pub use kind::SignalKind;

use super::board::Listener;
use crate::reactor::Reactors;
use crate::runtime::Handle;
use crate::task::coop;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Listens to signals of one kind.
///
/// Everybody who listens to a kind gets to know of each signal. Signals that come shortly after one
/// another may be merged into one, by the system or here: each [`recv`](Self::recv) means that
/// there was **at least** one signal since the one before, and none goes unnoticed.
///
/// It works in every runtime with I/O, also in another than that where it was made, and after that
/// one has been shut down.
#[must_use = "a listener that nobody asks tells nothing"]
pub struct Signal {
    listener: Listener,
}

/// Listens to signals of this kind from now on.
///
/// A signal that was sent before, and that the runtime has not yet taken notice of, may be told
/// too.
///
/// # Errors
/// - If there is no such signal, or it must not have a handler: `SIGKILL`, `SIGSTOP`, `SIGILL`,
///   `SIGFPE` and `SIGSEGV`.
/// - If the system refuses the handler, or there are no file descriptors left.
/// - If the runtime has been shut down.
///
/// # Panics
/// If it is called outside of a runtime, or in one without I/O (see
/// [`Builder::enable_io`](crate::runtime::Builder::enable_io)).
///
/// ```
/// use heist::signal::unix::{SignalKind, signal};
///
/// # fn send_sighup() {
/// #     use rustix::process::{Signal, getpid, kill_process};
/// #     kill_process(getpid(), Signal::HUP).unwrap();
/// # }
/// # let rt = heist::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # rt.block_on(async {
/// let mut hangups = signal(SignalKind::hangup())?;
/// # send_sighup();
/// # let mut reloads = 0;
/// while hangups.recv().await.is_some() {
///     println!("reading the configuration again");
/// #   reloads += 1;
/// #   if reloads == 2 { break }
/// #   send_sighup();
/// }
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
#[track_caller]
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    listen(kind, &Handle::current_for("signal").reactors_for_io("signal"))
}

/// As [`signal`], in the runtime of `reactors`.
pub(crate) fn listen(kind: SignalKind, reactors: &Arc<Reactors>) -> io::Result<Signal> {
    Ok(Signal { listener: Listener::new(kind, reactors)? })
}

impl Signal {
    /// Waits for the next signal. Never returns `None`.
    ///
    /// May be dropped at any time, as in `select!`: no signal is lost by that.
    pub async fn recv(&mut self) -> Option<()> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// As [`recv`](Self::recv), for futures written by hand. Only the last waker is woken.
    ///
    /// ```
    /// use heist::signal::unix::Signal;
    /// use std::pin::Pin;
    /// use std::task::{Context, Poll};
    ///
    /// /// Ends when either of two kinds arrives.
    /// struct Either(Signal, Signal);
    ///
    /// impl Future for Either {
    ///     type Output = ();
    ///
    ///     fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
    ///         let first = self.0.poll_recv(cx).is_ready();
    ///         let second = self.1.poll_recv(cx).is_ready();
    ///         if first || second { Poll::Ready(()) } else { Poll::Pending }
    ///     }
    /// }
    /// ```
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let budget = ready!(coop::poll_proceed(cx));
        let here = || Handle::try_current().ok()?.reactors_if_io();
        ready!(self.listener.poll(cx, here));
        budget.made_progress();
        Poll::Ready(Some(()))
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").field("kind", &self.listener.kind()).finish()
    }
}
