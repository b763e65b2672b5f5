//! Which cores a thread may run on, and on which it does.

/// The cores that a process may use, as the thread saw it that asked.
#[derive(Clone, Debug)]
pub(crate) struct Cores(system::Cores);

impl Cores {
    /// Those of the calling thread; `None` where the system does not tell.
    pub(crate) fn of_this_thread() -> Option<Cores> {
        system::Cores::of_this_thread().map(Cores)
    }

    /// Binds the calling thread to one of them, by its number; beyond the last it begins anew.
    pub(crate) fn bind_to(&self, number: usize) {
        self.0.bind_to(number);
    }

    /// Lets the calling thread run on all of them.
    pub(crate) fn bind_to_all(&self) {
        self.0.bind_to_all();
    }
}

/// The core that the calling thread is on, at this moment; 0 where the system does not tell.
pub(crate) fn this_core() -> usize {
    system::this_core()
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

    pub(super) fn this_core() -> usize {
        sched_getcpu()
    }

    #[derive(Clone, Debug)]
    pub(super) struct Cores(CpuSet);

    impl Cores {
        /// A machine with more cores than the set can tell is not told about.
        pub(super) fn of_this_thread() -> Option<Cores> {
            sched_getaffinity(None).ok().filter(|set| set.count() > 0).map(Cores)
        }

        pub(super) fn bind_to(&self, number: usize) {
            let number = number % self.0.count() as usize;
            let core = (0..CpuSet::MAX_CPU).filter(|core| self.0.is_set(*core)).nth(number);
            let mut set = CpuSet::new();
            core.into_iter().for_each(|core| set.set(core));
            // A core that was taken from the process meanwhile is no reason not to run.
            let _ = sched_setaffinity(None, &set);
        }

        pub(super) fn bind_to_all(&self) {
            // As above.
            let _ = sched_setaffinity(None, &self.0);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn this_core() -> usize {
        0
    }

    #[derive(Clone, Debug)]
    pub(super) struct Cores;

    impl Cores {
        pub(super) fn of_this_thread() -> Option<Cores> {
            None
        }

        pub(super) fn bind_to(&self, _number: usize) {}

        pub(super) fn bind_to_all(&self) {}
    }
}
