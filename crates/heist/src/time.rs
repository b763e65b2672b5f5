//! Time: waiting for a moment, for a while, at most so long, again and again.
//!
//! | function | what |
//! |---|---|
//! | [`sleep`], [`sleep_until`] | waits |
//! | [`timeout`], [`timeout_at`] | gives a future so much time and no more |
//! | [`interval`], [`interval_at`] | ticks |
//!
//! All of them need a runtime with [`enable_time`](crate::runtime::Builder::enable_time). They work in
//! milliseconds: a wait may take up to one more than was asked for, never less.
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
//! With the feature `test-util` a test can stop the clock (`pause`) and move it on by itself (`advance`);
//! and when all tasks wait for time, it jumps to when the first of them is due. So tests of what takes
//! hours take no time, and always do the same.

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

/// What stands for "for ever" where there has to be a number: 30 years. With more, the instants of some
/// systems would overflow.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// After so long, or about for ever.
fn after(duration: Duration) -> Instant {
    Instant::now() + duration.min(FAR)
}
