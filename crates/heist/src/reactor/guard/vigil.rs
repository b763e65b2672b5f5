//! How long the guard sleeps, and who has to end that.

use crate::canary;
use crate::reactor::timers::Time;
use heist_sync::{AtomicU64, Barrier, Ordering};

/// | value | the guard |
/// |---|---|
/// | 0 | is awake, or is being roused; before it sleeps it looks for timers |
/// | any other | looks for timers, or sleeps until then if nothing else happens |
pub(super) struct Vigil(AtomicU64);

const AWAKE: u64 = 0;

impl Vigil {
    pub(super) fn new() -> Self {
        Vigil(AtomicU64::new(AWAKE))
    }

    /// The guard is going to sleep. Which timers to get up for it finds out after this.
    pub(super) fn begin(&self, barrier: Barrier) {
        self.lasts_until(Time::NEVER);
        // Pairs with the light one of who adds a timer, and with the heavy one of who leaves a seat that has some:
        // what we do not see sees us. If it cannot be had, sysmon never sleeps for long.
        let _ = canary::GUARD_NO_HEAVY_BARRIER.sings() || barrier.heavy();
    }

    /// That much it has found out.
    pub(super) fn lasts_until(&self, time: Time) {
        self.0.store(time.as_nanos(), Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.0.store(AWAKE, Ordering::Relaxed);
    }

    /// There is a timer at a vacant seat. `true`: the guard must be roused for it.
    pub(super) fn is_too_long_for(&self, timer: Time) -> bool {
        // Relaxed: ordered by the barriers. If somebody else is rousing it, that is enough.
        timer.as_nanos() < self.0.load(Ordering::Relaxed)
            && self.0.swap(AWAKE, Ordering::Relaxed) != AWAKE
    }
}
