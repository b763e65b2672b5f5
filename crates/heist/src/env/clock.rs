//! Time.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// A point in time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn now() -> Self {
        Clock(instant())
    }

    /// How long ago `earlier` was; nothing if it was later.
    pub(crate) fn since(self, earlier: Clock) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn plus(self, duration: Duration) -> Self {
        Clock(self.0 + duration)
    }
}

/// The CPU time that this thread has used, in nanoseconds.
pub(crate) fn cpu_time() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(used.tv_sec * 1_000_000_000 + used.tv_nsec).unwrap_or(0)
}

#[cfg(not(all(test, not(loom))))]
fn instant() -> Instant {
    Instant::now()
}

#[cfg(all(test, not(loom)))]
pub(crate) use stopped::StoppedClock;
#[cfg(all(test, not(loom)))]
use stopped::instant;

/// A clock that stands still, for tests.
#[cfg(all(test, not(loom)))]
mod stopped {
    use std::cell::Cell;
    use std::marker::PhantomData;
    use std::time::{Duration, Instant};

    std::thread_local! {
        static STOPPED: Cell<Option<Instant>> = const { Cell::new(None) };
    }

    pub(super) fn instant() -> Instant {
        STOPPED.get().unwrap_or_else(Instant::now)
    }

    /// As long as it lives, time passes on this thread when it says so.
    pub(crate) struct StoppedClock(PhantomData<*const ()>);

    impl StoppedClock {
        pub(crate) fn stop() -> Self {
            assert!(STOPPED.get().is_none(), "it stands still already");
            STOPPED.set(Some(Instant::now()));
            StoppedClock(PhantomData)
        }

        pub(crate) fn advance(&self, by: Duration) {
            STOPPED.set(STOPPED.get().map(|now| now + by));
        }
    }

    impl Drop for StoppedClock {
        fn drop(&mut self) {
            STOPPED.set(None);
        }
    }
}
