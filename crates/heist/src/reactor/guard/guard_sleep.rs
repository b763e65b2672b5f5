//! How long the guard sleeps, and which threads must end that.

use crate::canary;
use crate::reactor::timers::Time;
use heist_sync::{AdaptiveBarrier, AtomicU64, Ordering};

/// | value | the guard |
/// |---|---|
/// | 0 | is awake, or is being woken; it checks the timers before it sleeps |
/// | another | checks the timers, or sleeps until that time at most |
pub(super) struct GuardSleep(AtomicU64);

/// Part of the protocol above.
const AWAKE: u64 = 0;

impl GuardSleep {
    pub(super) fn new() -> Self {
        GuardSleep(AtomicU64::new(AWAKE))
    }

    /// Announces a sleep of the guard, which checks the timers after this. Returns `false` if there
    /// was no barrier, so that neither side may have seen the other.
    #[must_use = "without the barrier the sleep has to be a short one"]
    pub(super) fn begin(&self, barrier: &AdaptiveBarrier) -> bool {
        self.0.store(Time::NEVER.as_nanos(), Ordering::Relaxed);
        // Pairs with the light one of a thread that adds a timer, and with the heavy one of a
        // worker that leaves a seat with timers: a timer that is not seen here belongs to a thread
        // that sees this.
        canary::GUARD_NO_HEAVY_BARRIER.sings() || barrier.heavy()
    }

    /// Sets the time until which the guard sleeps.
    pub(super) fn lasts_until(&self, time: Time) {
        self.0.store(time.as_nanos(), Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.0.store(AWAKE, Ordering::Relaxed);
    }

    /// Whether the guard must be woken for this timer at a vacant seat.
    pub(super) fn is_too_long_for(&self, timer: Time) -> bool {
        // Relaxed: ordered by the barriers. One thread that wakes the guard is enough.
        timer.as_nanos() < self.0.load(Ordering::Relaxed)
            && self.0.swap(AWAKE, Ordering::Relaxed) != AWAKE
    }
}
