//! The recorder of a runtime (M2), to which its workers and other threads write.

use super::buffer::Copied;
use super::config::Config;
use super::dump_requests::DumpRequests;
use super::event::{EventKind, OffWorker};
use super::here;
use super::scribe::Scribe;
use crate::env::{Clock, log};
use std::fmt;
use std::io;
use std::panic::Location;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Spare workers come and go, and there may be many: each has a buffer of this fraction of a
/// worker's. Guessed.
const PART_OF_SPARES: usize = 16;

/// The records of a runtime.
pub(crate) struct Recorder {
    config: Config,
    /// When it started, on both clocks.
    start: Clock,
    pub(super) started: SystemTime,
    /// For threads that are not workers of this runtime.
    outside: Mutex<Scribe>,
    dump_requests: DumpRequests,
    /// Reports that an automatic dump has failed.
    pub(crate) not_dumped: log::Once,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Recorder {
    /// # Errors
    /// If there are no descriptors left for requests of dumps.
    pub(crate) fn new(config: Config) -> io::Result<Arc<Self>> {
        let start = Clock::now();
        let words = config.words();
        Ok(Arc::new(Recorder {
            start,
            started: SystemTime::now(),
            outside: Mutex::new(Scribe::new(words, start, true)),
            dump_requests: DumpRequests::new(&config)?,
            not_dumped: log::Once::default(),
            config,
        }))
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Whether every event has its time.
    pub(crate) fn is_exact(&self) -> bool {
        self.config.is_exact
    }

    pub(crate) fn dump_requests(&self) -> &DumpRequests {
        &self.dump_requests
    }

    /// The scribe of a new worker.
    pub(crate) fn scribe(&self, is_spare: bool) -> Arc<Scribe> {
        let words = self.config.words() / if is_spare { PART_OF_SPARES } else { 1 };
        Arc::new(Scribe::new(words, self.start, self.config.is_exact).with_cpu_times())
    }

    /// Records an event of the calling thread, a worker or not, with the current time.
    pub(crate) fn record(&self, kind: EventKind) {
        if self.with_own(|scribe| scribe.record(kind)).is_none() {
            self.record_outside(kind);
        }
    }

    /// Records an event of a thread that is not a worker.
    pub(crate) fn record_outside(&self, kind: EventKind) {
        self.lock_outside().record(kind);
    }

    /// The calling thread has spawned a task.
    pub(crate) fn spawned(&self, task: u64, at: &'static Location<'static>) {
        if self.with_own(|scribe| scribe.spawned(task, at)).is_none() {
            self.lock_outside().spawned(task, at);
        }
    }

    /// The calling thread has spawned a task that no worker will run.
    #[cold]
    pub(crate) fn spawned_off_worker(
        &self,
        task: u64,
        by: OffWorker,
        at: &'static Location<'static>,
    ) {
        if self.with_own(|scribe| scribe.spawned_off_worker(task, by, at)).is_none() {
            self.lock_outside().spawned_off_worker(task, by, at);
        }
    }

    /// Nanoseconds since the start of the recorder.
    pub(super) fn nanos(&self) -> u64 {
        self.lock_outside().nanos()
    }

    /// Calls `f` with the calling worker's scribe, if it is a worker of this runtime.
    fn with_own(&self, f: impl FnOnce(&Scribe)) -> Option<()> {
        here::with(|place| {
            let own = place.scribe.as_deref().filter(|_| ptr::eq(&*place.recorder, self));
            own.map(f)
        })
        .flatten()
    }

    pub(super) fn copy_outside(&self) -> Copied {
        // A copy without the lock would also be valid; with it no event is incomplete.
        self.lock_outside().copy()
    }

    fn lock_outside(&self) -> MutexGuard<'_, Scribe> {
        // Nothing panics with the lock held.
        self.outside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
