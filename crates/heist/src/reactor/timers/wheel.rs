//! The timer wheel: six levels of 64 slots. A slot of the lowest level spans a millisecond, one of
//! the next level 64 of them, and so on: two years in all. Timers that are further away go to the
//! farthest slot, and are moved when that is reached.

use super::slot::{Entry, Slot, Work};
use super::time::{Millis, Time};
use super::timer::{EntryOf, Timer, Visit};
use crate::tuning::TIMER_BATCH;
use std::sync::Arc;
use std::task::Waker;

#[cfg(all(test, not(loom)))]
mod tests;

// Layout: see the module documentation.
const LEVELS: usize = 6;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
const TOP: usize = LEVELS - 1;

/// Layout: how far ahead an entry can be: the whole wheel less one slot of the top level, so that
/// it is never the current slot.
const REACH: u64 = (1 << (SLOT_BITS * LEVELS as u32)) - (1 << (SLOT_BITS * TOP as u32));

/// Protocol: number of entries that each insertion checks in order to drop dead ones. With three,
/// dead entries never outnumber live ones for long; see the README.
const SWEPT: usize = 3;

/// Layout: number of timers that may be kept for reuse even if there are fewer entries, one for
/// each slot of a level.
const FREE_TIMERS: usize = if cfg!(test) { 4 } else { SLOTS };

pub(super) struct Wheel {
    /// All entries up to this millisecond have been taken out of their slots. The current slot is
    /// empty in every level: its entries are in the level below, or in `work`.
    now: Millis,
    /// As many as LEVELS.
    levels: Box<[Level]>,
    /// The entries of the last slot that was opened, which have not been processed yet.
    work: Work,
    /// The position of the next check for dead entries.
    sweeper: Sweeper,
    /// The number of outstanding checks, which are made in batches.
    owed: usize,
    /// Dead entries whose timers have no other owner, and can be reused.
    free: Slot,
    /// The number of entries in slots.
    entries: usize,
}

struct Level {
    /// One bit for each slot that is not empty.
    occupied: u64,
    /// For each slot that is not empty, a millisecond before which no entry in it is due.
    earliest: [Millis; SLOTS],
    slots: [Slot; SLOTS],
}

#[derive(Default, Clone, Copy)]
struct Sweeper {
    level: usize,
    slot: usize,
    index: usize,
}

impl Wheel {
    pub(super) fn new(now: Millis) -> Self {
        // Built one by one, because all of them do not fit on a small stack.
        let level = |_| Level {
            occupied: 0,
            earliest: [Millis(0); SLOTS],
            slots: std::array::from_fn(|_| Slot::default()),
        };
        Wheel {
            now,
            levels: (0..LEVELS).map(level).collect(),
            work: Slot::default().into_work(),
            sweeper: Sweeper::default(),
            owed: 0,
            free: Slot::default(),
            entries: 0,
        }
    }

    /// Adds an entry for `timer` and returns when it is due, or `None` if the deadline has passed.
    pub(super) fn register(
        &mut self,
        timer: &Arc<Timer>,
        deadline: Time,
        entry: EntryOf,
    ) -> Option<Millis> {
        let due = Millis::after(deadline);
        if due <= self.now {
            return None;
        }
        let number = match entry {
            EntryOf::New => Timer::FIRST,
            EntryOf::Known => timer.enter(deadline, due),
        };
        self.insert(Entry { timer: timer.clone(), number }, due);
        self.sweep();
        Some(due)
    }

    /// A timer that can be reused, which has no other owner.
    pub(super) fn take_free(&mut self) -> Option<Arc<Timer>> {
        let last = self.free.len().checked_sub(1)?;
        self.free.swap_remove(last).map(|entry| entry.timer)
    }

    /// Fires at most `limit` timers whose deadline is not after `now`, and processes a bounded
    /// number of other entries. Returns whether there may be more.
    pub(super) fn advance(&mut self, now: Time, limit: usize, wakers: &mut Vec<Waker>) -> bool {
        let until = Millis::before(now);
        // Another thread may have advanced the wheel with a later time.
        let now = now.max(self.now.time());
        let mut fired = 0;
        // An entry is moved at most once in each level before it fires.
        for _ in 0..limit.saturating_mul(LEVELS) {
            if fired == limit {
                break;
            }
            let entry = loop {
                match self.work.next() {
                    Some(entry) => break entry,
                    None if self.open_slot(until) => {}
                    None => return false,
                }
            };
            match entry.timer.visit(entry.number, now) {
                Visit::Dead => {}
                Visit::Later(due) => self.insert(entry, due),
                Visit::Fired(waker) => {
                    fired += 1;
                    wakers.extend(waker);
                }
            }
        }
        self.next().is_some_and(|next| next <= until)
    }

    /// The millisecond before which no entry is due, or `None` without entries. It may be too early
    /// because of dead entries.
    pub(super) fn next(&self) -> Option<Millis> {
        if !self.work.is_done() {
            return Some(self.now);
        }
        let (level, slot, _) = self.first_slot()?;
        let Level { occupied, earliest, .. } = &self.levels[level];
        if level < TOP {
            return Some(earliest[slot]);
        }
        // Entries that are too far away for a slot of their own may be in front of others.
        let all = (0..SLOTS).filter(|slot| occupied & (1 << slot) != 0);
        all.map(|slot| earliest[slot]).min()
    }

    /// Drops dead entries that come next and would cut a sleep short, checking at most `looks`
    /// entries.
    pub(super) fn trim(&mut self, looks: usize) {
        // Timers that have fired have no entries, which lowers the limit for free.
        let _ = (0..looks).all(|_| self.trim_free());
        for _ in 0..looks {
            let Some((level, slot, _)) = self.first_slot() else { return };
            let entries = &self.levels[level].slots[slot];
            let last = entries.len() - 1;
            if !entries.get(last).is_some_and(Entry::is_dead) {
                return;
            }
            self.remove(level, slot, last);
        }
    }

