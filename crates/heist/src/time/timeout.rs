//! `timeout`: limiting how long a future may take.

use super::error::Elapsed;
use super::{Duration, Instant, Sleep};
use crate::task::coop;
use pin_project_lite::pin_project;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Limits the time that a future may take to `duration`.
///
/// The future is dropped when the returned [`Timeout`] is. It is polled before the time is checked,
/// so a future that is ready completes even after the time has elapsed, and a future that blocks or
/// never waits is not interrupted. There is no limit if the deadline would overflow an [`Instant`].
///
/// # Errors
///
/// The returned future completes with [`Elapsed`] if the time elapses first.
///
/// # Examples
///
/// ```
/// use heist::time::{Duration, timeout};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(timeout(Duration::from_secs(1), async { 7 }).await, Ok(7));
/// assert!(timeout(Duration::from_millis(1), std::future::pending::<()>()).await.is_err());
/// # }
/// ```
///
/// # Cancel safety
///
/// Dropping the returned future drops `future`. Pass `&mut future` to continue with it later.
///
/// # Panics
///
/// Panics if the calling thread is in no runtime, or if its runtime has no timers; see
/// [`enable_time`](crate::runtime::Builder::enable_time).
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    #[allow(clippy::manual_map, reason = "a closure would hide the caller from the panic")]
    let delay = match Instant::now().checked_add(duration) {
        Some(deadline) => Some(Sleep::new(deadline, "time::timeout")),
        None => None,
    };
    Timeout { value: future.into_future(), delay }
}

/// Limits the time that a future may take: until `deadline`. See [`timeout`].
///
/// # Errors
///
/// The returned future completes with [`Elapsed`] if the deadline passes first.
///
/// # Examples
///
/// ```
/// use heist::time::{Instant, timeout_at};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let deadline = Instant::now();
/// assert_eq!(timeout_at(deadline, async { "ready" }).await, Ok("ready"));
/// assert!(timeout_at(deadline, std::future::pending::<()>()).await.is_err());
/// # }
/// ```
///
/// # Panics
///
/// Panics like [`timeout`].
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    let delay = Some(Sleep::new(deadline, "time::timeout_at"));
    Timeout { value: future.into_future(), delay }
}

pin_project! {
    /// The future returned by [`timeout`] and [`timeout_at`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::time::{Duration, Timeout, timeout};
    /// use std::future::{Ready, ready};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let limited: Timeout<Ready<i32>> = timeout(Duration::from_secs(1), ready(7));
    /// assert_eq!(limited.await.unwrap(), 7);
    /// # }
    /// ```
    #[derive(Debug)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct Timeout<T> {
        #[pin]
        value: T,
        #[pin]
        delay: Option<Sleep>,
    }
}

impl<T> Timeout<T> {
    /// Returns a reference to the inner future.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// Returns a mutable reference to the inner future.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Returns the inner future, which is then no longer limited.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: Future> Future for Timeout<T> {
    type Output = Result<T::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let me = self.project();
        let had_budget = coop::has_budget_remaining();
        if let Poll::Ready(output) = me.value.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        match me.delay.as_pin_mut() {
            Some(delay) => poll_delay(delay, had_budget, cx).map(Err),
            None => Poll::Pending,
        }
    }
}

/// Polls the delay. Not generic over the future.
fn poll_delay(delay: Pin<&mut Sleep>, had_budget: bool, cx: &mut Context<'_>) -> Poll<Elapsed> {
    // Otherwise a future that uses up its budget in each poll would never time out (W9).
    let is_spent = had_budget && !coop::has_budget_remaining();
    let poll = || delay.poll(cx);
    let polled = if is_spent { coop::with_no_budget(poll) } else { poll() };
    polled.map(|()| Elapsed::new())
}
