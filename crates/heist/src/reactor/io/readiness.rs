//! The readiness word of a source. Only this file exchanges it.

use super::Ready;
use crate::canary;
use heist_sync::{AtomicU64, Ordering};
use std::fmt;

/// What a source is ready for, and the number of events.
///
/// | bits | field |
/// |---|---|
/// | 0..6 | the bits of [`Ready`]; READ_CLOSED and WRITE_CLOSED are final |
/// | 6 | SHUTDOWN: its runtime has been shut down; never cleared |
/// | 8..64 | the number of events; at one per nanosecond it wraps after two years |
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(u64);

// Layout: see the table of `Word`.
const READY_MASK: u64 = Ready::ALL.bits() as u64;
const SHUTDOWN: u64 = 1 << 6;
const EVENTS_SHIFT: u32 = 8;
const ONE_EVENT: u64 = 1 << EVENTS_SHIFT;

const _: () = assert!(READY_MASK < SHUTDOWN && SHUTDOWN < ONE_EVENT);

impl Word {
    pub(super) fn ready(self) -> Ready {
        Ready::from_bits((self.0 & READY_MASK) as u8)
    }

    pub(super) fn is_shutdown(self) -> bool {
        self.0 & SHUTDOWN != 0
    }

    /// Whether it is ready for something that is `wanted`, or the runtime has been shut down.
    #[inline]
    pub(super) fn ends_wait(self, wanted: Ready) -> bool {
        self.0 & (u64::from(wanted.bits()) | SHUTDOWN) != 0
    }

    pub(super) fn events(self) -> u64 {
        self.0 >> EVENTS_SHIFT
    }

    fn with(self, ready: Ready) -> Word {
        Word(self.0 | u64::from(ready.bits()))
    }

    fn without(self, ready: Ready) -> Word {
        Word(self.0 & !u64::from(ready.bits()))
    }

    fn next_event(self) -> Word {
        Word(self.0.wrapping_add(ONE_EVENT))
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Word")
            .field("events", &self.events())
            .field("ready", &self.ready())
            .field("is_shutdown", &self.is_shutdown())
            .finish()
    }
}

pub(super) struct Readiness(AtomicU64);

impl Readiness {
    /// The state before any event, in which the source is assumed to be `ready`.
    pub(super) fn assumed(ready: Ready) -> Self {
        Readiness(AtomicU64::new(Word(0).with(ready).0))
    }

    pub(super) fn load(&self) -> Word {
        // Acquire: pairs with the Release in exchange(): this thread sees what the reactor saw.
        Word(self.0.load(Ordering::Acquire))
    }

    /// Adds an event.
    pub(super) fn event(&self, ready: Ready) {
        loop {
            let word = self.load();
            if self.exchange(word, word.with(ready).next_event()) {
                return;
            }
        }
    }

    /// Clears `ready` after an operation has returned `WouldBlock`, unless there was an event since
    /// the state was `seen`, which may have set it again.
    pub(super) fn clear(&self, seen: Word, ready: Ready) {
        // It is mostly still as it was seen.
        let mut word = seen;
        while !self.exchange(word, word.without(ready)) {
            word = self.load();
            if word.events() != seen.events() && !canary::READINESS_STALE_CLEAR.sings() {
                return;
            }
        }
    }

    /// Marks that the runtime has been shut down.
    pub(super) fn shut_down(&self) {
        // AcqRel: pairs with the Acquire in load().
        self.0.fetch_or(SHUTDOWN, Ordering::AcqRel);
    }

    fn exchange(&self, old: Word, new: Word) -> bool {
        let success = canary::READINESS_RELAXED.weakens(Ordering::AcqRel);
        // AcqRel: pairs with the Acquire in load(), and with itself: clearing does not hide from
        // the next reader what an earlier event published.
        self.0.compare_exchange(old.0, new.0, success, Ordering::Relaxed).is_ok()
    }
}
