//! How the threads of a runtime are made.

use super::{Cores, quietly, turns};
use heist_sync::thread_local;
use std::cell::Cell;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

type NameFn = Arc<dyn Fn() -> String + Send + Sync>;
pub(crate) type Callback = Arc<dyn Fn() + Send + Sync>;

/// What the user has said about threads: workers and blocking threads alike.
///
/// Callbacks are code of others. A panic in one has been reported by the panic hook when it gets
/// here, and goes no further: a thread that died of it would leave its queues and its place in
/// the idle protocol to nobody.
#[derive(Clone)]
pub(crate) struct ThreadSpec {
    pub(crate) name: NameFn,
    pub(crate) stack_size: Option<usize>,
    pub(crate) on_start: Option<Callback>,
    pub(crate) on_stop: Option<Callback>,
    /// If workers are bound to one core each: to one of these.
    pub(crate) cores: Option<Cores>,
    pub(crate) on_park: Option<Callback>,
    pub(crate) on_unpark: Option<Callback>,
}

impl ThreadSpec {
    pub(crate) fn new() -> Self {
        ThreadSpec {
            name: Arc::new(|| "heist-worker".into()),
            stack_size: None,
            on_start: None,
            on_stop: None,
            cores: None,
            on_park: None,
            on_unpark: None,
        }
    }

    /// A thread to be started, with its name and stack. The standard library panics at what is
    /// refused here.
    pub(crate) fn thread(&self) -> io::Result<thread::Builder> {
        // It would inherit those of who starts it.
        turns::lengthen();
        let name = (self.name)();
        if name.contains('\0') {
            return Err(refused(format!(
                "Builder::thread_name: {name:?} has a NUL in it, which no thread's name may have; \
                 take it out"
            )));
        }
        let thread = thread::Builder::new().name(name);
        match self.stack_size {
            Some(bytes) if isize::try_from(bytes).is_err() => Err(refused(format!(
                "Builder::thread_stack_size: {bytes} bytes are more than there are addresses; \
                 ask for less, or leave it out for the system's default"
            ))),
            Some(bytes) => Ok(thread.stack_size(bytes)),
            None => Ok(thread),
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
        call(self.on_start.as_ref());
    }

    /// Called by each thread before it ends.
    pub(crate) fn stopping(&self) {
        call(self.on_stop.as_ref());
    }

    /// Called by each worker that is about to sleep.
    pub(crate) fn parking(&self) {
        call(self.on_park.as_ref());
    }

    /// Called by each worker that has slept.
    pub(crate) fn unparked(&self) {
        call(self.on_unpark.as_ref());
    }
}

fn refused(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

fn call(callback: Option<&Callback>) {
    if let Some(callback) = callback {
        quietly(|| callback());
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
