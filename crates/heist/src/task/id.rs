//! Task ids.

use crate::tuning::COUNTER_BLOCK;
use heist_sync::thread_local;
use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// The id of a task. No other task of the process has or had the same id.
///
/// Ids are ordered, but not in the order in which tasks were spawned.
///
/// # Examples
///
/// ```
/// # #[heist::main]
/// # async fn main() {
/// let (one, other) = (heist::spawn(async {}), heist::spawn(async {}));
/// assert_ne!(one.id(), other.id());
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(NonZeroU64);

impl Id {
    /// An id that was never given out before.
    pub(crate) fn next() -> Id {
        static BLOCKS: AtomicU64 = AtomicU64::new(0);
        std::thread_local! {
            static NEXT: Cell<u64> = const { Cell::new(0) };
        }
        let mut id = NEXT.get();
        if id % COUNTER_BLOCK == 0 {
            // Relaxed: the ids only have to be unique.
            id = BLOCKS.fetch_add(1, Ordering::Relaxed) * COUNTER_BLOCK;
        }
        NEXT.set(id + 1);
        Id(NonZeroU64::MIN.saturating_add(id))
    }

    /// The id as a number, for places such as atomics.
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

/// Returns the id of the task that runs on the calling thread.
///
/// It is available while the task's future is polled, and while its future or output is dropped.
///
/// # Examples
///
/// ```
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// let task = rt.spawn(async { heist::task::id() });
/// let id = task.id();
/// assert_eq!(rt.block_on(task).unwrap(), id);
/// ```
///
/// # Panics
///
/// Panics outside of a task, including in the future of `block_on`; see [`try_id`].
#[track_caller]
pub fn id() -> Id {
    try_id().expect("task::id: no task runs on this thread; use try_id to ask whether one does")
}

/// Returns the id of the task that runs on the calling thread, or `None` outside of a task.
///
/// # Examples
///
/// ```
/// assert_eq!(heist::task::try_id(), None);
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// let inside = rt.block_on(rt.spawn(async { heist::task::try_id() })).unwrap();
/// assert!(inside.is_some());
/// ```
pub fn try_id() -> Option<Id> {
    RUNNING.with(Cell::get)
}

/// A guard: `task` is the task that runs on this thread.
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
