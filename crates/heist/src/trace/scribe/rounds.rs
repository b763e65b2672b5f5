//! Idle rounds: a worker is woken repeatedly, finds nothing and sleeps again. They are kept until
//! something else happens, and written as one event. See `../README.md`.

use super::super::draft::Draft;
use super::super::event::EventKind;
use super::super::word::Word;
use super::Scribe;
use crate::metrics::Counter;

/// The maximal duration of a run of rounds in nanoseconds, so that its times remain close to those
/// of its rounds. Guessed.
const LONGEST_RUN: u64 = 20_000_000;
/// A round in which the worker was awake for longer is written separately, because the worker may
/// have had no core. Guessed: far above a search, and below what counts as a wait for a core.
const LONGEST_AWAKE: u64 = 1_000_000;
/// Stands for no time, no position or no seat.
const NONE: u64 = u64::MAX;
/// A single round takes at most five words, and the current one three.
const WORDS: usize = 8;

#[cfg(all(test, not(loom)))]
mod tests;

/// The rounds that are kept. Only the writer accesses them, except for the draft.
pub(super) struct Rounds {
    /// The words that would be written now.
    draft: Draft<WORDS>,
    /// The position of the buffer when the worker began to rest. If it is unchanged, nothing was
    /// written since.
    rested_at: Counter,
    /// The seat that the worker has left in order to rest, or `NONE` if it sleeps on its seat.
    seat: Counter,
    /// The completed rounds: their number, the number with a failed search, the start of the first
    /// and the end of the last, and the time awake.
    rounds: Counter,
    searches: Counter,
    since: Counter,
    until: Counter,
    awake: Counter,
    /// Whether the worker woke up by itself in the first one.
    first_by_itself: Counter,
    /// The current round: its start (`NONE` if the worker rests), whether the worker woke up by
    /// itself, and whether a search has failed.
    woken_at: Counter,
    by_itself: Counter,
    has_searched: Counter,
    /// When the clock would be read next without kept rounds.
    next_reading: Counter,
}

impl Rounds {
    pub(super) fn new() -> Self {
        let rounds = Rounds {
            draft: Draft::new(),
            rested_at: Counter::default(),
            seat: Counter::default(),
            rounds: Counter::default(),
            searches: Counter::default(),
            since: Counter::default(),
            until: Counter::default(),
            awake: Counter::default(),
            first_by_itself: Counter::default(),
            woken_at: Counter::default(),
            by_itself: Counter::default(),
            has_searched: Counter::default(),
            next_reading: Counter::default(),
        };
        rounds.rested_at.set(NONE);
        rounds.woken_at.set(NONE);
        rounds
    }

    fn is_up(&self) -> bool {
        self.woken_at.get() != NONE
    }

    #[inline(always)]
    fn is_anything_kept(&self) -> bool {
        self.rounds.get() > 0 || self.is_up()
    }

    /// The words that would be written now.
    fn words(&self) -> [u64; WORDS] {
        let mut draft = Words::default();
        let seat = self.seat();
        match self.rounds.get() {
            0 => {}
            1 => {
                draft.add_at(self.since.get(), wake_up(seat, self.first_by_itself.get() == 1));
                if self.searches.get() > 0 {
                    draft.add(EventKind::SearchFailed);
                }
                draft.add_at(self.until.get(), rest(seat));
            }
            rounds => {
                let kind = EventKind::IdleRounds {
                    rounds: rounds as u32,
                    searches: self.searches.get() as u32,
                    seat,
                    nanos: self.until.get() - self.since.get(),
                    awake_nanos: self.awake.get(),
                };
                draft.add_at(self.since.get(), kind);
            }
        }
        if self.is_up() {
            draft.add_at(self.woken_at.get(), wake_up(seat, self.by_itself.get() == 1));
            if self.has_searched.get() == 1 {
                draft.add(EventKind::SearchFailed);
            }
        }
        draft.words
    }

    fn seat(&self) -> Option<u16> {
        (self.seat.get() != NONE).then_some(self.seat.get() as u16)
    }

    /// Completes a round.
    fn end_round(&self, now: u64) {
        if self.rounds.get() == 0 {
            self.since.set(self.woken_at.get());
            self.first_by_itself.set(self.by_itself.get());
        }
        self.rounds.add(1);
        self.searches.add(self.has_searched.get());
        self.awake.add(now - self.woken_at.get());
        self.until.set(now);
        self.woken_at.set(NONE);
    }

    fn clear(&self) {
        self.woken_at.set(NONE);
        [&self.rounds, &self.searches, &self.awake].into_iter().for_each(|count| count.set(0));
    }

    /// What readers find.
    pub(super) fn draft(&self) -> Option<(u64, impl Iterator<Item = u64> + use<>)> {
        let (position, words) = self.draft.read()?;
        Some((position, words.into_iter().take_while(|word| *word != 0)))
    }
}

