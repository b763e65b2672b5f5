//! The timer wheel: six levels of 64 slots. A slot of the lowest level spans a millisecond, one of
//! the next level 64 of them, and so on: two years in all. Timers that are further away go to the
//! farthest slot, and are moved when that is reached.

use super::list::Links;
use super::time::{Millis, Time};
use super::timer::{End, Node};
use std::ptr::NonNull;
use std::task::Waker;

#[cfg(all(test, not(loom)))]
mod tests;

// Layout: see the module documentation.
const LEVELS: usize = 6;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
const TOP: usize = LEVELS - 1;

/// Layout: how far ahead a timer can be: the whole wheel less one slot of the top level, so that it
/// is never in the current slot.
const REACH: u64 = (1 << (SLOT_BITS * LEVELS as u32)) - (1 << (SLOT_BITS * TOP as u32));

/// Each of its timers waits, and is in one of its lists. A thread that has the wheel may access
/// them (T11).
pub(super) struct Wheel {
    /// All timers up to this millisecond have been taken out of their slots. The current slot is
    /// empty in every level: its timers are in the level below, or in `work`.
    now: Millis,
    /// As many as LEVELS.
    levels: Box<[Level]>,
    /// The timers of the last slot that was opened, which have not been processed yet.
    work: Box<Links>,
}

struct Level {
    /// One bit for each slot that is not empty. A slot from which the last timer has gone keeps its
    /// bit until the wheel comes to it.
    occupied: u64,
    /// For each slot that is not empty, a millisecond before which no timer in it is due.
    earliest: [Millis; SLOTS],
    slots: [Links; SLOTS],
}

// SAFETY: (T11) its timers may be accessed on any thread, one at a time.
unsafe impl Send for Wheel {}

impl Wheel {
    pub(super) fn new(now: Millis) -> Self {
        // Built one by one, because all of them do not fit on a small stack.
        let level = |_| Level {
            occupied: 0,
            earliest: [Millis(0); SLOTS],
            slots: [const { Links::new() }; SLOTS],
        };
        let wheel =
            Wheel { now, levels: (0..LEVELS).map(level).collect(), work: Box::new(Links::new()) };
        wheel.lists().for_each(Links::become_head);
        wheel
    }

    fn lists(&self) -> impl Iterator<Item = &Links> {
        std::iter::once(&*self.work).chain(self.levels.iter().flat_map(|level| &level.slots))
    }

    /// When a timer with this deadline is due, or `None` if the deadline has passed.
    pub(super) fn due(&self, deadline: Time) -> Option<Millis> {
        let due = Millis::after(deadline);
        (due > self.now).then_some(due)
    }

    /// Fires at most `limit` timers whose deadline is not after `now`, and moves a bounded number
    /// of others. Returns whether there may be more.
    pub(super) fn advance(&mut self, now: Time, limit: usize, wakers: &mut Vec<Waker>) -> bool {
        let until = Millis::before(now);
        // Another thread may have advanced the wheel with a later time.
        let now = now.max(self.now.time());
        let mut fired = 0;
        // A timer is moved at most once in each level before it fires.
        for _ in 0..limit.saturating_mul(LEVELS) {
            if fired == limit {
                break;
            }
            let node = loop {
                match take_first(&self.work) {
                    Some(node) => break node,
                    None if self.open_slot(until) => {}
                    None => return false,
                }
            };
            // SAFETY: (T11) it waits, so its owner cannot free it without the wheel.
            let waiting = unsafe { node.as_ref() };
            // SAFETY: (T11) it waits, and this thread has the wheel.
            let deadline = unsafe { waiting.deadline() };
            if deadline <= now && deadline != Time::NEVER {
                // SAFETY: (T11) as above, and it has left its list.
                wakers.push(unsafe { Node::end(node, End::Fired) });
                fired += 1;
            } else {
                // SAFETY: (T11) as above.
                unsafe { self.insert(node, Millis::after(deadline)) };
            }
        }
        self.next().is_some_and(|next| next <= until)
    }

