//! A pool of threads: a heist runtime that has these threads and no others.

use crate::panics::{self, PanicHandler};
use heist::runtime::{Handle, Runtime};
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) type ThreadHandler = dyn Fn(usize) + Send + Sync;

/// What a pool does when something happens to its threads.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) panic: Option<Box<PanicHandler>>,
    pub(crate) start: Option<Box<ThreadHandler>>,
    pub(crate) exit: Option<Box<ThreadHandler>>,
}

pub(crate) struct Pool {
    pub(crate) handle: Handle,
    /// Whether what its threads spawn is run in that order.
    pub(crate) breadth_first: bool,
    handlers: Handlers,
    /// Until the pool ends.
    runtime: Mutex<Option<Runtime>>,
    /// The users of the pool: its owner, and each job that was spawned and has not ended.
    users: AtomicUsize,
}

impl Pool {
    /// For the runtime of this handle, which is being built. It has one user.
    pub(crate) fn new(handle: Handle, handlers: Handlers, breadth_first: bool) -> Arc<Self> {
        let (runtime, users) = (Mutex::new(None), AtomicUsize::new(1));
        Arc::new(Pool { handle, breadth_first, handlers, runtime, users })
    }

    /// The runtime is complete.
    pub(crate) fn keep(&self, runtime: Runtime) {
        *self.runtime.lock().unwrap_or_else(PoisonError::into_inner) = Some(runtime);
    }

    pub(crate) fn num_threads(&self) -> usize {
        self.handle.num_workers()
    }

    /// The pool does not end before what this returns is dropped.
    pub(crate) fn used(self: &Arc<Self>) -> Use {
        // Relaxed: the caller is a user, or has one.
        self.users.fetch_add(1, Ordering::Relaxed);
        Use(Arc::clone(self))
    }

    /// The owner, which was counted from the beginning.
    pub(crate) fn owner(self: &Arc<Self>) -> Use {
        Use(Arc::clone(self))
    }

    /// Calls a closure that nobody waits for.
    pub(crate) fn contain(&self, f: impl FnOnce()) {
        panics::contain(self.handlers.panic.as_deref(), f);
    }

    pub(crate) fn thread_starts(&self, index: usize) {
        self.contain(|| self.handlers.start.iter().for_each(|handler| handler(index)));
    }

    pub(crate) fn thread_ends(&self, index: usize) {
        self.contain(|| self.handlers.exit.iter().for_each(|handler| handler(index)));
    }

    pub(crate) fn spawn(self: &Arc<Self>, f: impl FnOnce() + Send + 'static) {
        let used = self.used();
        self.handle.spawn_detached(move || used.0.contain(f));
    }
}

/// A user of a pool. The last one ends it: its threads run what is left and end, and nobody waits
/// for them.
pub(crate) struct Use(Arc<Pool>);

impl Use {
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.0
    }

    /// It is needed for ever.
    pub(crate) fn for_ever(self) -> Arc<Pool> {
        let pool = Arc::clone(&self.0);
        mem::forget(self);
        pool
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        // AcqRel: pairs with itself; all that users did comes before the end.
        if self.0.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            let runtime = self.0.runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
            runtime.into_iter().for_each(Runtime::shutdown_background);
        }
    }
}
