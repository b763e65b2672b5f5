//! Time slices of threads that share a core with others.
//!
//! A thread that wakes up on a busy core gets the core at the end of the running thread's time
//! slice, or when the system prefers it: up to 3 ms later by default. Since 6.12, Linux lets
//! threads request short slices. Such a thread gets as much of the core as before, but gets it
//! sooner and returns it sooner. Threads on the same core are interrupted sooner too.
//!
//! Threads and processes inherit the slice from their starter. There is a flag against that, but a
//! thread that has set it cannot change its policy any more. Therefore this crate restores the
//! usual slice before it starts threads and processes; tasks that start threads themselves pass on
//! the short one.

/// Gives the calling thread short slices until [`lengthen`], because it runs tasks while other
/// threads have the cores for jobs (F3). Nothing changes where the system does not support it,
/// where the user has given the thread a policy or a higher priority, or where system calls are
/// filtered, because a filter may kill the process for such a call.
#[inline]
pub(crate) fn shorten() {
    system::shorten();
}

/// Gives the calling thread slices of the usual length again.
#[inline]
pub(crate) fn lengthen() {
    system::lengthen();
}

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
mod system {
    use rustix::thread::{SecureComputingMode, secure_computing_mode};
    use std::cell::Cell;
    use std::time::Duration;

    /// The shortest possible slice.
    const SHORTEST_SLICE: Duration = Duration::from_micros(100);

    /// What this module has changed about a thread.
    #[derive(Clone, Copy)]
    enum Turns {
        AsFound,
        Short {
            usual: Duration,
        },
        /// The slice cannot or must not be shortened.
        Fixed,
    }

    thread_local! {
        static TURNS: Cell<Turns> = const { Cell::new(Turns::AsFound) };
    }

    #[inline]
    pub(super) fn shorten() {
        if let Turns::AsFound = TURNS.get() {
            TURNS.set(try_shorten().map_or(Turns::Fixed, |usual| Turns::Short { usual }));
        }
    }

    #[inline]
    pub(super) fn lengthen() {
        if let Turns::Short { usual } = TURNS.get() {
            TURNS.set(try_lengthen(usual).map_or(Turns::Fixed, |()| Turns::AsFound));
        }
    }

    /// Returns the previous length.
    #[cold]
    fn try_shorten() -> Option<Duration> {
        let attributes = Attributes::of_this_thread()?;
        let is_usual = attributes.policy() == libc::SCHED_OTHER && attributes.0.sched_nice >= 0;
        let usual = attributes.turn();
        let is_short =
            usual > SHORTEST_SLICE && is_usual && attributes.with_turn(SHORTEST_SLICE).apply();
        is_short.then_some(usual)
    }

    #[cold]
    fn try_lengthen(usual: Duration) -> Option<()> {
        let attributes = Attributes::of_this_thread()?;
        // Otherwise the user's code has changed the slice meanwhile.
        let is_ours = attributes.turn() == SHORTEST_SLICE
            && matches!(attributes.policy(), libc::SCHED_OTHER | libc::SCHED_BATCH);
        (is_ours && attributes.with_turn(usual).apply()).then_some(())
    }

    struct Attributes(libc::sched_attr);

    impl Attributes {
        const SIZE: u32 = size_of::<libc::sched_attr>() as u32;

        /// Returns `None` if they are not available.
        fn of_this_thread() -> Option<Self> {
            if !matches!(secure_computing_mode(), Ok(SecureComputingMode::Disabled)) {
                return None;
            }
            let mut attributes = libc::sched_attr {
                size: Self::SIZE,
                sched_policy: 0,
                sched_flags: 0,
                sched_nice: 0,
                sched_priority: 0,
                sched_runtime: 0,
                sched_deadline: 0,
                sched_period: 0,
            };
            let place = &raw mut attributes;
            // SAFETY: (FFI) sched_getattr(0, place, size, flags) writes at most `size` bytes, which
            // are there.
            let answer = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, place, Self::SIZE, 0) };
            (answer == 0).then_some(Attributes(attributes))
        }

        fn policy(&self) -> i32 {
            self.0.sched_policy as i32
        }

        /// Does nothing where the system does not support it.
        fn turn(&self) -> Duration {
            Duration::from_nanos(self.0.sched_runtime)
        }

        fn with_turn(mut self, turn: Duration) -> Self {
            self.0.size = Self::SIZE;
            self.0.sched_runtime = turn.as_nanos() as u64;
            self
        }

        fn apply(&self) -> bool {
            let place = &raw const self.0;
            // SAFETY: (FFI) sched_setattr(0, place, flags) reads as many bytes as their first four
            // say.
            unsafe { libc::syscall(libc::SYS_sched_setattr, 0, place, 0) == 0 }
        }
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
mod system {
    pub(super) fn shorten() {}

    pub(super) fn lengthen() {}
}
