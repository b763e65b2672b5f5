//! `Timer`.

use crate::time::{self, sleep_until};
use ::hyper::rt;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Provides the timers of [`heist::time`](crate::time) to hyper.
///
/// # Examples
///
/// ```
/// use hyper::rt::Timer as _;
/// use std::time::{Duration, Instant};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let start = Instant::now();
/// heist::hyper::Timer.sleep(Duration::from_millis(2)).await;
/// assert!(start.elapsed() >= Duration::from_millis(2));
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Timer;

impl rt::Timer for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(Sleep { inner: time::sleep(duration) })
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(Sleep { inner: sleep_until(deadline.into()) })
    }

    fn now(&self) -> Instant {
        time::Instant::now().into_std()
    }

    /// Reuses the allocation if it is a sleep of heist's.
    fn reset(&self, sleep: &mut Pin<Box<dyn rt::Sleep>>, deadline: Instant) {
        match sleep.as_mut().downcast_mut_pin::<Sleep>() {
            Some(sleep) => sleep.project().inner.reset(deadline.into()),
            None => *sleep = self.sleep_until(deadline),
        }
    }
}

pin_project! {
    struct Sleep {
        #[pin]
        inner: time::Sleep,
    }
}

impl rt::Sleep for Sleep {}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().inner.poll(cx)
    }
}
