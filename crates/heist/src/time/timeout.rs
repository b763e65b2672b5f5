//! So much time and no more.

use super::error::Elapsed;
use super::{Duration, Instant, Sleep};
use crate::task::coop;
use pin_project_lite::pin_project;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Gives a future so much time. If it is not ready by then it is dropped with the [`Timeout`].
///
/// The future is polled first: if it is ready, it does not matter how late. One that never waits is not
/// cut short. A time that is too long to be added to now is no limit.
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
/// # Panics
/// If the calling thread is in no runtime, or in one without
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

/// As [`timeout`], until `deadline`.
///
/// # Panics
/// As [`timeout`].
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    let delay = Some(Sleep::new(deadline, "time::timeout_at"));
    Timeout { value: future.into_future(), delay }
}

pin_project! {
    /// The future of [`timeout`] and [`timeout_at`].
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
    /// The future within.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The future within.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The future within, without a limit.
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

/// The same for futures of all kinds.
fn poll_delay(delay: Pin<&mut Sleep>, had_budget: bool, cx: &mut Context<'_>) -> Poll<Elapsed> {
    // A future that takes all the budget each time it is polled would never be cut short (W9).
    let is_spent = had_budget && !coop::has_budget_remaining();
    let poll = || delay.poll(cx);
    let polled = if is_spent { coop::with_no_budget(poll) } else { poll() };
    polled.map(|()| Elapsed::new())
}
