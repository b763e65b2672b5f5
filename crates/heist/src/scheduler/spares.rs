//! Spare workers. Each takes a seat whose worker is stuck, blocked or at a job, and ends when that
//! worker comes back.
//!
//! A spare runs on a blocking thread. Its number, ring and slot outlive it and are used by the next
//! spare, because a thief may look at them at any time.

use super::remotes::Ends;
use super::shared::{Scheduler, Shared};
use super::worker::{self, Worker};
use crate::env::log::{self, NoSpare};
use crate::trace::EventKind;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The spare workers of a runtime, numbered from 0.
pub(super) struct Spares {
    list: Mutex<SpareList>,
}

/// Proof that no spare will take a seat any more.
#[must_use = "seats are closed after that"]
pub(super) struct NoSpares(());

#[derive(Default)]
struct SpareList {
    /// Spares that do not run. The lowest number is taken first, so that thieves look at few.
    resting: BTreeMap<usize, Worker>,
    running: BTreeSet<usize>,
    made: usize,
    is_closed: bool,
    /// All running spares have ended, and the resting ones were dropped.
    is_over: bool,
    /// Number of closers that will come.
    late: usize,
}

impl Spares {
    pub(super) fn new() -> Self {
        Spares { list: Mutex::default() }
    }

    /// The number of running spares.
    pub(super) fn running(&self) -> usize {
        self.lock().running.len()
    }

    /// Called at shutdown: from now on no spare takes a seat.
    pub(super) fn close(&self) -> NoSpares {
        self.lock().is_closed = true;
        NoSpares(())
    }

    /// Called when all running spares have ended. Drops the resting ones, which refer to the
    /// scheduler that owns them.
    pub(super) fn end(&self) {
        let mut list = self.lock();
        list.is_over = true;
        let resting = std::mem::take(&mut list.resting);
        drop(list);
        drop(resting);
    }

    /// Takes a spare to run. Returns `None` if the limit is reached, or the runtime shuts down.
    pub(super) fn take(&self, scheduler: &Scheduler) -> Option<(usize, Worker)> {
        let mut list = self.lock();
        if list.is_closed {
            return None;
        }
        let taken = list.take(scheduler)?;
        scheduler.one_has_begun();
        Some(taken)
    }

    /// Takes a spare to run as a closer. Returns `None` if the limit is reached, or all other
    /// workers have ended.
    pub(super) fn take_for_closer(&self, scheduler: &Scheduler) -> Option<(usize, Worker)> {
        let mut list = self.lock();
        if list.is_over || !scheduler.one_more_has_begun() {
            return None;
        }
        let taken = list.take(scheduler);
        drop(list);
        if taken.is_none() {
            scheduler.one_has_ended();
        }
        taken
    }

    /// Notes that a closer is on its way, or has [come](Self::take_for_closer).
    pub(super) fn expect_closer(&self, will_come: bool) {
        let late = &mut self.lock().late;
        *late = if will_come { *late + 1 } else { *late - 1 };
    }

    pub(super) fn is_closer_coming(&self) -> bool {
        self.lock().late > 0
    }

    /// Puts back a spare that has ended. Its queues are empty, unless the runtime shuts down.
    pub(super) fn put_back(&self, scheduler: &Scheduler, number: usize, mut worker: Worker) {
        if scheduler.is_down() {
            // While others can see its queues.
            worker.clear();
        }
        worker.leave_arena();
        let mut list = self.lock();
        list.running.remove(&number);
        list.show(scheduler);
        list.resting.insert(number, worker);
        drop(list);
        scheduler.one_has_ended();
    }

    fn lock(&self) -> MutexGuard<'_, SpareList> {
        // Nothing in here panics with the lock held.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpareList {
    fn take(&mut self, scheduler: &Scheduler) -> Option<(usize, Worker)> {
        let (number, worker) = match self.resting.pop_first() {
            Some(rested) => rested,
            None => {
                let number = self.made;
                if number == scheduler.remotes.most_spares() {
                    return None;
                }
                self.made += 1;
                (number, new_spare(scheduler, number))
            }
        };
        self.running.insert(number);
        self.show(scheduler);
        Some((number, worker))
    }

    fn show(&self, shared: &Shared) {
        shared.remotes.show_spares(self.running.last().map_or(0, |last| last + 1));
    }
}

fn new_spare(scheduler: &Scheduler, number: usize) -> Worker {
    let ends = Ends::new();
    scheduler.remotes.add_spare(number, &ends, &scheduler.config);
    Worker::new(scheduler.clone(), scheduler.remotes.seats() + number, ends)
}

impl Scheduler {
    /// Runs a spare worker on the calling thread for this seat, until it has nothing to do there or
    /// must give the seat up.
    pub(crate) fn run_spare(&self, seat: usize) {
        let Some((number, worker)) = self.spares.take(self) else {
            return self.not_staffed(seat, &NoSpare::SparesBusy(self.remotes.most_spares()));
        };
        worker.run_on(seat);
        self.spares.put_back(self, number, worker);
        if self.seats.iter().any(|seat| seat.is_unstaffed()) {
            // Now there is a spare for it.
            self.alarm.wake();
        }
    }
}

impl Shared {
    /// No spare was found for this seat. Sysmon retries.
    pub(super) fn not_staffed(&self, seat: usize, why: &NoSpare) {
        if self.is_down() {
            return;
        }
        self.stalls.lacked_spare();
        self.record(|| EventKind::SpareShortage);
        worker::outside(|| log::no_spare(&self.shortage, why));
        self.seats[seat].not_staffed();
        // A worker that has given its seat away may wait for something that a spare would have run.
        self.remotes.active().for_each(|remote| remote.waiter.unpark());
        self.alarm.needed();
    }

    /// The number of running spare workers.
    pub(crate) fn num_spares(&self) -> usize {
        self.spares.running()
    }
}
