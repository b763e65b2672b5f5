//! Seats: the right to run. `seats/README.md` specifies the protocol.
//!
//! A runtime has as many seats as it was asked for workers, and a worker runs tasks only while it
//! sits on one. It also sleeps there: a thread that wakes a seat wakes its worker, or calls a
//! spare. So the idle protocol is about seats, not about workers or threads.

#[cfg(all(test, loom))]
mod loom_tests;

use crate::canary;
use crate::env::Parker;
use crossbeam_utils::CachePadded;
use heist_sync::{AtomicU64, Barrier, Ordering};
use std::fmt;
use std::sync::Arc;

pub(super) struct Seat {
    word: AtomicU64,
    /// The worker whose home this is.
    home: u32,
    /// Where the worker that sits here sleeps.
    parker: Arc<CachePadded<Parker>>,
    /// Where the base worker waits for its seat.
    return_parker: Parker,
    barrier: Barrier,
}

/// Which worker holds a seat, and what is asked of it. There is room for one number (L7).
///
/// | bits | field |
/// |---|---|
/// | 0..32 | the number of the worker that sits here, or VACANT, CALLED, UNSTAFFED |
/// | 32 | WANTED: sysmon asks for the seat; set and cleared with a worker's number only |
/// | 33 | RECALLED: the base worker waits for it; only with the number of another worker |
/// | 34 | GETTING_UP: the worker sleeps, and wants to get up; only with a worker's number |
/// | 35 | DOWN: the runtime shuts down; never cleared |
/// | 36 | AT_JOB: the worker runs a job; the seat can be borrowed for a task |
/// | 37 | BORROWED: from the lender, which runs a job; with CALLED or another worker's number |
/// | 38..64 | the lender's number; 0 without BORROWED |
#[derive(Clone, Copy, PartialEq, Eq)]
struct Word(u64);

// The layout of `Word`.
const OCCUPANT_MASK: u64 = u32::MAX as u64;
const WANTED: u64 = 1 << 32;
const RECALLED: u64 = 1 << 33;
const GETTING_UP: u64 = 1 << 34;
const DOWN: u64 = 1 << 35;
const AT_JOB: u64 = 1 << 36;
const BORROWED: u64 = 1 << 37;
const LENDER_SHIFT: u32 = 38;
const LENDING: u64 = !(BORROWED - 1);

// What the layout has instead of a worker's number while no worker sits here. VACANT: for the idle
// protocol the seat sleeps, or is about to. CALLED: a spare worker has been called. UNSTAFFED: no
// spare worker could be found.
const VACANT: u32 = u32::MAX;
const CALLED: u32 = u32::MAX - 1;
const UNSTAFFED: u32 = u32::MAX - 2;

impl Word {
    fn occupant(self) -> u32 {
        (self.0 & OCCUPANT_MASK) as u32
    }

    fn has(self, flag: u64) -> bool {
        self.0 & flag != 0
    }

    /// The word of another worker, of which nothing is asked. DOWN stays.
    fn passed_to(self, occupant: u32) -> Word {
        Word(u64::from(occupant) | self.0 & DOWN)
    }

    fn with(self, flag: u64) -> Word {
        Word(self.0 | flag)
    }

    fn without(self, flags: u64) -> Word {
        Word(self.0 & !flags)
    }

    /// Borrowed from the worker that holds it.
    fn lent(self) -> Word {
        let lending = u64::from(self.occupant()) << LENDER_SHIFT | BORROWED;
        self.passed_to(CALLED).with(lending)
    }

    /// The worker that it is borrowed from.
    fn lender(self) -> Option<u32> {
        self.has(BORROWED).then_some((self.0 >> LENDER_SHIFT) as u32)
    }

    /// Back to the lender, which is at its job.
    fn given_back(self) -> Option<Word> {
        self.lender().map(|lender| self.passed_to(lender).with(AT_JOB))
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.occupant() {
            VACANT => f.write_str("VACANT")?,
            CALLED => f.write_str("CALLED")?,
            UNSTAFFED => f.write_str("UNSTAFFED")?,
            worker => write!(f, "worker {worker}")?,
        }
        let flags = [
            (WANTED, "WANTED"),
            (RECALLED, "RECALLED"),
            (GETTING_UP, "GETTING_UP"),
            (DOWN, "DOWN"),
            (AT_JOB, "AT_JOB"),
            (BORROWED, "BORROWED"),
        ];
        flags
            .iter()
            .filter(|(flag, _)| self.has(*flag))
            .try_for_each(|(_, name)| write!(f, "+{name}"))?;
        self.lender().map_or(Ok(()), |lender| write!(f, " of {lender}"))
    }
}

