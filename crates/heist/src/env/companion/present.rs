//! Companions of runtimes that enable them. A companion is built together with its runtime, not
//! when it is first used: crates look for Tokio's runtime only in their thread, so it must exist
//! and be entered before. Starting its thread with the first socket, timer or task would be enough,
//! but Tokio reports only tasks, and a socket or timer without that thread would never complete.

use std::io;
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use tokio::runtime::{Builder, EnterGuard, Handle, Runtime};

/// Whether a runtime has a companion, and with how many threads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    is_wanted: bool,
    threads: Option<NonZeroUsize>,
}

impl Settings {
    pub(crate) fn enable(&mut self) {
        self.is_wanted = true;
    }

    pub(crate) fn with_threads(&mut self, threads: NonZeroUsize) {
        self.is_wanted = true;
        self.threads = Some(threads);
    }

    /// Starts the companion, if it is enabled, and has `companion` enter it. Each of its threads
    /// calls `on_thread_start` first.
    pub(crate) fn grant(
        &self,
        companion: &Companion,
        on_thread_start: impl Fn() + Send + Sync + 'static,
    ) -> io::Result<OwnedCompanion> {
        if !self.is_wanted {
            return Ok(OwnedCompanion(None));
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
        Ok(OwnedCompanion(Some(runtime)))
    }
}

fn not_started(error: &io::Error) -> io::Error {
    let message = format!(
        "Builder::enable_tokio_context: Tokio's runtime cannot be had: {error}; raise the system's \
         limits, or do without it"
    );
    io::Error::new(error.kind(), message)
}

/// The companion that a runtime's threads enter.
#[derive(Debug, Default)]
pub(crate) struct Companion(OnceLock<Handle>);

impl Companion {
    /// Enters the companion, if there is one. Does nothing on a thread that is ending.
    pub(crate) fn enter(&self) -> Guard<'_> {
        Guard(self.0.get().filter(|_| !is_thread_ending()).map(Handle::enter))
    }
}

fn is_thread_ending() -> bool {
    Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed())
}

/// A guard: the thread is in the companion.
pub(crate) struct Guard<'a>(#[expect(dead_code, reason = "it is held")] Option<EnterGuard<'a>>);

/// Ends the companion when it is dropped, without waiting, so that it may be dropped anywhere.
#[derive(Debug, Default)]
pub(crate) struct OwnedCompanion(Option<Runtime>);

impl Drop for OwnedCompanion {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
