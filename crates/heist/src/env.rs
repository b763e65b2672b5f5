//! The world outside: threads, parking, time, randomness, warnings. All of it goes through here.

mod activity;
mod affinity;
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
pub(crate) use affinity::{Cores, this_core};
#[cfg(all(test, not(loom)))]
pub(crate) use clock::StoppedClock;
pub(crate) use clock::{Clock, cpu_time};
pub(crate) use parker::Parker;
pub(crate) use signals::without_signals;
pub(crate) use threads::{ThreadSpec, this_thread};
pub(crate) use wakeup::Wakeup;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Calls `f`, code of others whose panic is nobody's (T7).
pub(crate) fn quietly(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        // Dropping it may panic once more, and what that leaves may again: there it ends.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(payload);
        }
    }
}

/// Goes on with a panic for which something is forgotten. Its drop may panic, too, and in the middle of the first panic that would end the
/// process (J4).
#[cold]
pub(crate) fn resume_without<T>(forgotten: T, panic: Box<dyn Any + Send>) -> ! {
    quietly(|| drop(forgotten));
    resume_unwind(panic)
}

/// A hint that something will be written there soon: the memory may come while something else is done. Any address
/// will do.
#[inline(always)]
pub(crate) fn prefetch_to_write<T>(_place: *const T) {
    #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
    // SAFETY: (type) a hint, wherever it points: nothing is read, and nothing is written. Processors that do not know it do
    // nothing. (The compiler's own would not ask for the right to write on a baseline x86-64.)
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) _place.addr(), options(nomem, nostack, preserves_flags));
    }
}

/// A small generator (xorshift64*), for choosing victims.
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

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (((self.next() >> 32) * limit as u64) >> 32) as usize
    }
}
