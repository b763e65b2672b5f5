//! `Builder::enable_tokio_context`: crates that need Tokio's runtime, awaited in heist's tasks.

use super::Builder;
use std::num::NonZeroUsize;

impl Builder {
    /// Enables a companion runtime of Tokio, for crates that need one. Requires the feature
    /// `tokio-context`.
    ///
    /// With it, crates that call Tokio's runtime by name, such as reqwest, sqlx and tonic, work
    /// when they are awaited in tasks of this runtime, in its `block_on`, or while it is entered.
    /// [`enable_all`](Self::enable_all) includes it.
    ///
    /// The companion is one thread, which sleeps while it is not used. It drives *Tokio's* sockets
    /// and timers; the tasks that wait for them are heist's and run on heist's workers. Every
    /// thread of this runtime enters the companion once, so polls cost nothing more.
    ///
    /// Tasks that such a crate spawns with `tokio::spawn` run on the companion, not on the workers.
    /// They are not stolen, and one that blocks stalls the others. Therefore, let a crate spawn
    /// here if it leaves the choice, as `heist::hyper` does for servers; otherwise see
    /// [`tokio_context_threads`](Self::tokio_context_threads). The companion's threads belong to
    /// this runtime, so tasks there may use [`spawn`](crate::spawn), sockets and timers of heist.
    ///
    /// The companion ends with the runtime. The tasks that it still has are dropped in the
    /// background.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().enable_tokio_context().build().unwrap();
    /// let task = runtime.spawn(async {
    ///     // Somewhere in a crate that only knows Tokio:
    ///     let there = tokio::spawn(async { std::thread::current().name().map(str::to_owned) });
    ///     there.await.unwrap()
    /// });
    /// assert_eq!(runtime.block_on(task).unwrap().as_deref(), Some("heist-tokio"));
    /// ```
    pub fn enable_tokio_context(&mut self) -> &mut Self {
        self.companion.enable();
        self
    }

    /// Sets the number of threads of the companion that
    /// [`enable_tokio_context`](Self::enable_tokio_context) starts. The default is 1. Requires the
    /// feature `tokio-context`.
    ///
    /// More threads help if crates spawn much of their work there.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let mut builder = Builder::new_multi_thread();
    /// let rt = builder.enable_tokio_context().tokio_context_threads(2).build().unwrap();
    /// let companion = rt.block_on(async { tokio::runtime::Handle::current() });
    /// assert_eq!(companion.metrics().num_workers(), 2);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0.
    #[track_caller]
    pub fn tokio_context_threads(&mut self, count: usize) -> &mut Self {
        let Some(count) = NonZeroUsize::new(count) else {
            panic!(
                "Builder::tokio_context_threads: must be 1 or more; leave out \
                 enable_tokio_context and enable_all for a runtime without a companion"
            );
        };
        self.companion.with_threads(count);
        self
    }
}