    /// The millisecond before which no timer is due, or `None` without timers. It may be too early,
    /// because of timers that have gone or were moved.
    pub(super) fn next(&mut self) -> Option<Millis> {
        if !self.work.is_empty() {
            return Some(self.now);
        }
        let (level, slot, _) = self.first_slot()?;
        let Level { earliest, slots, .. } = &self.levels[level];
        if level < TOP {
            return Some(earliest[slot]);
        }
        // Timers that are too far away for a slot of their own may be in front of others.
        let all = earliest.iter().zip(slots).filter(|(_, slot)| !slot.is_empty());
        all.map(|(earliest, _)| *earliest).min()
    }

    /// Takes everything out.
    pub(super) fn close(&mut self, wakers: &mut Vec<Waker>) {
        for list in self.lists() {
            while let Some(node) = take_first(list) {
                // SAFETY: (T11) it waits, has left its list, and this thread has the wheel.
                wakers.push(unsafe { Node::end(node, End::Closed) });
            }
        }
    }

    /// The next slot and its first millisecond, from the lowest level with timers. Timers of a
    /// level come before those of the next one, because they are within that level's current slot.
    fn first_slot(&mut self) -> Option<(usize, usize, Millis)> {
        for (level, Level { occupied, slots, .. }) in self.levels.iter_mut().enumerate() {
            let here = self.now.0 >> shift(level);
            while *occupied != 0 {
                let ahead = occupied.rotate_right(here as u32 % SLOTS as u32);
                let number = here + u64::from(ahead.trailing_zeros());
                let slot = number as usize % SLOTS;
                if !slots[slot].is_empty() {
                    return Some((level, slot, Millis(number << shift(level))));
                }
                *occupied &= !(1 << slot);
            }
        }
        None
    }

    /// Opens the next slot, if its first millisecond is not after `until`.
    fn open_slot(&mut self, until: Millis) -> bool {
        match self.first_slot() {
            Some((level, slot, start)) if start <= until => {
                self.now = start;
                let Level { occupied, slots, .. } = &mut self.levels[level];
                *occupied &= !(1 << slot);
                // SAFETY: (T11) both are lists of this wheel.
                unsafe { self.work.take_all(&slots[slot]) };
                true
            }
            _ => {
                self.now = self.now.max(until);
                false
            }
        }
    }

    /// Puts a timer into the slot of `due`, which is after `now`.
    ///
    /// # Safety
    ///
    /// It is in no list, and lives until it has left the wheel. The caller makes it wait, unless it
    /// does.
    pub(super) unsafe fn insert(&mut self, node: NonNull<Node>, due: Millis) {
        debug_assert!(due > self.now);
        let place = due.0.min(self.now.0 + REACH);
        // The highest bit that differs from now determines the level in which it has its own slot.
        let level = ((place ^ self.now.0).ilog2() / SLOT_BITS).min(TOP as u32) as usize;
        let slot = (place >> shift(level)) as usize % SLOTS;
        let Level { occupied, earliest, slots } = &mut self.levels[level];
        if due < earliest[slot] || slots[slot].is_empty() {
            earliest[slot] = due;
        }
        *occupied |= 1 << slot;
        // SAFETY: (T11) as the caller promises.
        unsafe { slots[slot].push(Node::links(node)) };
    }
}

/// Takes the first member out of a list of a wheel that the caller has.
fn take_first(list: &Links) -> Option<NonNull<Node>> {
    let first = list.first()?;
    // SAFETY: (T11) it is in this list, and the caller has the wheel.
    let links = unsafe { &*first };
    // SAFETY: (T11) as above.
    unsafe { links.leave() };
    Some(Node::with_links(first))
}

fn shift(level: usize) -> u32 {
    SLOT_BITS * level as u32
}
