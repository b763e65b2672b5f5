//! A number for each thread, that says which part of a divided structure is its own.

use std::sync::atomic::{AtomicUsize, Ordering};

/// That of the calling thread. Threads that come one after the other have numbers one after the
/// other.
pub(super) fn producer() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        // Relaxed: any distribution will do.
        static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    // A thread that is ending takes the first.
    NUMBER.try_with(|number| *number).unwrap_or(0)
}
