//! The cores on which a thread may run, and the one on which it runs.

/// The cores that a thread may use.
#[derive(Clone, Debug)]
pub(crate) struct Cores(system::Cores);

impl Cores {
    /// The cores of the calling thread, or `None` where the system does not tell.
    pub(crate) fn of_this_thread() -> Option<Cores> {
        system::Cores::of_this_thread().map(Cores)
    }

    /// Binds the calling thread to core `number`, modulo the number of cores.
    pub(crate) fn bind_to(&self, number: usize) {
        self.0.bind_to(number);
    }

    /// Lets the calling thread run on all of these cores.
    pub(crate) fn bind_to_all(&self) {
        self.0.bind_to_all();
    }
}

/// The core on which the calling thread runs at this moment, or 0 where the system does not tell.
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
        /// `None` on a machine with more cores than fit into the set.
        pub(super) fn of_this_thread() -> Option<Cores> {
            sched_getaffinity(None).ok().filter(|set| set.count() > 0).map(Cores)
        }

        pub(super) fn bind_to(&self, number: usize) {
            let number = number % self.0.count() as usize;
            let core = (0..CpuSet::MAX_CPU).filter(|core| self.0.is_set(*core)).nth(number);
            let mut set = CpuSet::new();
            core.into_iter().for_each(|core| set.set(core));
            // Fails if the core was taken from the process meanwhile; the thread then stays where
            // it is.
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
