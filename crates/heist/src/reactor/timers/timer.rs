//! A timer: what a `Sleep` and the wheel that it is registered with have in common.

use super::time::{Tick, Time};
use crate::canary;
use heist_sync::{AtomicU32, Mutex, MutexGuard, Ordering};
use std::sync::PoisonError;
use std::task::Waker;

/// One deadline and who waits for it. It has one owner, the `Sleep`, which polls, resets and cancels it
/// and has it registered; and wheels, which hold entries for it, of which the last one counts.
///
/// The lock is held for a few instructions, and no code of others runs meanwhile: wakers are cloned, called
/// and dropped outside. Whoever holds the lock of a wheel may take it, not the other way round.
// Looks for dead entries read the number and no more, and then drop what is dead: it comes first, beside the
// count of references, mostly in the same cache line.
#[repr(C)]
pub(crate) struct Timer {
    /// The number of the entry that counts; those with another are dead. Written by the owner, with the
    /// lock; read without it where being late does no harm.
    generation: AtomicU32,
    state: Mutex<State>,
}

struct State {
    deadline: Time,
    /// When the wheel comes to its entry, at the latest.
    visit: Tick,
    phase: Phase,
    waker: Option<Waker>,
}

/// | phase | an entry counts | what a poll does |
/// |---|---|---|
/// | Resting | no | registers |
/// | Waiting | yes | leaves its waker |
/// | Fired | no | is ready |
/// | Closed | no | registers with another runtime, or fails |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Resting,
    Waiting,
    Fired,
    Closed,
}

/// Which entry a wheel is to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryOf {
    /// The first of a timer that was made for it: [`Timer::entered`].
    New,
    /// One of a timer that others may know.
    Known,
}

/// What the owner finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Polled {
    /// The deadline has passed.
    Fired,
    /// The waker will be called.
    Waiting,
    /// It is registered nowhere.
    Resting,
    /// The runtime that it was registered with has gone down.
    Closed,
}

/// What a wheel finds when it comes to an entry.
#[must_use]
pub(super) enum Visit {
    /// The entry does not count any more.
    Dead,
    Fired(Option<Waker>),
    /// The deadline has not come, or was moved: the entry is for this tick now.
    Later(Tick),
}

impl Timer {
    /// One that is registered nowhere. `waker` is called when it has been and fires.
    #[cfg(test)]
    pub(crate) fn new(waker: Waker) -> Self {
        let state = State {
            deadline: Time::NEVER,
            visit: Tick(0),
            phase: Phase::Resting,
            waker: Some(waker),
        };
        Timer { generation: AtomicU32::new(0), state: Mutex::new(state) }
    }

    /// One that waits for `deadline`, and is about to be registered, as [`EntryOf::New`]: nobody else knows it, so
    /// that needs no lock.
    pub(crate) fn entered(waker: Waker, deadline: Time) -> Self {
        let visit = Tick::after(deadline);
        let state = State { deadline, visit, phase: Phase::Waiting, waker: Some(waker) };
        Timer { generation: AtomicU32::new(Self::FIRST), state: Mutex::new(state) }
    }

    /// The number of its first entry.
    pub(super) const FIRST: u32 = 1;

    /// What has become of it; `waker` is called if that changes.
    pub(crate) fn poll(&self, waker: &Waker) -> Polled {
        let state = self.lock();
        match state.phase {
            Phase::Fired => return Polled::Fired,
            Phase::Waiting if state.waker.as_ref().is_some_and(|old| old.will_wake(waker)) => {
                return Polled::Waiting;
            }
            Phase::Resting | Phase::Waiting | Phase::Closed => drop(state),
        }
        let mut new = Some(waker.clone());
        let mut state = self.lock();
        // It may have fired meanwhile, and called the waker that was there before.
        let polled = match state.phase {
            Phase::Fired if !canary::TIMER_POLL_UNCHECKED.sings() => Polled::Fired,
            Phase::Closed => Polled::Closed,
            Phase::Resting => Polled::Resting,
            Phase::Fired | Phase::Waiting => Polled::Waiting,
        };
        // Closed, too: it may be registered elsewhere next.
        let is_forgotten = polled == Polled::Closed && canary::TIMER_CLOSED_FORGETS.sings();
        if polled != Polled::Fired && !is_forgotten {
            std::mem::swap(&mut state.waker, &mut new);
        }
        drop(state);
        drop(new);
        polled
    }

    /// Whether it has fired, and was not reset since.
    pub(crate) fn has_fired(&self) -> bool {
        self.lock().phase == Phase::Fired
    }

    /// Moves the deadline, if its entry need not be moved: the wheel comes to it before. Else, if it waits,
    /// it must be registered anew; `true` says that. If it does not wait, the next poll registers it.
    #[must_use]
    pub(crate) fn reset(&self, deadline: Time) -> bool {
        let mut state = self.lock();
        if state.phase != Phase::Waiting {
            state.phase = Phase::Resting;
            return false;
        }
        if Tick::after(deadline) < state.visit {
            return true;
        }
        state.deadline = deadline;
        false
    }

    /// Nobody is interested any more: its entry is dead, and its waker dropped. If it is polled all the same,
    /// that registers it.
    pub(crate) fn cancel(&self) {
        drop(self.rest());
    }

    /// As [`cancel`](Self::cancel), by an owner that cannot register it where it waited. Returns whom to wake: the
    /// next poll finds out what to do.
    pub(crate) fn rest(&self) -> Option<Waker> {
        let mut state = self.lock();
        state.phase = Phase::Resting;
        self.next_generation();
        state.waker.take()
    }

    /// It fires at once, by its owner: its deadline had passed when it was to be registered. Returns whom
    /// to wake.
    pub(crate) fn fire(&self) -> Option<Waker> {
        let mut state = self.lock();
        state.phase = Phase::Fired;
        self.next_generation();
        state.waker.take()
    }

    /// A wheel takes an entry for it, which is the one that counts from now on, and comes to it at `visit` at
    /// the latest. Returns the number of the entry.
    pub(super) fn enter(&self, deadline: Time, visit: Tick) -> u32 {
        let mut state = self.lock();
        state.deadline = deadline;
        state.visit = visit;
        state.phase = Phase::Waiting;
        self.next_generation()
    }

    /// A wheel comes to the entry of this number.
    pub(super) fn visit(&self, entry: u32, now: Time) -> Visit {
        let mut state = self.lock();
        if self.is_dead(entry) && !canary::TIMER_VISIT_DEAD.sings() {
            return Visit::Dead;
        }
        if state.deadline <= now && state.deadline != Time::NEVER {
            state.phase = Phase::Fired;
            return Visit::Fired(state.waker.take());
        }
        state.visit = Tick::after(state.deadline);
        Visit::Later(state.visit)
    }

    /// A wheel is closed that has the entry of this number.
    pub(super) fn close(&self, entry: u32) -> Option<Waker> {
        let mut state = self.lock();
        if self.is_dead(entry) {
            return None;
        }
        state.phase = Phase::Closed;
        state.waker.take()
    }

    /// Whether the entry of this number does not count any more. Without the lock the answer may be "it does"
    /// for a moment longer.
    pub(super) fn is_dead(&self, entry: u32) -> bool {
        self.generation.load(Ordering::Relaxed) != entry
    }

    /// With the lock.
    fn next_generation(&self) -> u32 {
        let next = self.generation.load(Ordering::Relaxed).wrapping_add(1);
        self.generation.store(next, Ordering::Relaxed);
        next
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