/// The words of a draft.
#[derive(Default)]
struct Words {
    words: [u64; WORDS],
    count: usize,
}

impl Words {
    fn add_at(&mut self, nanos: u64, kind: EventKind) {
        self.push(Word::time(nanos));
        self.add(kind);
    }

    fn add(&mut self, kind: EventKind) {
        let (first, second) = Word::of(kind);
        self.push(first);
        second.into_iter().for_each(|word| self.push(word));
    }

    fn push(&mut self, word: Word) {
        self.words[self.count] = word.0;
        self.count += 1;
    }
}

fn wake_up(seat: Option<u16>, by_itself: bool) -> EventKind {
    match seat {
        Some(seat) => EventKind::SeatTaken { seat },
        None => EventKind::Unpark { by_itself },
    }
}

fn rest(seat: Option<u16>) -> EventKind {
    match seat {
        Some(seat) => EventKind::SeatLeft { seat },
        None => EventKind::Park,
    }
}

/// For a worker that rests and comes back.
impl Scribe {
    /// Called when the worker goes to sleep.
    pub(crate) fn park(&self) {
        self.go_to_rest(None);
    }

    /// Called when the worker wakes up, `by_itself` if no thread woke it.
    pub(crate) fn unpark(&self, by_itself: bool) {
        self.come_back(None, by_itself);
    }

    /// Called when a spare worker takes this seat.
    pub(crate) fn sit_down(&self, seat: u16) {
        self.come_back(Some(seat), false);
    }

    /// Called when a spare worker leaves or has lost this seat. Only the first call is recorded.
    pub(crate) fn leave_seat(&self, seat: u16) {
        if !self.is_at_rest(Some(seat)) {
            self.go_to_rest(Some(seat));
        }
    }

    /// Called when a search has failed.
    pub(crate) fn search_failed(&self) {
        let rounds = &self.rounds;
        if rounds.is_up() && rounds.has_searched.get() == 0 {
            rounds.has_searched.set(1);
            self.replace_draft();
        } else {
            self.note(EventKind::SearchFailed);
        }
    }

    fn go_to_rest(&self, seat: Option<u16>) {
        let rounds = &self.rounds;
        let now = self.nanos();
        let is_round =
            rounds.is_up() && rounds.seat() == seat && now - rounds.woken_at.get() <= LONGEST_AWAKE;
        if is_round {
            rounds.end_round(now);
            self.earn(now);
            self.replace_draft();
            return self.end_long_run(now);
        }
        self.record(rest(seat));
        rounds.seat.set(seat.map_or(NONE, u64::from));
        rounds.rested_at.set(self.buffer.position());
    }

    fn come_back(&self, seat: Option<u16>, by_itself: bool) {
        let rounds = &self.rounds;
        let now = self.nanos();
        // A sleep earns no allowance.
        self.last_reading.set(now);
        if self.is_exact || !self.is_at_rest(seat) {
            if seat.is_some() {
                return self.record(wake_up(seat, by_itself));
            }
            self.begin_pending();
            self.write_rounds();
            return self.write_at(now, wake_up(seat, by_itself));
        }
        self.end_long_run(now);
        if !rounds.is_anything_kept() {
            // Polls take the path of timed polls, which writes the kept rounds.
            rounds.next_reading.set(self.next_reading.get());
            self.next_reading.set(0);
        }
        rounds.woken_at.set(now);
        rounds.by_itself.set(u64::from(by_itself));
        rounds.has_searched.set(0);
        self.replace_draft();
    }

    /// Whether the worker still rests in this way, and nothing was written since.
    fn is_at_rest(&self, seat: Option<u16>) -> bool {
        let rounds = &self.rounds;
        rounds.rested_at.get() == self.buffer.position()
            && rounds.seat() == seat
            && !rounds.is_up()
            && self.pending.get() == 0
    }

    /// Writes the rounds of a resting worker if their run has lasted long enough.
    fn end_long_run(&self, now: u64) {
        let rounds = &self.rounds;
        if rounds.rounds.get() > 0 && now - rounds.since.get() > LONGEST_RUN {
            self.write_kept();
            if now >= self.next_cpu_time.get() {
                self.tell_cpu_time(now);
            }
            rounds.rested_at.set(self.buffer.position());
        }
    }

    /// Writes the kept rounds before other words.
    #[inline(always)]
    pub(super) fn write_rounds(&self) {
        if self.rounds.is_anything_kept() {
            self.write_kept();
        }
    }

    #[cold]
    #[inline(never)]
    fn write_kept(&self) {
        let words = self.rounds.words();
        words.into_iter().take_while(|word| *word != 0).for_each(|word| _ = self.buffer.push(word));
        self.rounds.clear();
        self.next_reading.set(self.rounds.next_reading.get());
    }

    fn replace_draft(&self) {
        self.rounds.draft.replace(self.buffer.position(), self.rounds.words());
    }
}
