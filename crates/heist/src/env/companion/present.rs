//! A companion for each runtime that wants one, from when that is built: not from when it is first used. Crates
//! find Tokio's runtime in their thread and nowhere else, so it has to be entered before they look for it, and only
//! one that has been built can be. One that is built without a thread, which is started by the first socket, timer or
//! task, would do; but of these Tokio tells others about tasks alone, and who waits for a socket or a timer that
//! nobody drives waits for ever.

use std::io;
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use tokio::runtime::{Builder, EnterGuard, Handle, Runtime};

/// Whether a runtime has a companion, and with how many threads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wish {
    is_wanted: bool,
    threads: Option<NonZeroUsize>,
}

impl Wish {
    pub(crate) fn enable(&mut self) {
        self.is_wanted = true;
    }

    pub(crate) fn with_threads(&mut self, threads: NonZeroUsize) {
        self.is_wanted = true;
        self.threads = Some(threads);
    }

    /// Starts it, if it is wanted, and makes it what `companion` enters. Each of its threads calls
    /// `on_thread_start` first of all.
    pub(crate) fn grant(
        &self,
        companion: &Companion,
        on_thread_start: impl Fn() + Send + Sync + 'static,
    ) -> io::Result<Owner> {
        if !self.is_wanted {
            return Ok(Owner(None));
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(self.threads.map_or(1, NonZeroUsize::get))
            .thread_name("heist-tokio")
            .on_thread_start(on_thread_start)
            .enable_all()
            .build()
            .map_err(|error| not_started(&error))?;
        let handle = runtime.handle().clone();
        companion.0.set(handle).expect("a runtime is built once, and has one companion");
        Ok(Owner(Some(runtime)))
    }
}

fn not_started(error: &io::Error) -> io::Error {
    let message = format!(
        "Builder::enable_tokio_context: Tokio's runtime cannot be had: {error}; raise the system's \
         limits, or do without it"
    );
    io::Error::new(error.kind(), message)
}

/// What a runtime's threads enter.
#[derive(Debug, Default)]
pub(crate) struct Companion(OnceLock<Handle>);

impl Companion {
    /// Enters it, if there is one. On a thread that is ending nothing can be entered any more.
    pub(crate) fn enter(&self) -> Guard<'_> {
        Guard(self.0.get().filter(|_| !is_thread_ending()).map(Handle::enter))
    }
}

fn is_thread_ending() -> bool {
    Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed())
}

/// Whoever has this is in the companion.
pub(crate) struct Guard<'a>(#[expect(dead_code, reason = "it is held")] Option<EnterGuard<'a>>);

/// Ends the companion when it is dropped, and waits for nothing: it may be dropped anywhere.
#[derive(Debug, Default)]
pub(crate) struct Owner(Option<Runtime>);

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
