//! How the threads of a runtime are made.

use std::fmt;
use std::sync::Arc;
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
}

impl ThreadSpec {
    pub(crate) fn new() -> Self {
        ThreadSpec {
            name: Arc::new(|| "heist-worker".into()),
            stack_size: None,
            on_start: None,
            on_stop: None,
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

impl fmt::Debug for ThreadSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadSpec").field("stack_size", &self.stack_size).finish_non_exhaustive()
    }
}
