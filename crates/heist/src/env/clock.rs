//! Time.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// A point in time, in nanoseconds of the clock that `Instant` reads: one word, so that a
/// difference is one subtraction. Workers read it whenever they park or wake up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(u64);

impl Clock {
    #[inline]
    pub(crate) fn now() -> Self {
        Clock(monotonic())
    }

    /// The time since `earlier`, or zero if that is later.
    #[inline]
    pub(crate) fn since(self, earlier: Clock) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn plus(self, duration: Duration) -> Self {
        Clock(self.0 + duration.as_nanos() as u64)
    }
}

/// The CPU time that this thread has used, in nanoseconds.
pub(crate) fn cpu_time() -> u64 {
    nanos(ClockId::ThreadCPUTime)
}

#[inline]
fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // Neither is below zero.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(not(all(test, not(loom))))]
#[inline]
fn monotonic() -> u64 {
    nanos(ClockId::Monotonic)
}

#[cfg(all(test, not(loom)))]
pub(crate) use stopped::StoppedClock;
#[cfg(all(test, not(loom)))]
use stopped::monotonic;

/// A stopped clock, for tests.
#[cfg(all(test, not(loom)))]
mod stopped {
    use std::cell::Cell;
    use std::marker::PhantomData;
    use std::time::Duration;

    std::thread_local! {
        static STOPPED: Cell<Option<u64>> = const { Cell::new(None) };
    }

    pub(super) fn monotonic() -> u64 {
        STOPPED.get().unwrap_or_else(now)
    }

    fn now() -> u64 {
        super::nanos(super::ClockId::Monotonic)
    }

    /// While it exists, time on this thread passes only when it is advanced.
    pub(crate) struct StoppedClock(PhantomData<*const ()>);

    impl StoppedClock {
        pub(crate) fn stop() -> Self {
            assert!(STOPPED.get().is_none(), "it stands still already");
            STOPPED.set(Some(now()));
            StoppedClock(PhantomData)
        }

        pub(crate) fn advance(&self, by: Duration) {
            STOPPED.set(STOPPED.get().map(|now| now + by.as_nanos() as u64));
        }
    }

    impl Drop for StoppedClock {
        fn drop(&mut self) {
            STOPPED.set(None);
        }
    }
}
