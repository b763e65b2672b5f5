//! Waiting for a moment.

use super::{Duration, Instant, after};
use crate::reactor::Reactors;
use crate::reactor::timers::{EntryOf, Polled, Registered, Time, Timer};
use crate::runtime::Handle;
use crate::task::{self, coop};
use crate::trace::Resource;
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Waits for so long, and up to a millisecond more.
///
/// What is longer than some 30 years is for ever. Dropping the future ends the wait.
///
/// ```
/// use heist::time::{Duration, Instant, sleep};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let before = Instant::now();
/// sleep(Duration::from_millis(5)).await;
/// assert!(before.elapsed() >= Duration::from_millis(5));
/// # }
/// ```
///
/// # Panics
/// If the calling thread is in no runtime, or in one without
/// [`enable_time`](crate::runtime::Builder::enable_time).
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep::new(after(duration), "time::sleep")
}

/// Waits until `deadline`, and up to a millisecond longer. If it has passed, only for the latter at most.
///
/// # Panics
/// As [`sleep`].
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::new(deadline, "time::sleep_until")
}

pin_project! {
    /// The future of [`sleep`] and [`sleep_until`].
    ///
    /// It may be awaited anywhere, also in another runtime or in none, as long as the runtime that it was first
    /// polled in lives.
    ///
    /// ```
    /// use heist::time::{Duration, Instant, sleep};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut alarm = std::pin::pin!(sleep(Duration::from_secs(3600)));
    /// // Not so long after all.
    /// alarm.as_mut().reset(Instant::now() + Duration::from_millis(1));
    /// alarm.await;
    /// # }
    /// ```
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct Sleep {
        deadline: Instant,
        // None until the first poll, which is where most timeouts end.
        timer: Option<Arc<Timer>>,
        // None if it was made on a worker: then it is that of who polls it.
        handle: Option<Handle>,
    }

    impl PinnedDrop for Sleep {
        fn drop(this: Pin<&mut Self>) {
            if let Some(timer) = this.project().timer {
                timer.cancel();
            }
        }
    }
}

impl Sleep {
    #[inline]
    #[track_caller]
    pub(super) fn new(deadline: Instant, api: &str) -> Sleep {
        let handle = match Reactors::with_here(|reactors, _| reactors.has_time()) {
            Some(true) => None,
            _ => Some(current(api)),
        };
        Sleep { deadline, timer: None, handle }
    }

    /// When it ends.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether it has ended, and was not reset since. Before the first poll it has not.
    pub fn is_elapsed(&self) -> bool {
        self.timer.as_ref().is_some_and(|timer| timer.has_fired())
    }

    /// Moves the end to `deadline`, also if it has come already. Who waits goes on waiting.
    ///
    /// To a later time that is a store; to an earlier one it is as much as beginning anew.
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let me = self.project();
        *me.deadline = deadline;
        let Some(timer) = me.timer else { return };
        let time = Time::of(deadline.into_std());
        if !timer.reset(time) {
            return;
        }
        match register(timer, time, me.handle.as_ref()) {
            Registered::Waiting { .. } => {}
            Registered::Elapsed => timer.fire().into_iter().for_each(|waker| waker.wake()),
            // The next poll says so.
            Registered::Closed => timer.rest().into_iter().for_each(|waker| waker.wake()),
        }
    }

    /// Moves the end; nobody waits before the next poll.
    pub(super) fn reset_unpolled(self: Pin<&mut Self>, deadline: Instant) {
        let me = self.project();
        *me.deadline = deadline;
        if let Some(timer) = me.timer {
            timer.cancel();
        }
    }

    /// Takes a unit of budget if it ends (W9); `resource` is what the unit is for.
    pub(super) fn poll_with(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        resource: impl FnOnce() -> Resource,
    ) -> Poll<()> {
        let progress = ready!(coop::poll_proceed_with(cx, resource));
        ready!(self.poll_elapsed(cx));
        progress.made_progress();
        Poll::Ready(())
    }

    /// Without taking budget.
    fn poll_elapsed(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let me = self.project();
        let (deadline, handle) = (Time::of(me.deadline.into_std()), me.handle.as_ref());
        let Some(timer) = me.timer else {
            let waker = cx.waker().clone();
            let (timer, registered) =
                at_reactor(handle, |reactors, seat| reactors.register_new(seat, waker, deadline));
            // Should that panic, the next poll finds nothing that seems to wait.
            let polled = begun(&timer, registered);
            *me.timer = Some(timer);
            return polled;
        };
        match timer.poll(cx.waker()) {
            Polled::Fired => Poll::Ready(()),
            Polled::Waiting => Poll::Pending,
            Polled::Resting | Polled::Closed => begun(timer, register(timer, deadline, handle)),
        }
    }
}

/// What a task is told that has polled a timer, which has been registered for it.
fn begun(timer: &Timer, registered: Registered) -> Poll<()> {
    match registered {
        Registered::Waiting { .. } => Poll::Pending,
        Registered::Elapsed => {
            drop(timer.fire());
            Poll::Ready(())
        }
        // With the reactors that are here, or they would not have been asked: see at_reactor().
        Registered::Closed if is_dropped_soon() => {
            timer.cancel();
            Poll::Pending
        }
        Registered::Closed => panic!(
            "time::Sleep: the runtime that it waits in has been shut down; keep the Runtime until \
             nobody waits any more"
        ),
    }
}

/// Whether a task polls this, of a runtime that goes down, and will be dropped. (Unless that is being
/// done: then what polls this is code in a drop, which waits for an answer.)
fn is_dropped_soon() -> bool {
    let is_on_worker = Reactors::with_here(|here, _| here.has_time()) == Some(true);
    is_on_worker && !task::is_cancelling()
}

/// Registers a timer that is known already.
fn register(timer: &Arc<Timer>, deadline: Time, handle: Option<&Handle>) -> Registered {
    at_reactor(handle, |reactors, seat| reactors.register(seat, timer, deadline, EntryOf::Known))
}

/// With the reactor of the worker that this is called on, or else with one of the runtime that the `Sleep` was
/// made in, or that is current.
fn at_reactor<R>(handle: Option<&Handle>, register: impl FnOnce(&Reactors, usize) -> R) -> R {
    let mut register = Some(register);
    let mut once = |reactors: &Reactors, seat| {
        register.take().map(|register| register(reactors, seat)).expect("is called once")
    };
    let here =
        Reactors::with_here(|reactors, seat| reactors.has_time().then(|| once(reactors, seat)));
    here.flatten().unwrap_or_else(|| elsewhere(handle, once))
}

#[cold]
fn elsewhere<R>(handle: Option<&Handle>, register: impl FnOnce(&Reactors, usize) -> R) -> R {
    let api = "time::Sleep";
    let current = if handle.is_none() { Some(current(api)) } else { None };
    let handle = handle.or(current.as_ref()).expect("one of them is there");
    let reactors = handle.reactors_for_time(api);
    register(reactors, reactors.here_or_any())
}

/// The runtime of the calling thread, if it has timers.
#[cold]
#[track_caller]
fn current(api: &str) -> Handle {
    let handle = Handle::current_for(api);
    handle.reactors_for_time(api);
    handle
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_with(cx, || Resource::Timer)
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("deadline", &self.deadline)
            .field("is_elapsed", &self.is_elapsed())
            .finish_non_exhaustive()
    }
}
