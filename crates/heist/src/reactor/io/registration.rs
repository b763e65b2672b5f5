//! Which reactor watches a source. It is chosen by the first one who waits, and may change.

use super::Interest;
use super::source::Source;
use super::sources::{Key, Sources};
use crate::canary;
use heist_sync::{Arc, AtomicU64, Mutex, MutexGuard, Ordering};
use std::io;
use std::os::fd::BorrowedFd;

/// After how many waits in a row from the same other seat a registration moves there. Guessed: often
/// enough that a task that was stolen once does not take its sockets along, and stays.
const MOVE_AFTER: u8 = 4;

/// Where sources can be registered: with reactors, or with a model of them.
pub(super) trait Places {
    /// The seat of the calling worker.
    fn here(&self) -> Option<usize>;
    /// A seat for one who has none.
    fn any(&self) -> usize;
    fn sources(&self, seat: usize) -> &Sources;
    fn watch(
        &self,
        seat: usize,
        fd: BorrowedFd<'_>,
        key: u64,
        interest: Interest,
    ) -> io::Result<()>;
    fn unwatch(&self, seat: usize, fd: BorrowedFd<'_>) -> io::Result<()>;
}

/// Where a source is registered, and who else waits for it.
///
/// | bits | field |
/// |---|---|
/// | 0..16 | seat: whose reactor watches the source, or NONE |
/// | 16..32 | stranger: the other seat that it was last waited for from; only if times is not 0 |
/// | 32..40 | times: how often in a row |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Home(u64);

const SEAT_MASK: u64 = (1 << 16) - 1;
const STRANGER_SHIFT: u32 = 16;
const TIMES_SHIFT: u32 = 32;
/// There is no seat of this number: see `MAX_WORKERS`.
const NONE: u64 = SEAT_MASK;

impl Home {
    fn at(seat: u64) -> Home {
        Home(seat)
    }

    fn seat(self) -> Option<usize> {
        let seat = self.0 & SEAT_MASK;
        (seat != NONE).then_some(seat as usize)
    }

    fn stranger(self) -> usize {
        (self.0 >> STRANGER_SHIFT & SEAT_MASK) as usize
    }

    fn times(self) -> u8 {
        (self.0 >> TIMES_SHIFT) as u8
    }

    /// After one more wait, from `here`.
    fn waited_from(self, here: usize) -> Home {
        let seat = self.0 & SEAT_MASK;
        if seat == here as u64 {
            return Home(seat);
        }
        let times = if self.times() > 0 && self.stranger() == here { self.times() + 1 } else { 1 };
        Home(seat | (here as u64) << STRANGER_SHIFT | u64::from(times) << TIMES_SHIFT)
    }
}

/// What is registered: a source, its descriptor, and what is asked of the reactor.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) source: &'a Arc<Source>,
    pub(super) fd: BorrowedFd<'a>,
    pub(super) interest: Interest,
}

pub(super) struct Registration {
    /// The seat is changed under the lock only.
    home: AtomicU64,
    /// What the reactor knows the source by. Nothing if there is none.
    key: Mutex<Key>,
}

impl Registration {
    pub(super) fn new() -> Self {
        Registration { home: AtomicU64::new(Home::at(NONE).0), key: Mutex::new(Key(0)) }
    }

    pub(super) fn is_registered(&self) -> bool {
        self.load().seat().is_some()
    }

    /// Somebody is about to wait: there must be a reactor that watches, and it should be the right one.
    #[inline]
    pub(super) fn prepare(&self, places: &impl Places, subject: Subject<'_>) -> io::Result<()> {
        let home = self.load();
        let here = places.here();
        if home.seat().is_none() {
            return self.register(places, subject);
        }
        let Some(here) = here else { return Ok(()) };
        let new = home.waited_from(here);
        if new == home {
            return Ok(());
        }
        if new.times() < MOVE_AFTER {
            // Relaxed: a guess at who waits. If another was faster, its guess is as good.
            let relaxed = Ordering::Relaxed;
            let _ = self.home.compare_exchange(home.0, new.0, relaxed, relaxed);
        } else {
            self.move_to(here, places, subject);
        }
        Ok(())
    }

    /// Has it watched, here if this is a worker.
    #[cold]
    pub(super) fn register(&self, places: &impl Places, subject: Subject<'_>) -> io::Result<()> {
        let mut key = self.lock();
        if self.load().seat().is_none() {
            let seat = places.here().unwrap_or_else(|| places.any());
            *key = watch(seat, places, subject)?;
            self.settle(Home::at(seat as u64));
        }
        Ok(())
    }

    /// The new reactor watches before the old one stops. If it cannot, all stays as it is.
    #[cold]
    fn move_to(&self, seat: usize, places: &impl Places, subject: Subject<'_>) {
        let mut key = self.lock();
        let Some(old) = self.load().seat() else { return };
        let mut home = old;
        if old != seat {
            if canary::REGISTRATION_MOVE_FORGETS.sings() {
                places.sources(old).remove(*key);
            }
            if let Ok(new_key) = watch(seat, places, subject) {
                // It is gone from the old reactor whatever the poller says.
                let _ = unwatch(old, places, *key, subject.fd);
                *key = new_key;
                home = seat;
            }
        }
        self.settle(Home::at(home as u64));
    }

    /// No reactor watches it any more, and no event reaches it.
    pub(super) fn deregister(&self, places: &impl Places, fd: BorrowedFd<'_>) -> io::Result<()> {
        let key = self.lock();
        let Some(seat) = self.load().seat() else { return Ok(()) };
        self.settle(Home::at(NONE));
        unwatch(seat, places, *key, fd)
    }

    fn load(&self) -> Home {
        // Acquire: pairs with the Release in settle(): who finds a seat waits after the reactor watches.
        Home(self.home.load(Ordering::Acquire))
    }

    fn settle(&self, home: Home) {
        // Release: pairs with the Acquire in load().
        self.home.store(home.0, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Key> {
        self.key.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn watch(seat: usize, places: &impl Places, subject: Subject<'_>) -> io::Result<Key> {
    let key = places.sources(seat).insert(subject.source)?;
    let watched = places.watch(seat, subject.fd, key.0, subject.interest);
    if watched.is_err() {
        places.sources(seat).remove(key);
    }
    watched.map(|()| key)
}

fn unwatch(seat: usize, places: &impl Places, key: Key, fd: BorrowedFd<'_>) -> io::Result<()> {
    places.sources(seat).remove(key);
    places.unwatch(seat, fd)
}
