//! A timer: the state that a `Sleep` and the wheel in which it is registered share.

use super::time::{Millis, Time};
use crate::canary;
use heist_sync::{AtomicU32, Mutex, MutexGuard, Ordering};
use std::sync::PoisonError;
use std::task::Waker;

/// One deadline, and the task that waits for it. Its one owner, the `Sleep`, polls, resets, cancels
/// and registers it. Wheels hold entries for it, of which only the latest is valid.
///
/// The lock is held for a few instructions, and no foreign code runs under it: wakers are cloned,
/// called and dropped outside. It may be taken with the lock of a wheel held, but not vice versa.
// Searches for dead entries read only the generation, and then drop what is dead. It comes first,
// usually in the same cache line as the reference count.
#[repr(C)]
pub(crate) struct Timer {
    /// The number of the valid entry; entries with other numbers are dead. Written by the owner
    /// with the lock, and read without it where an outdated value does no harm.
    generation: AtomicU32,
    state: Mutex<TimerState>,
}

struct TimerState {
    deadline: Time,
    /// The latest millisecond at which the wheel reaches its entry.
    visit: Millis,
    phase: Phase,
    waker: Option<Waker>,
}

/// | phase | has a valid entry | what a poll does |
/// |---|---|---|
/// | Resting | no | registers |
/// | Waiting | yes | stores its waker |
/// | Fired | no | is ready |
/// | Closed | no | registers with another runtime, or fails |
/// | Told | no | the same; its waker was called to have it polled once more |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Resting,
    Waiting,
    Fired,
    Closed,
    Told,
}

/// Which entry a wheel adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryOf {
    /// The first entry of a new timer; see [`Timer::entered`].
    New,
    /// An entry of a timer that other threads may know.
    Known,
}

/// The result of a poll by the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Polled {
    /// The deadline has passed.
    Fired,
    /// The waker will be called.
    Waiting,
    /// It is not registered.
    Resting,
    /// The runtime in which it was registered has been shut down.
    Closed,
    /// The same, and it was polled before because of that; see [`Timer::tell`].
    Told,
}

/// The result of reaching an entry.
#[must_use]
pub(super) enum Visit {
    /// The entry is not valid any more.
    Dead,
    Fired(Option<Waker>),
    /// The deadline has not passed, or was moved: the entry belongs to this millisecond now.
    Later(Millis),
}

impl Timer {
    /// Creates a timer that is not registered. `waker` is called when it fires.
    #[cfg(test)]
    pub(crate) fn new(waker: Waker) -> Self {
        let state = TimerState {
            deadline: Time::NEVER,
            visit: Millis(0),
            phase: Phase::Resting,
            waker: Some(waker),
        };
        Timer { generation: AtomicU32::new(0), state: Mutex::new(state) }
    }

    /// Creates a timer that waits for `deadline` and must be registered as [`EntryOf::New`]. No
    /// other thread knows it, so that needs no lock.
    pub(crate) fn entered(waker: Waker, deadline: Time) -> Self {
        let visit = Millis::after(deadline);
        let state = TimerState { deadline, visit, phase: Phase::Waiting, waker: Some(waker) };
        Timer { generation: AtomicU32::new(Self::FIRST), state: Mutex::new(state) }
    }

    /// Protocol: the number of its first entry.
    pub(super) const FIRST: u32 = 1;

    /// Returns its state, and stores `waker` for changes.
    pub(crate) fn poll(&self, waker: &Waker) -> Polled {
        let state = self.lock();
        match state.phase {
            Phase::Fired => return Polled::Fired,
            Phase::Waiting if state.waker.as_ref().is_some_and(|old| old.will_wake(waker)) => {
                return Polled::Waiting;
            }
            Phase::Resting | Phase::Waiting | Phase::Closed | Phase::Told => drop(state),
        }
        let mut new = Some(waker.clone());
        let mut state = self.lock();
        // It may have fired since, and called the previous waker.
        let polled = match state.phase {
            Phase::Fired if !canary::TIMER_POLL_UNCHECKED.sings() => Polled::Fired,
            Phase::Closed => Polled::Closed,
            Phase::Told => Polled::Told,
            Phase::Resting => Polled::Resting,
            Phase::Fired | Phase::Waiting => Polled::Waiting,
        };
        // Also if it is closed, because it may be registered elsewhere next.
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

    /// Moves the deadline if its entry can stay, because the wheel reaches it earlier. Returns
    /// `true` if it waits and must be registered again. If it does not wait, the next poll
    /// registers it.
    #[must_use]
    pub(crate) fn reset(&self, deadline: Time) -> bool {
        let mut state = self.lock();
        if state.phase != Phase::Waiting {
            state.phase = Phase::Resting;
            return false;
        }
        if Millis::after(deadline) < state.visit {
            return true;
        }
        state.deadline = deadline;
        false
    }

    /// Cancels it: its entry is dead, and its waker is dropped. A later poll registers it again.
    pub(crate) fn cancel(&self) {
        drop(self.rest());
    }

    /// Cancels it because its owner cannot register it where it waited. Returns the waker to call,
    /// so that the next poll decides what to do.
    pub(crate) fn rest(&self) -> Option<Waker> {
        let mut state = self.lock();
        state.phase = Phase::Resting;
        self.next_generation();
        state.waker.take()
    }

    /// Marks it as one whose owner is to be polled once more, as the runtime has been shut down.
    pub(crate) fn tell(&self) {
        let waker = {
            let mut state = self.lock();
            state.phase = Phase::Told;
            self.next_generation();
            state.waker.take()
        };
        drop(waker);
    }

    /// Fires it, called by the owner if the deadline had passed when it was registered. Returns the
    /// waker to call.
    pub(crate) fn fire(&self) -> Option<Waker> {
        let mut state = self.lock();
        state.phase = Phase::Fired;
        self.next_generation();
        state.waker.take()
    }

    /// Adds an entry in a wheel, which makes all others invalid. The wheel reaches it at `visit` at
    /// the latest. Returns the number of the entry.
    pub(super) fn enter(&self, deadline: Time, visit: Millis) -> u32 {
        let mut state = self.lock();
        state.deadline = deadline;
        state.visit = visit;
        state.phase = Phase::Waiting;
        self.next_generation()
    }

    /// Called when a wheel reaches the entry with this number.
    pub(super) fn visit(&self, entry: u32, now: Time) -> Visit {
        let mut state = self.lock();
        if self.is_dead(entry) && !canary::TIMER_VISIT_DEAD.sings() {
            return Visit::Dead;
        }
        if state.deadline <= now && state.deadline != Time::NEVER {
            state.phase = Phase::Fired;
            return Visit::Fired(state.waker.take());
        }
        state.visit = Millis::after(state.deadline);
        Visit::Later(state.visit)
    }

    /// Called when a wheel is closed that has the entry with this number.
    pub(super) fn close(&self, entry: u32) -> Option<Waker> {
        let mut state = self.lock();
        if self.is_dead(entry) {
            return None;
        }
        state.phase = Phase::Closed;
        state.waker.take()
    }

    /// Whether the entry with this number is invalid. Without the lock it may seem valid slightly
    /// longer.
    pub(super) fn is_dead(&self, entry: u32) -> bool {
        self.generation.load(Ordering::Relaxed) != entry
    }

    /// Must be called with the lock.
    fn next_generation(&self) -> u32 {
        let next = self.generation.load(Ordering::Relaxed).wrapping_add(1);
        self.generation.store(next, Ordering::Relaxed);
        next
    }

    fn lock(&self) -> MutexGuard<'_, TimerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
