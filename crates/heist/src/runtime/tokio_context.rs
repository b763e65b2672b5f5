//! Crates that call Tokio's runtime, awaited in tasks of ours (feature `tokio-context`).

use super::Builder;
use std::num::NonZeroUsize;

impl Builder {
    /// Has crates that call Tokio's runtime by name find one: reqwest, sqlx, tonic, `axum::serve` and
    /// others work when they are awaited in tasks of this runtime, in its `block_on`, or while it is
    /// entered. Part of [`enable_all`](Self::enable_all). Only with the feature `tokio-context`.
    ///
    /// A runtime of Tokio's is started beside this one, as its companion: one thread, which sleeps
    /// until somebody uses it. Every thread of this runtime is in it from its beginning to its end, so
    /// polls cost nothing more. Sockets and timers of *Tokio's* are driven by the companion; the tasks
    /// that wait for them are yours, and run where they always do.
    ///
    /// What such a crate spawns itself, by `tokio::spawn`, runs on the companion, not on the workers:
    /// no other thread steals it, and a stuck task holds up the others there. So where a crate
    /// leaves the choice, have it spawn here, as `heist::hyper` does for servers; for the
    /// rest see [`tokio_context_threads`](Self::tokio_context_threads). The companion's threads are in
    /// this runtime: what runs there may use [`spawn`](crate::spawn), sockets and timers of heist.
    ///
    /// The companion ends with the runtime. What it still has to drop is dropped in the background.
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().enable_tokio_context().build().unwrap();
    /// let task = runtime.spawn(async {
    ///     // Somewhere in a crate that knows Tokio only:
    ///     let there = tokio::spawn(async { std::thread::current().name().map(str::to_owned) });
    ///     there.await.unwrap()
    /// });
    /// assert_eq!(runtime.block_on(task).unwrap().as_deref(), Some("heist-tokio"));
    /// ```
    pub fn enable_tokio_context(&mut self) -> &mut Self {
        self.companion.enable();
        self
    }

    /// How many threads the companion has that [`enable_tokio_context`](Self::enable_tokio_context)
    /// starts; one unless said otherwise. More are of use if crates spawn much of their work there.
    /// Only with the feature `tokio-context`.
    ///
    /// # Panics
    /// If `count` is 0.
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