/// What a worker that was disturbed finds out.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Disturbance {
    /// Nothing that concerns it: it goes on.
    None,
    /// The seat is not its own any more.
    Lost,
    /// The runtime shuts down.
    Down,
}

/// What becomes of a seat that is given up.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Left {
    /// It is vacant. It must be put to sleep.
    Vacant,
    /// The base worker, which waited for it, has it; or the lender, which is at a job.
    Handed,
    /// It stays with the worker: the runtime shuts down.
    Kept,
    /// It was lost before.
    Lost,
}

/// For which worker a seat was taken from a worker that is at a job.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Borrowed {
    /// For a spare worker, which must be called.
    ForSpare,
    /// For the base worker, which has been waiting.
    ForHome,
    /// It was not.
    No,
}

/// How a worker finds a seat that it would like to have back.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Back {
    /// It holds the seat, which is parked: the seat must be woken, and the worker
    /// [`has_got_up`](Seat::has_got_up).
    Asleep,
    /// It sits there.
    Busy,
    /// Another worker holds it.
    Taken,
    /// The runtime shuts down.
    Down,
}

/// For the worker that sits here.
impl Seat {
    /// The home of this worker. Its holder sleeps in `parker`.
    pub(super) fn new(home: usize, barrier: Barrier, parker: Arc<CachePadded<Parker>>) -> Self {
        let home = home as u32;
        Seat {
            word: AtomicU64::new(u64::from(home)),
            home,
            parker,
            return_parker: Parker::new(),
            barrier,
        }
    }

    /// Whether `worker` holds this seat and nothing is asked of it. To be called after it has
    /// stored its next tick.
    #[inline]
    pub(super) fn is_undisturbed(&self, worker: u32) -> bool {
        if !canary::SEAT_NO_LIGHT_BARRIER.sings() {
            self.barrier.light();
        }
        // Relaxed: ordered after the tick by the barrier, which pairs with the heavy one in rob().
        // A worker that goes on has sat here before, and has seen all that it needs.
        self.word.load(Ordering::Relaxed) == u64::from(worker)
    }

    /// The same, whether or not it has [begun a job](Self::begin_job).
    #[inline]
    pub(super) fn is_left_to(&self, worker: u32) -> bool {
        self.barrier.light();
        // Relaxed: as in is_undisturbed().
        self.word.load(Ordering::Relaxed) & !AT_JOB == u64::from(worker)
    }

    /// Something is asked of `worker`: it answers, between two tasks.
    #[cold]
    pub(super) fn answer(&self, worker: u32) -> Disturbance {
        loop {
            let word = self.load();
            if word.has(DOWN) {
                return Disturbance::Down;
            }
            if canary::SEAT_LENDER_GOES_ON.sings() && word.lender() == Some(worker) {
                return Disturbance::None;
            }
            if word.occupant() != worker {
                // The base worker asks for it, by recall(). A spare has no more right to it than
                // the holder.
                if worker == self.home || self.try_end_lending(word, worker) {
                    return Disturbance::Lost;
                }
                continue;
            }
            if canary::SEAT_NO_CONTEST.sings() {
                return Disturbance::None;
            }
            if word.has(RECALLED) {
                if self.give_up(word).is_some() {
                    return Disturbance::Lost;
                }
                continue;
            }
            let calm = word.without(WANTED).without(AT_JOB);
            if calm == word || self.exchange(word, calm) {
                return Disturbance::None;
            }
        }
    }

    /// `worker` gives the seat up: in the middle of a poll, or because it has nothing to do.
    pub(super) fn leave(&self, worker: u32) -> Left {
        loop {
            let word = self.load();
            if word.occupant() != worker {
                if self.try_end_lending(word, worker) {
                    return Left::Lost;
                }
                continue;
            }
            if word.has(DOWN) {
                return Left::Kept;
            }
            if let Some(left) = self.give_up(word) {
                return left;
            }
        }
    }

    /// If the seat is borrowed from `worker`, the borrower may keep it from now on. Returns `false`
    /// if the word has changed.
    fn try_end_lending(&self, word: Word, worker: u32) -> bool {
        let is_lender = word.lender() == Some(worker) && !canary::SEAT_LENDER_GONE.sings();
        !is_lender || self.exchange(word, word.without(LENDING))
    }

    /// Passes the seat to the base worker if that waits, or to the lender; otherwise it is vacant.
    /// Returns `None` if the word has changed.
    fn give_up(&self, word: Word) -> Option<Left> {
        let (new, left) = match (word.has(RECALLED), word.given_back()) {
            (true, _) => (word.passed_to(self.home), Left::Handed),
            (false, Some(given_back)) => (given_back, Left::Handed),
            (false, None) => (word.passed_to(VACANT), Left::Vacant),
        };
        let won = self.exchange(word, new);
        if won && word.has(RECALLED) && !canary::SEAT_HAND_OVER_SILENT.sings() {
            self.return_parker.unpark();
        }
        won.then_some(left)
    }

