//! The module `time`. What needs a clock that stands still is tested with the feature `test-util`.

#[cfg(feature = "test-util")]
mod paused;
mod sleep;
#[path = "../support/mod.rs"]
mod support;
mod timeout;
