//! How long the turns of a thread are that has to share its core with others.
//!
//! A thread that wakes up where another one runs gets the core when that one has had its turn, or when the system likes it better:
//! up to 3 ms later, by default. Linux has let threads ask for short turns since 6.12. Such a thread gets as much of the core as before, but sooner,
//! and gives it back sooner; and who runs beside it is interrupted sooner, too, also for others.

/// The calling thread shall have short turns, until [`lengthen`]. Where the system does not know of that, or the user has
/// given the thread a policy or a priority, nothing changes.
#[inline]
pub(crate) fn shorten() {
    system::shorten();
}

/// The calling thread shall have turns of the usual length again.
#[inline]
pub(crate) fn lengthen() {
    system::lengthen();
}

#[cfg(all(target_os = "linux", not(loom)))]
mod system {
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
        let usual = attributes.turn()?;
        (usual > SHORT && attributes.with_turn(SHORT).apply()).then_some(usual)
    }

    #[cold]
    fn try_lengthen(usual: Duration) -> Option<()> {
        let attributes = Attributes::of_this_thread()?;
        // Else the thread has got others meanwhile, from code of the user's.
        let is_ours = attributes.turn() == Some(SHORT);
        (is_ours && attributes.with_turn(usual).apply()).then_some(())
    }

    struct Attributes(libc::sched_attr);

    impl Attributes {
        const SIZE: u32 = size_of::<libc::sched_attr>() as u32;

        fn of_this_thread() -> Option<Self> {
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

        /// If the thread is one of the usual kind, and the system tells.
        fn turn(&self) -> Option<Duration> {
            let is_usual =
                self.0.sched_policy == libc::SCHED_OTHER as u32 && self.0.sched_nice >= 0;
            (is_usual && self.0.sched_runtime > 0)
                .then(|| Duration::from_nanos(self.0.sched_runtime))
        }

        /// For the thread only, not for those that it starts.
        fn with_turn(mut self, turn: Duration) -> Self {
            self.0.size = Self::SIZE;
            self.0.sched_runtime = turn.as_nanos() as u64;
            self.0.sched_flags |= libc::SCHED_FLAG_RESET_ON_FORK as u64;
            self
        }

        fn apply(&self) -> bool {
            let place = &raw const self.0;
            // SAFETY: (FFI) sched_setattr(0, place, flags) reads as many bytes as their first four say.
            unsafe { libc::syscall(libc::SYS_sched_setattr, 0, place, 0) == 0 }
        }
    }
}

#[cfg(not(all(target_os = "linux", not(loom))))]
mod system {
    pub(super) fn shorten() {}

    pub(super) fn lengthen() {}
}