    /// Takes everything out.
    pub(super) fn close(self, wakers: &mut Vec<Waker>) {
        let Wheel { levels, work, .. } = self;
        let slots = levels.into_iter().flat_map(|level| level.slots).flat_map(Slot::into_work);
        wakers.extend(work.chain(slots).filter_map(|entry| entry.timer.close(entry.number)));
    }

    /// The next slot and its first millisecond, from the lowest level with entries. Entries of a
    /// level come before those of the next one, because they are within that level's current slot.
    fn first_slot(&self) -> Option<(usize, usize, Millis)> {
        let level = self.levels.iter().position(|level| level.occupied != 0)?;
        let here = self.now.0 >> shift(level);
        let ahead = self.levels[level].occupied.rotate_right(here as u32 % SLOTS as u32);
        let number = here + u64::from(ahead.trailing_zeros());
        Some((level, number as usize % SLOTS, Millis(number << shift(level))))
    }

    /// Opens the next slot, if its first millisecond is not after `until`.
    fn open_slot(&mut self, until: Millis) -> bool {
        match self.first_slot() {
            Some((level, slot, start)) if start <= until => {
                self.now = start;
                self.levels[level].occupied &= !(1 << slot);
                let slot = std::mem::take(&mut self.levels[level].slots[slot]);
                self.entries -= slot.len();
                self.work = slot.into_work();
                true
            }
            _ => {
                self.now = self.now.max(until);
                false
            }
        }
    }

    /// Puts an entry into the slot of `due`, which is after `now`.
    fn insert(&mut self, entry: Entry, due: Millis) {
        debug_assert!(due > self.now);
        let place = due.0.min(self.now.0 + REACH);
        // The highest bit that differs from now determines the level in which it has its own slot.
        let level = ((place ^ self.now.0).ilog2() / SLOT_BITS).min(TOP as u32) as usize;
        let slot = (place >> shift(level)) as usize % SLOTS;
        let Level { occupied, earliest, slots } = &mut self.levels[level];
        let is_first = *occupied & (1 << slot) == 0;
        if is_first || due < earliest[slot] {
            earliest[slot] = due;
        }
        *occupied |= 1 << slot;
        slots[slot].push(entry);
        self.entries += 1;
    }

    /// Checks the next few entries, cycling over all slots, and drops dead ones.
    fn sweep(&mut self) {
        self.owed += SWEPT;
        if self.owed < TIMER_BATCH {
            return;
        }
        while self.owed > 0 {
            let owed = self.owed;
            let Some(entries) = self.entries_to_sweep() else { break };
            let looked = entries.len().min(owed);
            let alive = dead_last(&mut entries[..looked]);
            let Sweeper { level, slot, index } = self.sweeper;
            // The last first: what takes the place of one has not been looked at.
            (index + alive..index + looked).rev().for_each(|dead| self.remove(level, slot, dead));
            self.sweeper.index += alive;
            self.owed -= looked;
        }
        self.owed = 0;
    }

    /// Some that lie side by side. Goes on to the next slot that is not empty when the end of one
    /// is reached.
    fn entries_to_sweep(&mut self) -> Option<&mut [Entry]> {
        let Sweeper { level, slot, index } = self.sweeper;
        if index >= self.levels[level].slots[slot].len() {
            // Those behind it in its level, then those of the other levels, then all of its own.
            let behind = self.levels[level].occupied & (!1 << slot);
            let others = (level + 1..=level + LEVELS).map(|level| level % LEVELS);
            let others = others.map(|level| (level, self.levels[level].occupied));
            let mut all = std::iter::once((level, behind)).chain(others);
            let (level, occupied) = all.find(|(_, occupied)| *occupied != 0)?;
            self.sweeper = Sweeper { level, slot: occupied.trailing_zeros() as usize, index: 0 };
        }
        let Sweeper { level, slot, index } = self.sweeper;
        Some(self.levels[level].slots[slot].piece_from(index))
    }

    fn remove(&mut self, level: usize, slot: usize, index: usize) {
        let Level { occupied, slots, .. } = &mut self.levels[level];
        let removed = slots[slot].swap_remove(index);
        if slots[slot].is_empty() {
            *occupied &= !(1 << slot);
        }
        self.entries -= 1;
        // If there is no other reference to the timer, there will be none, so it can stay here.
        // Memory that is freed in the order of deadlines, all over the heap, costs the allocator
        // more than the wheel costs altogether.
        if let Some(entry) = removed.filter(|entry| Arc::strong_count(&entry.timer) == 1) {
            self.free.push(entry);
        }
        // One for the entry that is not there any more, and one for the free timer that is.
        let _ = self.trim_free() && self.trim_free();
    }

    /// Drops one if there are too many; whether it did.
    fn trim_free(&mut self) -> bool {
        self.free.len() > self.entries.max(FREE_TIMERS) && self.take_free().is_some()
    }
}

/// Puts those that are dead behind the others, which stay in their order; returns how many others
/// there are. At most TIMER_BATCH of them.
fn dead_last(entries: &mut [Entry]) -> usize {
    let mut is_dead = [false; TIMER_BATCH];
    // All looks before anything is done about one: nothing has to wait for a branch.
    entries.iter().zip(&mut is_dead).for_each(|(entry, is_dead)| *is_dead = entry.is_dead());
    let mut alive = 0;
    for index in (0..entries.len()).filter(|index| !is_dead[*index]) {
        entries.swap(alive, index);
        alive += 1;
    }
    alive
}

fn shift(level: usize) -> u32 {
    SLOT_BITS * level as u32
}