    /// `worker` begins a job, and leaves nothing in its slot until it has [answered](Self::answer).
    /// Returns `false` if it does not hold this seat, or the runtime shuts down.
    pub(super) fn begin_job(&self, worker: u32) -> bool {
        loop {
            let word = self.load();
            if word.occupant() != worker || word.has(DOWN) {
                return false;
            }
            if self.exchange(word, word.with(AT_JOB)) {
                return true;
            }
        }
    }

    /// The worker that sits here sleeps until the seat is woken.
    pub(super) fn sleep(&self) {
        self.parker.park();
    }

    /// The worker that sleeps here wants to get up though it was not woken.
    pub(super) fn begin_to_get_up(&self) {
        // Relaxed: ordered before the look at the counts by the barrier in idle.get_up(), as in
        // come_back().
        self.word.fetch_or(GETTING_UP, Ordering::Relaxed);
    }

    /// It has been woken, or has got up, after it took the seat in its sleep.
    pub(super) fn has_got_up(&self) {
        // Relaxed: it tells threads that look for sleepers that this worker is none.
        self.word.fetch_and(!GETTING_UP, Ordering::Relaxed);
    }
}

/// For workers that have no seat.
impl Seat {
    /// `worker` wants to have the seat that it held before.
    pub(super) fn come_back(&self, worker: u32) -> Back {
        loop {
            let word = self.load();
            if word.has(DOWN) {
                return Back::Down;
            }
            let seated = word.passed_to(worker);
            let (seated, back) = match word.occupant() {
                VACANT => (seated.with(GETTING_UP), Back::Asleep),
                CALLED | UNSTAFFED => (seated, Back::Busy),
                // It was given the seat: only a base worker is. If it was borrowed, answer() is
                // next.
                occupant if occupant == worker => return Back::Busy,
                _ => return Back::Taken,
            };
            if self.exchange(word, seated) {
                return back;
            }
        }
    }

    /// The base worker asks the holder for its seat (L6). Returns `false` if there is none any
    /// more.
    #[must_use = "nobody may sit here any more"]
    pub(super) fn recall(&self) -> bool {
        let word = self.load();
        let is_held =
            !matches!(word.occupant(), VACANT | CALLED | UNSTAFFED) && word.occupant() != self.home;
        is_held && self.exchange(word, word.with(RECALLED))
    }

    /// The base worker waits for its seat. It may wake up for nothing.
    pub(super) fn wait_for_return(&self) {
        self.return_parker.park();
    }

    /// A spare that was called takes the seat. Returns `false` if it is too late.
    #[must_use = "it may be too late"]
    pub(super) fn sit_down(&self, spare: u32) -> bool {
        loop {
            let word = self.load();
            // Unstaffed too: another may have been called for, in vain, before this one came.
            if !matches!(word.occupant(), CALLED | UNSTAFFED) || word.has(DOWN) {
                return false;
            }
            // If that fails, the lender may have given up its right, and no other worker will come.
            if self.exchange(word, word.passed_to(spare).with(word.0 & LENDING)) {
                return true;
            }
        }
    }

    /// The spare that was called does not come. Nothing happens if it is not needed any more.
    pub(super) fn not_staffed(&self) {
        loop {
            let word = self.load();
            let nobody = word.given_back().unwrap_or(word.passed_to(UNSTAFFED));
            // As in sit_down().
            if word.occupant() != CALLED || self.exchange(word, nobody) {
                return;
            }
        }
    }
}

/// For all others.
impl Seat {
    /// Wakes the worker that sleeps here, if need be with `interrupt`. Returns `true` if there is
    /// none, and a spare must be called. To be called by the thread that has cleared the seat's
    /// bit.
    #[must_use = "a spare may have to be called"]
    pub(super) fn wake(&self, interrupt: impl FnOnce()) -> bool {
        loop {
            let word = self.load();
            if word.occupant() != VACANT {
                self.parker.unpark_or(interrupt);
                return false;
            }
            if self.exchange(word, word.passed_to(CALLED)) {
                return !word.has(DOWN);
            }
        }
    }

    /// Whether the worker has to get up though nothing was submitted.
    pub(super) fn is_getting_up(&self) -> bool {
        self.load().has(GETTING_UP) && !canary::SEAT_GETTING_UP_UNSEEN.sings()
    }

    /// Whether the base worker waits until the holder leaves.
    pub(super) fn is_recalled(&self) -> bool {
        self.load().has(RECALLED)
    }

    /// Whether the holder runs a job.
    pub(super) fn is_at_job(&self) -> bool {
        self.load().has(AT_JOB)
    }

