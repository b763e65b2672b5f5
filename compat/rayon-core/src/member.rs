//! Which pool a thread belongs to.

use crate::pool::Pool;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

thread_local! {
    static POOL: RefCell<Option<Arc<Pool>>> = const { RefCell::new(None) };
    /// The thread's number there; apart from the pool, as it is asked for often.
    static INDEX: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The calling thread belongs to a pool as long as this lives.
pub(crate) struct Member(());

impl Member {
    /// The thread is this pool's, under this number. It was no pool's.
    pub(crate) fn join(pool: Arc<Pool>, index: usize) -> Member {
        POOL.with(|current| current.replace(Some(pool)));
        INDEX.set(Some(index));
        Member(())
    }

    /// To the thread's end.
    pub(crate) fn stay(self) {
        std::mem::forget(self);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        INDEX.set(None);
        let pool = POOL.with(RefCell::take);
        // Outside of the borrow: it may be the last that has it.
        drop(pool);
    }
}

/// The number of the calling thread in its pool.
#[inline]
pub(crate) fn index() -> Option<usize> {
    INDEX.get()
}

/// The pool of the calling thread.
pub(crate) fn pool() -> Option<Arc<Pool>> {
    POOL.try_with(|pool| pool.borrow().clone()).ok().flatten()
}

/// Whether the calling thread is one of this pool's.
pub(crate) fn is_of(pool: &Pool) -> bool {
    let is_it = |current: &RefCell<Option<Arc<Pool>>>| {
        current.borrow().as_ref().is_some_and(|current| std::ptr::eq(&**current, pool))
    };
    POOL.try_with(is_it).unwrap_or(false)
}
