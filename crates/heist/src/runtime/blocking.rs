//! Starting blocking threads, which enter the runtime that they work for.

use super::Handle;
use super::context::{self, Polling};
use crate::env;
use crate::scheduler::blocking::{Host, NoThread};
use crate::scheduler::{Scheduler, ThreadBody};
use crate::trace;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Has a blocking thread run a spare worker for this seat.
pub(super) fn call_spare(scheduler: &Scheduler, seat: usize) -> Result<(), NoThread> {
    let handle = Handle { scheduler: scheduler.clone() };
    let spare = handle.clone();
    let run = move || {
        let _polling = Polling::begin();
        spare.scheduler.run_spare(seat);
    };
    handle.scheduler.blocking.call(run, &handle)
}

/// Starts a thread for what is left when the runtime goes down, if it can. Blocking threads are
/// ending then.
pub(super) fn start_thread(scheduler: &Scheduler, act: ThreadBody) -> bool {
    let handle = Handle { scheduler: scheduler.clone() };
    let on_thread = handle.clone();
    let run = move || {
        on_thread.started();
        let polling = Polling::begin();
        act(&on_thread.scheduler);
        drop(polling);
        on_thread.stopping();
    };
    // As for other threads, the name comes from foreign code, which may panic. The caller retries.
    catch_unwind(AssertUnwindSafe(|| handle.start(run))).is_ok_and(|started| started.is_ok())
}

/// A thread that ends, also if a callback panics. When the runtime goes down, the thread that shuts
/// it down waits for all.
struct Retires<'a>(&'a Handle);

impl Drop for Retires<'_> {
    fn drop(&mut self) {
        let scheduler = &self.0.scheduler;
        if !scheduler.is_down() {
            scheduler.blocking.retire();
        }
    }
}

impl Host for Handle {
    fn start(&self, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let handle = self.clone();
        self.scheduler.blocking.start(move || {
            let _retires = Retires(&handle);
            let _entered = context::enter(&handle);
            let _here = trace::enter(handle.scheduler.recorder(), None);
            body();
        })
    }

    fn within(&self, act: impl FnOnce()) {
        let _entered = context::enter(self);
        act();
    }

    fn core(&self) -> usize {
        env::this_core()
    }

    fn started(&self) {
        let threads = self.scheduler.blocking.threads();
        threads.unbind();
        threads.started();
    }

    fn stopping(&self) {
        env::turns::lengthen();
        self.scheduler.blocking.threads().stopping();
    }
}
