//! How long the guard sleeps, and who has to end that.

use crate::canary;
use crate::reactor::timers::Time;
use heist_sync::{AdaptiveBarrier, AtomicU64, Ordering};

/// | value | the guard |
/// |---|---|
/// | 0 | is awake, or is being roused; before it sleeps it looks for timers |
/// | the greatest but one | sleeps for long, as there is nothing to wait for, or looks whether that is so |
/// | any other | looks for timers, or sleeps until then if nothing else happens |
pub(super) struct Vigil(AtomicU64);

const AWAKE: u64 = 0;
const FOR_ANYTHING: u64 = Time::NEVER.as_nanos() - 1;

impl Vigil {
    pub(super) fn new() -> Self {
        Vigil(AtomicU64::new(AWAKE))
    }

    /// The guard is going to sleep. Which timers to get up for it finds out after this. If the sleep is to be a long one it is roused
    /// for anything that is added anywhere.
    /// `false`: who adds something may not have seen that, nor we what it has added.
    #[must_use = "without the barrier the sleep has to be a short one"]
    pub(super) fn begin(&self, barrier: &AdaptiveBarrier, is_for_long: bool) -> bool {
        let note = if is_for_long { FOR_ANYTHING } else { Time::NEVER.as_nanos() };
        self.0.store(note, Ordering::Relaxed);
        // Pairs with the light one of who adds a timer, and with the heavy one of who leaves a seat that has some:
        // what we do not see sees us.
        canary::GUARD_NO_HEAVY_BARRIER.sings() || barrier.heavy()
    }

    /// That much it has found out.
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

    /// Something was added, behind a barrier. `true`: the guard must be roused for it, wherever it is.
    #[inline]
    pub(super) fn is_for_anything(&self) -> bool {
        // Relaxed: as below.
        self.0.load(Ordering::Relaxed) == FOR_ANYTHING
            && self.0.swap(AWAKE, Ordering::Relaxed) != AWAKE
    }

    /// There is a timer at a vacant seat. `true`: the guard must be roused for it.
    pub(super) fn is_too_long_for(&self, timer: Time) -> bool {
        // Relaxed: ordered by the barriers. If somebody else is rousing it, that is enough.
        timer.as_nanos() < self.0.load(Ordering::Relaxed)
            && self.0.swap(AWAKE, Ordering::Relaxed) != AWAKE
    }
}
