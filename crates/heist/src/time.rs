//! Sleeps, timeouts and intervals.
//!
//! | function | what it does |
//! |---|---|
//! | [`sleep`], [`sleep_until`] | waits for a duration, or until an instant |
//! | [`timeout`], [`timeout_at`] | limits how long a future may take |
//! | [`interval`], [`interval_at`] | ticks repeatedly with a fixed period |
//!
//! They need a runtime with [`enable_time`](crate::runtime::Builder::enable_time). Timers have a
//! resolution of one millisecond: they never fire early, and up to one millisecond late.
//!
//! # Examples
//!
//! ```
//! use heist::time::{self, Duration};
//!
//! # #[heist::main(flavor = "current_thread")]
//! # async fn main() {
//! let answer = time::timeout(Duration::from_millis(10), std::future::pending::<()>()).await;
//! assert!(answer.is_err());
//! # }
//! ```
//!
//! # Tests
//!
//! With the feature `test-util`, a test can stop the clock of its runtime with `pause` and move it
//! with `advance`. While all tasks wait for timers, the stopped clock jumps to the next one. Tests
//! of hours then take no time, and always run in the same way.

pub mod error;
mod instant;
mod interval;
#[cfg(feature = "test-util")]
mod pause;
mod sleep;
mod timeout;

pub use instant::Instant;
pub use interval::{Interval, MissedTickBehavior, interval, interval_at};
#[cfg(feature = "test-util")]
pub use pause::{advance, pause, resume};
pub use sleep::{Sleep, sleep, sleep_until};
#[doc(no_inline)]
pub use std::time::Duration;
pub use timeout::{Timeout, timeout, timeout_at};

/// "Forever" as a number: 30 years. Longer durations would overflow the instants of some systems.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// The instant `duration` from now, at most 30 years away.
fn after(duration: Duration) -> Instant {
    Instant::now() + duration.min(FAR)
}
