//! The LIFO slot of a worker. Its owner puts and takes with plain loads and stores; a thief, which
//! comes rarely, pays for the order between them. `slot/README.md` has the protocol.

use crate::canary;
use heist_sync::{AtomicPtr, AtomicU32, Barrier, Ordering};
use std::ptr::{self, NonNull};

#[cfg(all(test, loom))]
mod loom_tests;

// The states of the protocol's word `theft`: no thief is here; a thief looks, so an owner that
// takes what is there asks first; the owner was first, and the thief has not seen that yet; the
// thief was first, and the owner has not seen that yet: what the slot shows is gone.
const FREE: u32 = 0;
const WANTED: u32 = 1;
const REFUSED: u32 = 2;
const STOLEN: u32 = 3;

/// A place for one task, by its pointer.
pub(super) struct LifoSlot {
    /// The task; null if there is none. Written by the owner only.
    task: AtomicPtr<()>,
    /// Which side gets the task if both want it. The table is in the README.
    theft: AtomicU32,
    barrier: Barrier,
}

/// For the owner.
impl LifoSlot {
    pub(super) fn new(barrier: Barrier) -> Self {
        LifoSlot { task: AtomicPtr::new(ptr::null_mut()), theft: AtomicU32::new(FREE), barrier }
    }

    /// Puts a task in, and returns the one that was there.
    #[inline]
    pub(super) fn put(&self, task: NonNull<()>) -> Option<NonNull<()>> {
        let previous = self.take();
        // Release: pairs with the Acquire in steal().
        self.task.store(task.as_ptr(), canary::SLOT_PUT_RELAXED.weakens(Ordering::Release));
        previous
    }

    /// Takes the task out.
    #[inline]
    pub(super) fn take(&self) -> Option<NonNull<()>> {
        let task = NonNull::new(self.task.load(Ordering::Relaxed))?;
        self.task.store(ptr::null_mut(), Ordering::Relaxed);
        if !canary::SLOT_NO_LIGHT_BARRIER.sings() {
            self.barrier.light();
        }
        // Relaxed: ordered after the store by the barrier, which pairs with the heavy one in
        // steal().
        if self.theft.load(Ordering::Relaxed) == FREE { Some(task) } else { self.contest(task) }
    }

    /// A thief has been here, or is.
    #[cold]
    fn contest(&self, task: NonNull<()>) -> Option<NonNull<()>> {
        if canary::SLOT_NO_CONTEST.sings() {
            return Some(task);
        }
        // Acquire: pairs with the Release of the thief that stole it, which has read the pointer.
        let refused =
            self.theft.compare_exchange(WANTED, REFUSED, Ordering::Acquire, Ordering::Acquire);
        if refused == Err(STOLEN) {
            // Until now the slot showed the stolen task, so it is this one.
            self.theft.store(FREE, Ordering::Relaxed);
            return None;
        }
        Some(task)
    }
}

/// For all others.
impl LifoSlot {
    /// Whether a task is here; a snapshot.
    pub(super) fn has_task(&self) -> bool {
        let is_stolen = self.theft.load(Ordering::Relaxed) == STOLEN;
        !is_stolen && !self.task.load(Ordering::Relaxed).is_null()
    }

    /// Takes the task away from the owner, unless that is about to take it itself, or another thief
    /// is here.
    pub(super) fn steal(&self) -> Option<NonNull<()>> {
        if self.task.load(Ordering::Relaxed).is_null() {
            return None;
        }
        // Relaxed: ordered before the load below by the barrier.
        self.theft.compare_exchange(FREE, WANTED, Ordering::Relaxed, Ordering::Relaxed).ok()?;
        let has_barrier = canary::SLOT_NO_HEAVY_BARRIER.sings() || self.barrier.heavy();
        // Acquire: pairs with the Release in put().
        let task = NonNull::new(self.task.load(Ordering::Acquire)).filter(|_| has_barrier);
        if task.is_some() {
            // Release: pairs with the Acquire in contest().
            let stolen =
                self.theft.compare_exchange(WANTED, STOLEN, Ordering::Release, Ordering::Relaxed);
            if stolen.is_ok() {
                return task;
            }
        }
        // Whether refused or not: nothing was taken.
        self.theft.store(FREE, Ordering::Relaxed);
        None
    }
}
