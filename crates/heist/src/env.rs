//! The outside world: threads, parking, time, files, randomness, warnings. All access goes through
//! here.

mod activity;
mod address;
mod affinity;
mod backoff;
mod cached;
mod clock;
pub(crate) mod companion;
pub(crate) mod log;
mod parker;
pub(crate) mod pidfd;
mod signals;
mod threads;
pub(crate) mod turns;
mod wakeup;

pub use activity::SystemCall;
pub(crate) use activity::Usage;
pub(crate) use activity::{Activity, Probe};
pub use address::Address;
pub(crate) use affinity::{Cores, this_core};
pub(crate) use backoff::Backoff;
#[cfg(all(test, not(loom)))]
pub(crate) use cached::answers;
pub(crate) use cached::{Cached, is_cacheable, read_cached};
#[cfg(all(test, not(loom)))]
pub(crate) use clock::StoppedClock;
pub(crate) use clock::{Clock, cpu_time};
pub(crate) use parker::Parker;
pub(crate) use signals::without_signals;
pub(crate) use threads::{ThreadSpec, this_thread};
pub(crate) use wakeup::Wakeup;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Calls `f`, foreign code whose panic is swallowed (T7).
pub(crate) fn quietly(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        // Dropping the payload may panic once more, with a payload whose drop may panic too. That
        // one is leaked.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(payload);
        }
    }
}

/// Drops `forgotten` and resumes a panic. The drop may panic too, which in the middle of the first
/// panic would end the process (J4).
#[cold]
pub(crate) fn resume_without<T>(forgotten: T, panic: Box<dyn Any + Send>) -> ! {
    quietly(|| drop(forgotten));
    resume_unwind(panic)
}

/// Prefetches memory that will be written soon. Any address is allowed.
#[inline(always)]
pub(crate) fn prefetch_to_write<T>(_place: *const T) {
    #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
    // SAFETY: (type) a hint, which neither reads nor writes, whatever the address. Processors
    // without the instruction ignore it. (The compiler's intrinsic would not request write access
    // on a baseline x86-64.)
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) _place.addr(), options(nomem, nostack, preserves_flags));
    }
}

/// A small random number generator (xorshift64*), for choosing victims.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A random number below `limit`, which must not be 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (((self.next() >> 32) * limit as u64) >> 32) as usize
    }
}
