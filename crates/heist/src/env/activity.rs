//! Whether a thread is blocked or burns CPU.
//!
//! Linux reports it in files under `/proc/self/task`. On other systems, and where those files
//! cannot be read, nothing is known, and no error is reported.

mod system_call;

#[cfg(target_os = "linux")]
mod procfs;
#[cfg(not(target_os = "linux"))]
#[path = "activity/silent.rs"]
mod procfs;

#[cfg(all(test, not(loom), target_os = "linux"))]
mod tests;

pub use system_call::SystemCall;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A thread whose activity other threads can query while it lives. A query costs a few system
/// calls, so it is for threads that make no progress.
#[derive(Clone)]
pub(crate) struct Probe {
    thread: procfs::Thread,
    name: Arc<str>,
}

impl Probe {
    /// Costs one system call per thread, because spare workers call this often.
    pub(crate) fn of_this_thread() -> Probe {
        thread_local! {
            static PROBE: Probe = Probe::new();
        }
        PROBE.try_with(Probe::clone).unwrap_or_else(|_| Probe::new())
    }

    fn new() -> Probe {
        let this = std::thread::current();
        // The standard library's name for threads without a name.
        let name = this.name().unwrap_or("<unnamed>").into();
        Probe { thread: procfs::Thread::this(), name }
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The thread's activity and CPU use so far, or `None` if they are not known.
    pub(crate) fn sample(&self) -> Option<Usage> {
        Some(Usage { state: self.thread.state()?, times: self.thread.times() })
    }

    /// The system call that the thread is in, or `None` if it is in none or that is not known.
    pub(crate) fn system_call(&self) -> Option<SystemCall> {
        self.thread.system_call()
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A thread's activity at one moment, and its CPU use until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    state: ThreadState,
    /// Some systems report the state but not these times.
    times: Option<Times>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "procfs alone makes one"))]
enum ThreadState {
    /// It runs, or is ready to run.
    Runnable,
    /// It waits for something other than a CPU.
    Asleep,
    /// Stopped by a debugger, ending, or in a state that is not known here.
    Other,
}

/// Both count from the start of the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "procfs alone makes one"))]
struct Times {
    on_cpu: Duration,
    /// Time spent ready to run, but waiting for a CPU. The current wait is not included, so a long
    /// preemption is visible only in the thread's state.
    waiting: Duration,
}

/// What keeps a thread busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    /// It waits for something and does not use its CPU.
    Blocked,
    /// It computes, or is ready to.
    Burning,
    Unknown,
}

impl Usage {
    /// The thread's activity since `earlier`, which was taken `elapsed` ago.
    ///
    /// A thread that sleeps between computations counts as burning if those took half of the time.
    /// A thread that is ready to run always counts as burning, because it competes for a CPU.
    pub(crate) fn since(&self, earlier: &Usage, elapsed: Duration) -> Activity {
        let (Some(now), Some(then)) = (self.times, earlier.times) else { return self.activity() };
        let used = now.total().saturating_sub(then.total());
        if !elapsed.is_zero() && used >= elapsed / 2 {
            return Activity::Burning;
        }
        self.activity()
    }

    /// The activity according to this sample alone: what the thread is doing now.
    pub(crate) fn activity(&self) -> Activity {
        match self.state {
            ThreadState::Runnable => Activity::Burning,
            ThreadState::Asleep => Activity::Blocked,
            ThreadState::Other => Activity::Unknown,
        }
    }
}

impl Times {
    fn total(self) -> Duration {
        self.on_cpu.saturating_add(self.waiting)
    }
}
