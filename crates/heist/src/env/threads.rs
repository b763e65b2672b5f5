//! How the threads of a runtime are made.

use super::Cores;
use heist_sync::thread_local;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

type NameFn = Arc<dyn Fn() -> String + Send + Sync>;
type Callback = Arc<dyn Fn() + Send + Sync>;

/// What the user has said about threads: workers and blocking threads alike.
#[derive(Clone)]
pub(crate) struct ThreadSpec {
    pub(crate) name: NameFn,
    pub(crate) stack_size: Option<usize>,
    pub(crate) on_start: Option<Callback>,
    pub(crate) on_stop: Option<Callback>,
    /// If workers are bound to one core each: to one of these.
    pub(crate) cores: Option<Cores>,
}

impl ThreadSpec {
    pub(crate) fn new() -> Self {
        ThreadSpec {
            name: Arc::new(|| "heist-worker".into()),
            stack_size: None,
            on_start: None,
            on_stop: None,
            cores: None,
        }
    }

    /// A thread to be started, with its name and stack.
    pub(crate) fn thread(&self) -> thread::Builder {
        let thread = thread::Builder::new().name((self.name)());
        match self.stack_size {
            Some(bytes) => thread.stack_size(bytes),
            None => thread,
        }
    }

    /// Called by a worker's thread first of all.
    pub(crate) fn bind_worker(&self, number: usize) {
        if let Some(cores) = &self.cores {
            cores.bind_to(number);
        }
    }

    /// Called by every other thread first of all: it has inherited the core of who started it.
    pub(crate) fn unbind(&self) {
        if let Some(cores) = &self.cores {
            cores.bind_to_all();
        }
    }

    /// Called by each thread before it runs anything.
    pub(crate) fn started(&self) {
        if let Some(callback) = &self.on_start {
            callback();
        }
    }

    /// Called by each thread before it ends.
    pub(crate) fn stopping(&self) {
        if let Some(callback) = &self.on_stop {
            callback();
        }
    }
}

/// A number that no other thread has or will have.
pub(crate) fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: Cell<u64> = Cell::new(0);
    }
    let number = NUMBER.with(Cell::get);
    if number > 0 {
        return number;
    }
    // Relaxed: uniqueness is all that is asked of it.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    NUMBER.with(|mine| mine.set(number));
    number
}

impl fmt::Debug for ThreadSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadSpec").field("stack_size", &self.stack_size).finish_non_exhaustive()
    }
}
