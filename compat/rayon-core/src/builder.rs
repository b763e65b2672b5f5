//! How a pool is made.

use crate::error::{ErrorKind, ThreadPoolBuildError};
use crate::member::Member;
use crate::pool::{Handlers, Pool, Use};
use crate::{ThreadPool, global, max_num_threads};
use heist::runtime::{Builder, WorkerThread};
use std::any::Any;
use std::env;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;

/// Makes a [`ThreadPool`], or the global one.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
/// assert_eq!(pool.install(rayon_core::current_num_threads), 3);
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    num_threads: usize,
    use_current_thread: bool,
    breadth_first: bool,
    thread_name: Option<Box<dyn FnMut(usize) -> String>>,
    stack_size: Option<usize>,
    handlers: Handlers,
    spawn: S,
}

/// How the threads of a pool are started.
pub trait ThreadSpawn {
    /// Has some thread call [`ThreadBuilder::run`].
    #[doc(hidden)]
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;
}

/// As threads of the standard library.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl ThreadSpawn for DefaultSpawn {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        thread.std_builder().spawn(|| thread.run()).map(drop)
    }
}

/// Like [`ThreadPoolBuilder::spawn_handler`] says.
#[derive(Debug)]
pub struct CustomSpawn<F>(F);

impl<F: FnMut(ThreadBuilder) -> io::Result<()>> ThreadSpawn for CustomSpawn<F> {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        (self.0)(thread)
    }
}

impl ThreadPoolBuilder {
    /// For a pool with a thread for each core, unless it is told otherwise.
    pub fn new() -> Self {
        Self::default()
    }

