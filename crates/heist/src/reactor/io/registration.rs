//! Which reactor watches a source. The first task that waits chooses it, and it may change.

use super::source::{ReadyEvent, Source, Wait};
use super::sources::{Key, Sources};
use super::{Direction, Interest, Ready};
use crate::canary;
use crate::reactor::{Reactors, ShutDown};
use crate::tuning::MOVE_AFTER;
use heist_sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Where sources can be registered: reactors, or a model of them.
pub(super) trait Places {
    /// The seat of the calling worker.
    fn here(&self) -> Option<usize>;
    /// The seat of the calling worker, or any seat for other threads.
    fn here_or_any(&self) -> usize;
    fn sources(&self, seat: usize) -> &Sources;
    /// Whether the reactor of this seat has been left alone for so long that its sources are better
    /// off elsewhere.
    fn is_neglected(&self, seat: usize) -> bool;
    fn watch(
        &self,
        seat: usize,
        fd: BorrowedFd<'_>,
        key: u64,
        interest: Interest,
    ) -> io::Result<()>;
    fn unwatch(&self, seat: usize, fd: BorrowedFd<'_>) -> io::Result<()>;
}

/// Where a source is registered, and from which other seat tasks wait for it.
///
/// | bits | field |
/// |---|---|
/// | 0..16 | seat: the seat whose reactor watches the source, or NONE |
/// | 16..32 | stranger: the other seat from which tasks waited last; valid if times is not 0 |
/// | 32..40 | times: number of consecutive waits from there |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct WatchingSeat(u64);

// Layout: see the table of `WatchingSeat`.
const SEAT_MASK: u64 = (1 << 16) - 1;
const STRANGER_SHIFT: u32 = 16;
const TIMES_SHIFT: u32 = 32;
/// No seat has this number; see `MAX_WORKERS`.
const NONE: u64 = SEAT_MASK;

impl WatchingSeat {
    fn at(seat: u64) -> WatchingSeat {
        WatchingSeat(seat)
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

    /// The value after one more wait from `here`.
    fn waited_from(self, here: usize) -> WatchingSeat {
        let seat = self.0 & SEAT_MASK;
        if seat == here as u64 {
            return WatchingSeat(seat);
        }
        let times = if self.times() > 0 && self.stranger() == here { self.times() + 1 } else { 1 };
        WatchingSeat(seat | (here as u64) << STRANGER_SHIFT | u64::from(times) << TIMES_SHIFT)
    }
}

/// A source, and the reactor that watches it. The owner of the descriptor passes it in where it is
/// needed.
pub(super) struct Registration<P = Reactors> {
    source: Arc<Source>,
    places: Arc<P>,
    /// The seat is changed only under the lock.
    watched_at: AtomicU64,
    /// The key under which the reactor knows the source. Meaningless without a reactor.
    key: Mutex<Key>,
    /// What the reactor watches for.
    interest: Interest,
}

/// Waiting.
impl<P: Places> Registration<P> {
    /// Creates a registration without a reactor, which is assumed to be `ready`.
    pub(super) fn new(places: Arc<P>, interest: Interest, ready: Ready) -> Self {
        Registration {
            source: Arc::new(Source::new(ready)),
            places,
            watched_at: AtomicU64::new(WatchingSeat::at(NONE).0),
            key: Mutex::new(Key(0)),
            interest,
        }
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn places(&self) -> &Arc<P> {
        &self.places
    }

    pub(super) fn is_registered(&self) -> bool {
        self.load().seat().is_some()
    }

    /// Waits in a direction. Replaces the task that waited there before.
    #[inline(always)]
    pub(super) fn poll_ready(
        &self,
        fd: BorrowedFd<'_>,
        direction: Direction,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<ReadyEvent>> {
        match self.source.look(direction.wanted()) {
            Some(event) => Poll::Ready(alive(event)),
            None => self.wait(fd, direction, cx),
        }
    }

    /// The rest of [`poll_ready`](Self::poll_ready), apart from what operations mostly need.
    #[inline(never)]
    fn wait(
        &self,
        fd: BorrowedFd<'_>,
        direction: Direction,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<ReadyEvent>> {
        self.prepare(fd)?;
        self.source.poll(direction, cx).map(alive)
    }

    /// Waits as one of any number of futures.
    pub(super) fn poll_wait(
        &self,
        fd: BorrowedFd<'_>,
        wait: &mut Wait<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<ReadyEvent>> {
        match self.source.look(wait.wanted()) {
            Some(event) => Poll::Ready(alive(event)),
            None => {
                self.prepare(fd)?;
                wait.poll(cx).map(alive)
            }
        }
    }
}

#[inline]
fn alive(event: ReadyEvent) -> io::Result<ReadyEvent> {
    if event.is_shutdown() { Err(ShutDown.into()) } else { Ok(event) }
}

/// Which reactor watches.
impl<P: Places> Registration<P> {
    /// Called before a task waits: makes sure that a reactor watches, preferably this worker's.
    #[inline]
    fn prepare(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let watched_at = self.load();
        if watched_at.seat().is_none() {
            return self.register(fd);
        }
        let Some(here) = self.places.here() else { return Ok(()) };
        let new = watched_at.waited_from(here);
        if new == watched_at {
            return Ok(());
        }
        if new.times() >= MOVE_AFTER || self.is_better_off(new) {
            self.move_to(here, fd);
        } else {
            // Relaxed: this is a heuristic. If another thread was faster, its value is as good.
            let relaxed = Ordering::Relaxed;
            let _ = self.watched_at.compare_exchange(watched_at.0, new.0, relaxed, relaxed);
        }
        Ok(())
    }

    /// Whether its reactor is neglected. Asked after 2, 4, 8 … waits from elsewhere, because the
    /// answer takes a look at the clock, and most tasks are home again after one.
    #[inline]
    fn is_better_off(&self, elsewhere: WatchingSeat) -> bool {
        let is_asked = elsewhere.times() > 1 && elsewhere.times().is_power_of_two();
        is_asked && elsewhere.seat().is_some_and(|seat| self.places.is_neglected(seat))
    }

    /// Registers the source, with the reactor of this worker if the thread is one.
    #[cold]
    pub(super) fn register(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let mut key = self.lock();
        if self.load().seat().is_none() {
            let seat = self.places.here_or_any();
            if canary::REGISTRATION_EARLY.sings() {
                self.settle(WatchingSeat::at(seat as u64));
            }
            *key = self.watch(seat, fd)?;
            self.settle(WatchingSeat::at(seat as u64));
        }
        Ok(())
    }

    /// Moves the registration: the new reactor watches before the old one stops. If the new one
    /// fails, nothing changes.
    #[cold]
    fn move_to(&self, seat: usize, fd: BorrowedFd<'_>) {
        let mut key = self.lock();
        let Some(old) = self.load().seat() else { return };
        let mut watched_at = old;
        if old != seat {
            if let Ok(new_key) = self.watch(seat, fd) {
                // The old reactor forgets it, whatever the poller returns.
                let _ = self.unwatch(old, *key, fd);
                *key = new_key;
                watched_at = seat;
            }
        }
        self.settle(WatchingSeat::at(watched_at as u64));
    }

    /// Deregisters the source, so that no event reaches it any more.
    pub(super) fn deregister(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let key = self.lock();
        let unwatched = match self.load().seat() {
            Some(seat) => self.unwatch(seat, *key, fd),
            None => Ok(()),
        };
        self.settle(WatchingSeat::at(NONE));
        unwatched
    }

    fn watch(&self, seat: usize, fd: BorrowedFd<'_>) -> io::Result<Key> {
        let key = self.places.sources(seat).insert(&self.source)?;
        let watched = self.places.watch(seat, fd, key.0, self.interest);
        if watched.is_err() {
            self.places.sources(seat).remove(key);
        }
        watched.map(|()| key)
    }

    fn unwatch(&self, seat: usize, key: Key, fd: BorrowedFd<'_>) -> io::Result<()> {
        self.places.sources(seat).remove(key);
        self.places.unwatch(seat, fd)
    }

    fn load(&self) -> WatchingSeat {
        // Acquire: pairs with the Release in settle(): if there is a seat, its reactor already
        // watches.
        WatchingSeat(self.watched_at.load(Ordering::Acquire))
    }

    fn settle(&self, watched_at: WatchingSeat) {
        // Release: pairs with the Acquire in load().
        self.watched_at.store(watched_at.0, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Key> {
        self.key.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(all(test, not(loom)))]
impl<P: Places> Registration<P> {
    /// The seat whose reactor watches.
    pub(super) fn seat(&self) -> Option<usize> {
        self.load().seat()
    }
}

#[cfg(all(test, loom))]
impl<P: Places> Registration<P> {
    /// Registers the source as if the first wait had come from this seat.
    pub(super) fn register_at(&self, seat: usize, fd: BorrowedFd<'_>) {
        *self.lock() = self.watch(seat, fd).unwrap();
        self.settle(WatchingSeat::at(seat as u64));
    }

    /// A task has waited from this seat.
    pub(super) fn has_waited_from(&self, seat: usize) {
        self.settle(self.load().waited_from(seat));
    }
}