    /// Whether no worker will look for tasks here soon: the holder runs a job, or the spare that
    /// was called has not come yet, perhaps for want of a core.
    #[inline]
    pub(super) fn ignores_tasks(&self) -> bool {
        // Relaxed: borrow() looks again.
        let word = Word(self.word.load(Ordering::Relaxed));
        word.has(AT_JOB) || word.occupant() == CALLED
    }

    /// Takes the seat from a worker that runs a job (F3): for the base worker if that waits for it,
    /// otherwise for a spare, which has to give it back.
    pub(super) fn borrow(&self) -> Borrowed {
        loop {
            let word = self.load();
            if !word.has(AT_JOB) || word.has(DOWN) {
                return Borrowed::No;
            }
            if word.has(RECALLED) {
                if self.give_up(word).is_some() {
                    return Borrowed::ForHome;
                }
            } else if self.exchange(word, word.lent()) {
                return Borrowed::ForSpare;
            }
        }
    }

    /// The worker at a job that the seat is borrowed from.
    pub(super) fn lender(&self) -> Option<usize> {
        self.load().lender().map(|lender| lender as usize)
    }

    /// Sysmon has found the lender stuck in its job: the borrower may keep the seat, and takes
    /// jobs, too.
    pub(super) fn end_lending(&self, lender: usize) {
        while !self.try_end_lending(self.load(), lender as u32) {}
    }

    /// Whether it is borrowed from a worker that runs a job.
    pub(super) fn is_borrowed(&self) -> bool {
        self.load().has(BORROWED)
    }

    /// Whether the base worker sits here.
    pub(super) fn is_home(&self) -> bool {
        self.load().occupant() == self.home
    }

    /// The worker that holds this seat, if any does.
    pub(super) fn holder(&self) -> Option<usize> {
        let occupant = self.load().occupant();
        (!matches!(occupant, VACANT | CALLED | UNSTAFFED)).then_some(occupant as usize)
    }

    /// Whether no spare could be found for it.
    pub(super) fn is_unstaffed(&self) -> bool {
        self.load().occupant() == UNSTAFFED
    }

    /// Sysmon tries again to find a spare. If it returns `true`, the seat is vacant and must be put
    /// to sleep.
    #[must_use = "the seat may have to be put to sleep"]
    pub(super) fn try_again(&self) -> bool {
        let word = self.load();
        word.occupant() == UNSTAFFED
            && !word.has(DOWN)
            && self.exchange(word, word.passed_to(VACANT))
    }

    /// Sysmon takes the seat from `worker` (L2), unless that is not stuck after all.
    pub(super) fn rob(&self, worker: u32, is_stuck: impl FnOnce() -> bool) -> Left {
        let word = self.load();
        if word.occupant() != worker || word.has(GETTING_UP) {
            return Left::Lost;
        }
        if word.has(DOWN) || !self.exchange(word, word.with(WANTED)) {
            return Left::Kept;
        }
        let has_barrier = canary::SEAT_NO_HEAVY_BARRIER.sings() || self.barrier.heavy();
        let is_stuck = has_barrier && is_stuck();
        loop {
            let word = self.load();
            if word.occupant() != worker || !word.has(WANTED) {
                return Left::Kept;
            }
            if !is_stuck || word.has(DOWN) {
                if self.exchange(word, word.without(WANTED)) {
                    return Left::Kept;
                }
                continue;
            }
            if let Some(left) = self.give_up(word) {
                return left;
            }
        }
    }

    /// The runtime shuts down: tells the worker that holds the seat or waits for it.
    pub(super) fn close(&self) {
        // Release: pairs with the Acquire in load(); that the runtime is down was stored before.
        self.word.fetch_or(DOWN, Ordering::Release);
        if !canary::SEAT_CLOSE_SILENT.sings() {
            self.return_parker.unpark();
        }
    }

    /// Whether it has been told that the runtime shuts down.
    pub(super) fn is_closed(&self) -> bool {
        self.load().has(DOWN)
    }

    fn load(&self) -> Word {
        // Acquire: pairs with the Release in exchange().
        Word(self.word.load(Ordering::Acquire))
    }

    fn exchange(&self, old: Word, new: Word) -> bool {
        // AcqRel: pairs with itself; a worker that gets a seat sees what its last holder did.
        self.word.compare_exchange(old.0, new.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

/// For workers without threads, which only seem to sleep.
#[cfg(all(test, not(loom)))]
impl Seat {
    pub(super) fn is_vacant(&self) -> bool {
        self.load().occupant() == VACANT
    }

    pub(super) fn is_woken(&self) -> bool {
        self.parker.is_notified()
    }

    pub(super) fn try_sleep(&self) -> bool {
        self.parker.try_park()
    }
}
