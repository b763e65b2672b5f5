//! Whether a thread is blocked or burns CPU.
//!
//! Linux tells by files under `/proc/self/task`. Elsewhere, and where those files cannot be read,
//! nothing is known: there is no error, and nobody is told.

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

/// A thread to be asked about, from any other; of use as long as the thread lives. What asking
/// costs is a few system calls, so it is for threads that have been seen to stand still.
#[derive(Clone)]
pub(crate) struct Probe {
    thread: procfs::Thread,
    name: Arc<str>,
}

impl Probe {
    /// Costs a system call once a thread: spare workers come to theirs often.
    pub(crate) fn of_this_thread() -> Probe {
        thread_local! {
            static PROBE: Probe = Probe::new();
        }
        PROBE.try_with(Probe::clone).unwrap_or_else(|_| Probe::new())
    }

    fn new() -> Probe {
        let this = std::thread::current();
        // What the standard library calls those without a name when they panic.
        let name = this.name().unwrap_or("<unnamed>").into();
        Probe { thread: procfs::Thread::this(), name }
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// What the thread does, and what it has used so far; `None` if that cannot be known.
    pub(crate) fn sample(&self) -> Option<Usage> {
        Some(Usage { state: self.thread.state()?, times: self.thread.times() })
    }

    /// The system call that the thread is in; `None` if it is in none, or that cannot be known.
    pub(crate) fn system_call(&self) -> Option<SystemCall> {
        self.thread.system_call()
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a thread was doing at one moment, and what it had used until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    state: State,
    /// Not every system that tells the state tells these.
    times: Option<Times>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "procfs alone makes one"))]
enum State {
    /// On a CPU, or it would be if there were one for it.
    Runnable,
    /// It waits for something else than a CPU.
    Asleep,
    /// Stopped by a debugger, ending, or in a state that is not known here.
    Other,
}

/// Both from the thread's beginning on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "procfs alone makes one"))]
struct Times {
    on_cpu: Duration,
    /// Runnable, and waiting for a CPU. A wait that goes on is not counted before it is over, so
    /// of a thread that has long been preempted only its state tells.
    waiting: Duration,
}

/// What has kept a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    /// It waits for something and leaves its CPU to others.
    Blocked,
    /// It computes, or would if it were given a CPU.
    Burning,
    Unknown,
}

impl Usage {
    /// What the thread has done since `earlier`, which was taken so long ago.
    ///
    /// One that sleeps now and then between its computations burns if those took half of the time.
    /// One that is runnable burns whatever it used: it takes a CPU from whoever else is to run.
    pub(crate) fn since(&self, earlier: &Usage, elapsed: Duration) -> Activity {
        let (Some(now), Some(then)) = (self.times, earlier.times) else { return self.activity() };
        let used = now.total().saturating_sub(then.total());
        if !elapsed.is_zero() && used >= elapsed / 2 {
            return Activity::Burning;
        }
        self.activity()
    }

    /// What this sample alone says: what the thread is doing, not what it has been doing.
    pub(crate) fn activity(&self) -> Activity {
        match self.state {
            State::Runnable => Activity::Burning,
            State::Asleep => Activity::Blocked,
            State::Other => Activity::Unknown,
        }
    }
}

impl Times {
    fn total(self) -> Duration {
        self.on_cpu.saturating_add(self.waiting)
    }
}
