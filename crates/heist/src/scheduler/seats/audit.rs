//! Debug builds check, poll by poll, that no two workers run tasks on one seat (L7).

#[cfg(all(debug_assertions, not(loom)))]
mod on {
    use std::sync::atomic::{AtomicU32, Ordering};

    const NOBODY: u32 = u32::MAX;

    /// Who is in a poll on a seat.
    pub(in super::super) struct Audit(AtomicU32);

    impl Audit {
        pub(in super::super) fn new() -> Self {
            Audit(AtomicU32::new(NOBODY))
        }

        pub(in super::super) fn enter(&self, worker: u32) {
            // Relaxed: the seat's word passes on who has left it.
            let before =
                self.0.compare_exchange(NOBODY, worker, Ordering::Relaxed, Ordering::Relaxed);
            assert!(
                before.is_ok(),
                "worker {worker} runs a task on a seat where {before:?} does (L7)"
            );
        }

        /// Nothing happens if it has left before: a worker that lost its seat in a poll, or nearly
        /// did, ends the poll all the same.
        pub(in super::super) fn leave(&self, worker: u32) {
            let _ = self.0.compare_exchange(worker, NOBODY, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

#[cfg(not(all(debug_assertions, not(loom))))]
mod on {
    pub(in super::super) struct Audit;

    impl Audit {
        pub(in super::super) fn new() -> Self {
            Audit
        }

        #[inline(always)]
        pub(in super::super) fn enter(&self, _worker: u32) {}

        #[inline(always)]
        pub(in super::super) fn leave(&self, _worker: u32) {}
    }
}

pub(super) use on::Audit;
