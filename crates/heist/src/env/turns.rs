//! How long the turns of a thread are that has to share its core with others.
//!
//! A thread that wakes up where another one runs gets the core when that one has had its turn, or when the system likes it better:
//! up to 3 ms later, by default. Linux has let threads ask for short turns since 6.12. Such a thread gets as much of the core as before, but sooner,
//! and gives it back sooner; and who runs beside it is interrupted sooner, too, also for others.
//!
//! Threads and processes inherit them from who starts them. There is a flag against that, but who has it once is not allowed to change its policy any more.
//! So threads and processes that are started by this crate are started with turns of the usual length; those that a task starts by itself are not.

/// The calling thread shall have short turns, until [`lengthen`]: it comes for tasks while others have the cores, for jobs (F3). Nothing changes where the system does not know of that, where the user has
/// given the thread a policy or a higher priority, or where calls of the system are filtered: whoever does so may have such a call end in the death of the process.
#[inline]
pub(crate) fn shorten() {
    system::shorten();
}

/// The calling thread shall have turns of the usual length again.
#[inline]
pub(crate) fn lengthen() {
    system::lengthen();
}

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
mod system {
    use rustix::thread::{SecureComputingMode, secure_computing_mode};
    use std::cell::Cell;
    use std::time::Duration;

    /// The shortest there is.
    const SHORT: Duration = Duration::from_micros(100);

    /// What this module has done to a thread.
    #[derive(Clone, Copy)]
    enum Turns {
        AsFound,
        Short {
            usual: Duration,
        },
        /// They cannot be shortened, or shall not be.
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

    /// Returns how long they were.
    #[cold]
    fn try_shorten() -> Option<Duration> {
        let attributes = Attributes::of_this_thread()?;
        let is_usual = attributes.policy() == libc::SCHED_OTHER && attributes.0.sched_nice >= 0;
        let usual = attributes.turn();
        let is_short = usual > SHORT && is_usual && attributes.with_turn(SHORT).apply();
        is_short.then_some(usual)
    }

    #[cold]
    fn try_lengthen(usual: Duration) -> Option<()> {
        let attributes = Attributes::of_this_thread()?;
        // Else code of the user's has asked for something else meanwhile.
        let is_ours = attributes.turn() == SHORT
            && matches!(attributes.policy(), libc::SCHED_OTHER | libc::SCHED_BATCH);
        (is_ours && attributes.with_turn(usual).apply()).then_some(())
    }

    struct Attributes(libc::sched_attr);

    impl Attributes {
        const SIZE: u32 = size_of::<libc::sched_attr>() as u32;

        /// `None` if they are not to be had, or not to be asked for.
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
            // SAFETY: (FFI) sched_getattr(0, place, size, flags) writes so many bytes at most, which are there.
            let answer = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, place, Self::SIZE, 0) };
            (answer == 0).then_some(Attributes(attributes))
        }

        fn policy(&self) -> i32 {
            self.0.sched_policy as i32
        }

        /// Nothing where the system does not know of it.
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
            // SAFETY: (FFI) sched_setattr(0, place, flags) reads as many bytes as their first four say.
            unsafe { libc::syscall(libc::SYS_sched_setattr, 0, place, 0) == 0 }
        }
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
mod system {
    pub(super) fn shorten() {}

    pub(super) fn lengthen() {}
}