    /// Builds a pool on scoped threads, calls `with_pool` with it, ends it, and waits for its
    /// threads. Each thread calls `wrapper`, which has to call [`ThreadBuilder::run`] and may do
    /// something around that.
    ///
    /// ```
    /// let greeting = String::from("hello");
    /// let length = rayon_core::ThreadPoolBuilder::new().num_threads(1).build_scoped(
    ///     |thread| {
    ///         assert_eq!(greeting, "hello");
    ///         thread.run()
    ///     },
    ///     |pool| pool.install(|| greeting.len()),
    /// );
    /// assert_eq!(length.unwrap(), 5);
    /// ```
    ///
    /// # Errors
    /// Like [`build`](Self::build).
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        thread::scope(|scope| {
            let wrapper = &wrapper;
            let spawn = |thread: ThreadBuilder| {
                thread.std_builder().spawn_scoped(scope, move || wrapper(thread)).map(drop)
            };
            let pool = self.spawn_handler(spawn).build()?;
            Ok(with_pool(&pool))
        })
    }
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        ThreadPoolBuilder {
            num_threads: 0,
            use_current_thread: false,
            breadth_first: false,
            thread_name: None,
            stack_size: None,
            handlers: Handlers::default(),
            spawn: DefaultSpawn,
        }
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Builds a pool.
    ///
    /// # Errors
    /// If a thread cannot be started: those that were started before end again. Or if the calling
    /// thread should be one of the pool's, and is another's.
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        self.build_pool().map(ThreadPool::new_for)
    }

    /// Builds the pool for all threads that are no pool's. Without it they use the heist runtime
    /// that they are in, or heist's global one.
    ///
    /// # Errors
    /// Like [`build`](Self::build), and if it comes too late: there is a global pool, or jobs have
    /// run without one.
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        global::build(self)
    }

    pub(crate) fn build_pool(mut self) -> Result<Use, ThreadPoolBuildError> {
        if self.use_current_thread && heist::current_thread_index().is_some() {
            return Err(ErrorKind::ThreadHasPool.into());
        }
        let (mut pool, mut failure) = (None, None);
        let threads = self.threads();
        let runtime = Builder::new_multi_thread().worker_threads(threads).build_on(|worker| {
            let make = || {
                let handlers = std::mem::take(&mut self.handlers);
                Pool::new(worker.handle().clone(), handlers, self.breadth_first)
            };
            let pool = Arc::clone(pool.get_or_insert_with(make));
            self.start(worker, pool).map_err(|error| {
                let kind = error.kind();
                failure = Some(error);
                kind.into()
            })
        });
        match (runtime, pool) {
            (Ok(runtime), Some(pool)) => {
                pool.keep(runtime);
                Ok(pool.owner())
            }
            (Err(error), _) => Err(ErrorKind::NoThread(failure.unwrap_or(error)).into()),
            (Ok(_), None) => unreachable!("a pool has a thread"),
        }
    }

    fn start(&mut self, worker: WorkerThread, pool: Arc<Pool>) -> io::Result<()> {
        let index = worker.index();
        if index == 0 && self.use_current_thread {
            worker.stay();
            Member::join(pool, index).stay();
            return Ok(());
        }
        let name = self.thread_name.as_mut().map(|name| name(index));
        self.spawn.spawn(ThreadBuilder { worker, pool, name, stack_size: self.stack_size })
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// How many threads there will be.
    fn threads(&self) -> usize {
        let one_a_core = || thread::available_parallelism().map_or(1, usize::from);
        let threads = match self.num_threads {
            0 => threads_asked_for().unwrap_or_else(one_a_core),
            threads => threads,
        };
        threads.min(max_num_threads())
    }

    /// Has `spawn` start the threads: it is called for each, and has to see to it that some thread
    /// calls [`ThreadBuilder::run`].
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            num_threads: self.num_threads,
            use_current_thread: self.use_current_thread,
            breadth_first: self.breadth_first,
            thread_name: self.thread_name,
            stack_size: self.stack_size,
            handlers: self.handlers,
            spawn: CustomSpawn(spawn),
        }
    }

    /// Makes the name of each thread from its number.
    pub fn thread_name<F>(mut self, name: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.thread_name = Some(Box::new(name));
        self
    }

    /// How many threads there are. 0, which is the default, leaves it to the environment variable
    /// `RAYON_NUM_THREADS`; without that there is one for each core.
    pub fn num_threads(mut self, count: usize) -> Self {
        self.num_threads = count;
        self
    }

    /// Makes the calling thread a thread of the pool, number 0, until the pool ends. It runs jobs
    /// while it waits in [`join`](crate::join) and the like, or calls
    /// [`yield_now`](crate::yield_now).
    pub fn use_current_thread(mut self) -> Self {
        self.use_current_thread = true;
        self
    }

    /// What becomes of panics that nobody waits for: those of [`spawn`](crate::spawn), and of
    /// handlers. Without it they end the process.
    pub fn panic_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.handlers.panic = Some(Box::new(handler));
        self
    }

    /// How much stack threads have, in bytes.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Makes [`spawn`](crate::spawn) do what [`spawn_fifo`](crate::spawn_fifo) does.
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo`")]
    pub fn breadth_first(mut self) -> Self {
        self.breadth_first = true;
        self
    }

    /// Called with its number by each thread when it starts, but not by that of
    /// [`use_current_thread`](Self::use_current_thread).
    pub fn start_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.handlers.start = Some(Box::new(handler));
        self
    }

    /// Called with its number by each thread when it ends, as that of
    /// [`start_handler`](Self::start_handler).
    pub fn exit_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.handlers.exit = Some(Box::new(handler));
        self
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.num_threads)
            .field("use_current_thread", &self.use_current_thread)
            .field("stack_size", &self.stack_size)
            .field("breadth_first", &self.breadth_first)
            .finish_non_exhaustive()
    }
}

/// How many threads the environment asks for, if it does.
pub(crate) fn threads_asked_for() -> Option<usize> {
    let number = |variable| env::var(variable).ok().and_then(|text| text.parse::<usize>().ok());
    // The second is what the first was called once. An explicit 0 stands for the default.
    let asked = number("RAYON_NUM_THREADS").or_else(|| number("RAYON_RS_NUM_CPUS"));
    asked.filter(|threads| *threads > 0)
}

/// A thread of a pool, to be started; see [`ThreadPoolBuilder::spawn_handler`].
pub struct ThreadBuilder {
    worker: WorkerThread,
    pool: Arc<Pool>,
    name: Option<String>,
    stack_size: Option<usize>,
}

impl ThreadBuilder {
    /// Its number, from 0 on.
    pub fn index(&self) -> usize {
        self.worker.index()
    }

    /// The name that it should have.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The stack that it should have, in bytes.
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Makes the calling thread one of the pool's, until the pool ends.
    pub fn run(self) {
        let ThreadBuilder { worker, pool, .. } = self;
        let index = worker.index();
        let _member = Member::join(Arc::clone(&pool), index);
        worker.run_between(|| pool.thread_starts(index), || pool.thread_ends(index));
    }

    fn std_builder(&self) -> thread::Builder {
        let mut builder = thread::Builder::new();
        if let Some(name) = self.name() {
            builder = builder.name(name.to_owned());
        }
        if let Some(bytes) = self.stack_size {
            builder = builder.stack_size(bytes);
        }
        builder
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("index", &self.index())
            .field("name", &self.name)
            .field("stack_size", &self.stack_size)
            .finish_non_exhaustive()
    }
}
