//! Creation of a runtime's threads.

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

/// The user's settings for threads, both workers and blocking threads.
///
/// Callbacks are foreign code. The panic hook reports their panics, which are then swallowed: a
/// thread that died would leave its queues and its place in the idle protocol without an owner.
#[derive(Clone)]
pub(crate) struct ThreadSpec {
    pub(crate) name: NameFn,
    pub(crate) stack_size: Option<usize>,
    pub(crate) on_start: Option<Callback>,
    pub(crate) on_stop: Option<Callback>,
    /// The cores to which workers are bound, one each.
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

    /// A thread that is to be started, with its name and stack. Rejects values at which the
    /// standard library would panic.
    pub(crate) fn thread(&self) -> io::Result<thread::Builder> {
        // The new thread inherits the time slice of this one.
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

    /// Called first by a worker's thread.
    pub(crate) fn bind_worker(&self, number: usize) {
        if let Some(cores) = &self.cores {
            cores.bind_to(number);
        }
    }

    /// Called first by every other thread, because it has inherited the core of its starter.
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

/// A number that no other thread has or had. Threads that ask one after another have consecutive
/// numbers, so that the number modulo the parts of a divided structure spreads them evenly. It is
/// there as long as the thread is, even for the destructors of other thread-locals.
pub(crate) fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: Cell<u64> = Cell::new(0);
    }
    let number = NUMBER.with(Cell::get);
    if number > 0 {
        return number;
    }
    // Relaxed: the numbers only have to be unique.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    NUMBER.with(|mine| mine.set(number));
    number
}

impl fmt::Debug for ThreadSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadSpec").field("stack_size", &self.stack_size).finish_non_exhaustive()
    }
}
