//! The module `time`. What needs a clock that stands still is tested with the feature `test-util`.

#![allow(clippy::async_yields_async, reason = "timers are made in one place, awaited in another")]
#![allow(clippy::unit_arg, reason = "what is polled is looked at")]

#[cfg(feature = "test-util")]
mod paused;
mod sleep;
mod stall;
#[path = "../support/mod.rs"]
mod support;
mod timeout;
