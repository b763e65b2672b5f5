//! Task ids.

use heist_sync::thread_local;
use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// The identity of a task: unlike that of every other task of the process, also of those that
/// have ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(NonZeroU64);

/// Each thread takes ids in blocks, so that spawning threads do not meet at one counter.
pub(super) const BLOCK: u64 = 1024;

impl Id {
    /// An id that was never given out before.
    pub(crate) fn next() -> Id {
        static BLOCKS: AtomicU64 = AtomicU64::new(0);
        std::thread_local! {
            static NEXT: Cell<u64> = const { Cell::new(0) };
        }
        let mut id = NEXT.get();
        if id % BLOCK == 0 {
            // Relaxed: uniqueness is all that is asked of it.
            id = BLOCKS.fetch_add(1, Ordering::Relaxed) * BLOCK;
        }
        NEXT.set(id + 1);
        Id(NonZeroU64::MIN.saturating_add(id))
    }

    /// For places that hold a number: an atomic that another thread reads.
    #[inline(always)]
    pub(crate) fn number(self) -> NonZeroU64 {
        self.0
    }

    /// The id with this [`number`](Self::number); none has the number 0.
    pub(crate) fn from_number(number: u64) -> Option<Id> {
        NonZeroU64::new(number).map(Id)
    }
}

thread_local! {
    /// The task that runs on this thread.
    static RUNNING: Cell<Option<Id>> = Cell::new(None);
}

/// The id of the running task: while its future is polled, and while future or output are dropped.
///
/// ```
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// let task = rt.spawn(async { heist::task::id() });
/// let id = task.id();
/// assert_eq!(rt.block_on(task).unwrap(), id);
/// ```
///
/// # Panics
/// If it is called outside of a task, the future of `block_on` included; see [`try_id`].
#[track_caller]
pub fn id() -> Id {
    try_id().expect("task::id: no task runs on this thread; use try_id to ask whether one does")
}

/// The id of the running task, if there is one.
pub fn try_id() -> Option<Id> {
    RUNNING.with(Cell::get)
}

/// Makes a task the one that runs on this thread, for as long as this lives.
pub(super) struct Running {
    outer: Option<Id>,
}

impl Running {
    #[inline]
    pub(super) fn begin(task: Id) -> Running {
        Running { outer: RUNNING.with(|running| running.replace(Some(task))) }
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        RUNNING.with(|running| running.set(self.outer));
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Id").field(&self.0).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn an_id_comes_back_from_its_number() {
        let id = Id::next();
        assert_eq!(Id::from_number(id.number().get()), Some(id));
        assert_eq!(Id::from_number(0), None);
    }

    #[test]
    fn ids_are_unique_across_threads_and_blocks() {
        let threads: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(|| (0..3000).map(|_| Id::next()).collect::<Vec<_>>()))
            .collect();
        let ids: HashSet<Id> = threads.into_iter().flat_map(|t| t.join().unwrap()).collect();
        assert_eq!(ids.len(), 12_000);
    }
}
