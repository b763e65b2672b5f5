//! Options for the threads of a runtime: names, stacks, hooks, and how many may block.

use super::Builder;
use std::sync::Arc;
use std::time::Duration;

/// # Threads: names, stacks, hooks, blocking threads
impl Builder {
    /// Sets the name of the runtime's threads, both workers and blocking threads.
    ///
    /// The default is `heist-worker`. A name that contains a NUL byte is an error when a thread is
    /// started; for workers, [`build`](Self::build) returns it.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let rt = Builder::new_multi_thread().thread_name("orders").build().unwrap();
    /// let name = rt.spawn(async { std::thread::current().name().map(str::to_owned) });
    /// assert_eq!(rt.block_on(name).unwrap().as_deref(), Some("orders"));
    /// ```
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        self.thread_name_fn(move || name.clone())
    }

    /// Sets a function that returns the name of each new thread of the runtime.
    ///
    /// If the function panics for a worker, [`build`](Self::build) panics after stopping the
    /// threads that it has already started.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let next = AtomicUsize::new(0);
    /// let rt = Builder::new_multi_thread()
    ///     .thread_name_fn(move || format!("orders-{}", next.fetch_add(1, Ordering::Relaxed)))
    ///     .build()
    ///     .unwrap();
    /// let name = rt.spawn(async { std::thread::current().name().unwrap().to_owned() });
    /// assert!(rt.block_on(name).unwrap().starts_with("orders-"));
    /// ```
    pub fn thread_name_fn<F>(&mut self, name: F) -> &mut Self
    where
        F: Fn() -> String + Send + Sync + 'static,
    {
        self.threads.name = Arc::new(name);
        self
    }

    /// Sets the stack size of the runtime's threads, in bytes.
    ///
    /// A size below the system's minimum is rounded up. A size that the system cannot provide is an
    /// error when a thread is started; for workers, [`build`](Self::build) returns it. A stack that
    /// overflows ends the process.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let rt = Builder::new_multi_thread().thread_stack_size(8 << 20).build().unwrap();
    /// let task = rt.spawn(async {
    ///     let large = [1u8; 2 << 20]; // more than the default stack holds
    ///     std::hint::black_box(&large).len()
    /// });
    /// assert_eq!(rt.block_on(task).unwrap(), 2 << 20);
    /// ```
    pub fn thread_stack_size(&mut self, bytes: usize) -> &mut Self {
        self.threads.stack_size = Some(bytes);
        self
    }

    /// Sets a callback that each thread of the runtime calls before it runs anything else.
    ///
    /// It is called by workers and by blocking threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let threads = Arc::new(AtomicUsize::new(0));
    /// let (started, stopped) = (threads.clone(), threads.clone());
    /// let rt = Builder::new_multi_thread()
    ///     .on_thread_start(move || _ = started.fetch_add(1, Ordering::Relaxed))
    ///     .on_thread_stop(move || _ = stopped.fetch_sub(1, Ordering::Relaxed))
    ///     .build()
    ///     .unwrap();
    /// rt.block_on(rt.spawn_blocking(|| ())).unwrap();
    /// assert_ne!(threads.load(Ordering::Relaxed), 0);
    /// drop(rt);
    /// assert_eq!(threads.load(Ordering::Relaxed), 0);
    /// ```
    pub fn on_thread_start<F>(&mut self, callback: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.threads.on_start = Some(Arc::new(callback));
        self
    }

    /// Sets a callback that each thread of the runtime calls when it ends.
    ///
    /// See [`on_thread_start`](Self::on_thread_start) for an example.
    pub fn on_thread_stop<F>(&mut self, callback: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.threads.on_stop = Some(Arc::new(callback));
        self
    }

    /// Sets a callback that each worker calls before it goes to sleep because it has nothing to do.
    ///
    /// The callback may spawn or wake tasks; then the worker does not sleep. It should be short,
    /// because the worker runs nothing else meanwhile, and it must not wait for a task.
    ///
    /// On a runtime without worker threads it is called by the thread in
    /// [`Runtime::block_on`](crate::runtime::Runtime::block_on).
    /// Blocking threads do not call it.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let parks = Arc::new(AtomicUsize::new(0));
    /// let count = parks.clone();
    /// let rt = Builder::new_current_thread()
    ///     .on_thread_park(move || _ = count.fetch_add(1, Ordering::Relaxed))
    ///     .build()
    ///     .unwrap();
    /// // The closure waits for the callback, so the thread has to park before the closure ends.
    /// let waiting = parks.clone();
    /// let waits = rt.spawn_blocking(move || {
    ///     while waiting.load(Ordering::Relaxed) == 0 {
    ///         std::thread::yield_now();
    ///     }
    /// });
    /// rt.block_on(waits).unwrap();
    /// assert_ne!(parks.load(Ordering::Relaxed), 0);
    /// ```
    pub fn on_thread_park<F>(&mut self, callback: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.threads.on_park = Some(Arc::new(callback));
        self
    }

    /// Sets a callback that each worker calls after it has slept.
    ///
    /// It is called once for each call of the callback of [`on_thread_park`](Self::on_thread_park),
    /// even if the worker did not sleep in the end.
    pub fn on_thread_unpark<F>(&mut self, callback: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.threads.on_unpark = Some(Arc::new(callback));
        self
    }

    /// Sets the maximum number of blocking threads, which exist beside the workers. The default is
    /// 512.
    ///
    /// They run the closures of [`spawn_blocking`](crate::task::spawn_blocking), and spare workers,
    /// which take the place of workers that are stuck or in
    /// [`block_in_place`](crate::task::block_in_place). They are started when they are needed. When
    /// all of them are busy, closures wait for a thread, in the order in which each thread has
    /// spawned them, and stuck workers are not replaced. A program whose tasks block therefore
    /// needs more of these threads than it has tasks that block at the same time.
    ///
    /// # Examples
    ///
    /// One thread runs the closures one after the other:
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let rt = Builder::new_multi_thread()
    ///     .max_blocking_threads(1)
    ///     .thread_keep_alive(Duration::from_secs(60))
    ///     .build()
    ///     .unwrap();
    /// let first = rt.spawn_blocking(|| std::thread::current().id());
    /// let second = rt.spawn_blocking(|| std::thread::current().id());
    /// let ids = rt.block_on(async { (first.await.unwrap(), second.await.unwrap()) });
    /// assert_eq!(ids.0, ids.1);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0.
    #[track_caller]
    pub fn max_blocking_threads(&mut self, count: usize) -> &mut Self {
        assert!(
            count > 0,
            "Builder::max_blocking_threads: must be 1 or more, or spawn_blocking could never run \
             anything; 512 is the default, and none is started before it is needed"
        );
        self.blocking.threads = count;
        self
    }

    /// Sets how long a blocking thread without work is kept. The default is 10 seconds.
    pub fn thread_keep_alive(&mut self, duration: Duration) -> &mut Self {
        self.blocking.keep_alive = duration;
        self
    }
}
