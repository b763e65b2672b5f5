//! `sleep`: waiting for a duration, or until an instant.

use super::{Duration, Instant, after};
use crate::reactor::Reactors;
use crate::reactor::timers::{Polled, Registered, Time, Timer};
use crate::runtime::Handle;
use crate::scheduler;
use crate::task::{self, coop};
use crate::trace::Resource;
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

/// Waits for `duration`, and up to one millisecond longer.
///
/// Durations above 30 years are treated as 30 years.
///
/// # Examples
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
/// # Cancel safety
///
/// Dropping the returned future cancels the sleep, and has no other effect.
///
/// # Panics
///
/// Panics if the calling thread is in no runtime, or if its runtime has no timers; see
/// [`enable_time`](crate::runtime::Builder::enable_time).
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep::new(after(duration), "time::sleep")
}

/// Waits until `deadline`, and up to one millisecond longer.
///
/// If the deadline has passed, this waits at most one millisecond.
///
/// # Examples
///
/// ```
/// use heist::time::{Duration, Instant, sleep_until};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let deadline = Instant::now() + Duration::from_millis(5);
/// sleep_until(deadline).await;
/// assert!(Instant::now() >= deadline);
/// # }
/// ```
///
/// # Cancel safety
///
/// Dropping the returned future cancels the sleep, and has no other effect.
///
/// # Panics
///
/// Panics if the calling thread is in no runtime, or if its runtime has no timers.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::new(deadline, "time::sleep_until")
}

pin_project! {
    /// The future returned by [`sleep`] and [`sleep_until`].
    ///
    /// It may be awaited anywhere, even in another runtime or outside of runtimes, as long as the
    /// runtime in which it was first polled exists.
    ///
    /// # Examples
    ///
    /// A sleep can be moved to another deadline:
    ///
    /// ```
    /// use heist::time::{Duration, Instant, sleep};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut alarm = std::pin::pin!(sleep(Duration::from_secs(3600)));
    /// alarm.as_mut().reset(Instant::now() + Duration::from_millis(1));
    /// alarm.as_mut().await;
    /// assert!(alarm.is_elapsed());
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Polling panics if the runtime has been shut down.
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct Sleep {
        deadline: Instant,
        // Not registered until the first poll, because most timeouts end before it.
        #[pin]
        timer: Timer,
        // None if it was made on a worker; then the runtime that polls it is used.
        handle: Option<Handle>,
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
        Sleep { deadline, timer: Timer::new(), handle }
    }

    /// Returns the instant at which the sleep ends.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns whether the sleep has ended, and was not reset since. It is `false` before the first
    /// poll.
    pub fn is_elapsed(&self) -> bool {
        self.timer.has_fired()
    }

    /// Moves the end of the sleep to `deadline`, even if the sleep has ended. A task that waits
    /// continues to wait.
    ///
    /// Moving to a later instant leaves the timer where it is. Moving to an earlier one costs as
    /// much as a new sleep.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::time::{Duration, Instant, sleep};
    /// use std::pin::pin;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut sleep = pin!(sleep(Duration::from_secs(60)));
    /// sleep.as_mut().reset(Instant::now() + Duration::from_millis(1));
    /// sleep.await;
    /// # }
    /// ```
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let mut me = self.project();
        *me.deadline = deadline;
        let time = Time::of(deadline.into_std());
        let Some(waker) = me.timer.as_mut().reset(time) else { return };
        if !can_register(me.handle.as_ref()) {
            // The waiter can, or its poll says what is wrong.
            return waker.wake();
        }
        match register(me.timer.as_mut(), waker, time, me.handle.as_ref()) {
            Registered::Waiting { .. } => {}
            Registered::Elapsed(waker) => {
                me.timer.fire();
                waker.wake();
            }
            // The next poll reports it.
            Registered::Closed(waker) => waker.wake(),
        }
    }

    /// Moves the end, and stops waiting until the next poll.
    pub(super) fn reset_unpolled(self: Pin<&mut Self>, deadline: Instant) {
        let me = self.project();
        *me.deadline = deadline;
        me.timer.cancel();
    }

    /// Polls, and takes a unit of budget for `resource` if the sleep has ended (W9).
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

    /// Polls without taking budget.
    fn poll_elapsed(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut me = self.project();
        let was_told = match me.timer.as_mut().poll(cx.waker()) {
            Polled::Fired => return Poll::Ready(()),
            Polled::Waiting => return Poll::Pending,
            Polled::Resting | Polled::Closed => false,
            Polled::Told => true,
        };
        let (deadline, handle) = (Time::of(me.deadline.into_std()), me.handle.as_ref());
        let registered = register(me.timer.as_mut(), cx.waker().clone(), deadline, handle);
        begun(me.timer, registered, was_told)
    }
}

/// The result of a poll that has registered its timer.
fn begun(timer: Pin<&mut Timer>, registered: Registered, was_told: bool) -> Poll<()> {
    match registered {
        Registered::Waiting { .. } => Poll::Pending,
        Registered::Elapsed(_) => {
            timer.fire();
            Poll::Ready(())
        }
        // Closed are the reactors of this worker, or at_reactor() would have used others.
        Registered::Closed(waker) if is_dropped_soon() && task::is_prompt(&waker) => {
            timer.cancel();
            Poll::Pending
        }
        // Of other code. That may be the task's, which is dropped, or wait in the middle of the
        // poll: then it polls once more, and gets an answer (T9).
        Registered::Closed(waker) if is_dropped_soon() && !was_told => {
            timer.tell();
            scheduler::call_when_closed(waker);
            Poll::Pending
        }
        Registered::Closed(_) => panic!(
            "time::Sleep: the runtime that it waits in has been shut down; keep the Runtime until \
             its tasks have ended"
        ),
    }
}

/// Whether the caller is a task of a runtime that is shutting down, which will drop the task. Code
/// in a destructor of a task is not, because it waits for an answer.
fn is_dropped_soon() -> bool {
    let is_on_worker = Reactors::with_here(|here, _| here.has_time()) == Some(true);
    is_on_worker && !task::is_cancelling()
}

/// Registers a timer with the reactor of the calling worker; elsewhere with a reactor of the
/// runtime in which the `Sleep` was made, or of the current one.
fn register(
    timer: Pin<&mut Timer>,
    waker: Waker,
    deadline: Time,
    handle: Option<&Handle>,
) -> Registered {
    at_reactor(handle, |reactors, seat| reactors.register(seat, timer, waker, deadline))
}

/// Whether [`register`] finds a reactor on the calling thread.
fn can_register(handle: Option<&Handle>) -> bool {
    let is_on_worker = || Reactors::with_here(|here, _| here.has_time()) == Some(true);
    let has_time = |current: Handle| current.reactors().is_some_and(Reactors::has_time);
    handle.is_some() || is_on_worker() || Handle::try_current().is_ok_and(has_time)
}

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

/// The current runtime, which must have timers.
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
