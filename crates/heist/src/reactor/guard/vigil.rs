//! How long the guard sleeps, and which threads must end that.

use crate::canary;
use crate::reactor::timers::Time;
use heist_sync::{AdaptiveBarrier, AtomicU64, Ordering};

/// | value | the guard |
/// |---|---|
/// | 0 | is awake, or is being woken; it checks the timers before it sleeps |
/// | `FOR_ANYTHING` | sleeps for long because there is nothing to wait for, or checks whether that is so |
/// | any other | checks the timers, or sleeps until that time at most |
pub(super) struct Vigil(AtomicU64);

const AWAKE: u64 = 0;
const FOR_ANYTHING: u64 = Time::NEVER.as_nanos() - 1;

impl Vigil {
    pub(super) fn new() -> Self {
        Vigil(AtomicU64::new(AWAKE))
    }

    /// Announces a sleep of the guard, which checks the timers after this. A long sleep is ended by
    /// anything that is added anywhere. Returns `false` if there was no barrier, so that neither
    /// side may have seen the other.
    #[must_use = "without the barrier the sleep has to be a short one"]
    pub(super) fn begin(&self, barrier: &AdaptiveBarrier, is_for_long: bool) -> bool {
        let note = if is_for_long { FOR_ANYTHING } else { Time::NEVER.as_nanos() };
        self.0.store(note, Ordering::Relaxed);
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

    #[cfg(all(test, not(loom)))]
    pub(super) fn is_long(&self) -> bool {
        self.0.load(Ordering::Relaxed) == FOR_ANYTHING
    }

    /// Whether the guard must be woken because something was added, anywhere. Called after a
    /// barrier.
    #[inline]
    pub(super) fn is_for_anything(&self) -> bool {
        // Relaxed: as below.
        self.0.load(Ordering::Relaxed) == FOR_ANYTHING
            && self.0.swap(AWAKE, Ordering::Relaxed) != AWAKE
    }

    /// Whether the guard must be woken for this timer at a vacant seat.
    pub(super) fn is_too_long_for(&self, timer: Time) -> bool {
        // Relaxed: ordered by the barriers. One thread that wakes the guard is enough.
        timer.as_nanos() < self.0.load(Ordering::Relaxed)
            && self.0.swap(AWAKE, Ordering::Relaxed) != AWAKE
    }
}
