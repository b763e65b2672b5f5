//! Which worker is woken or called for what has come.

use super::blocking::NoThread;
use super::seats::Borrowed;
use super::shared::{Scheduler, Shared};
use super::worker;
use crate::canary;
use crate::env::log::NoSpare;

impl Shared {
    /// Something was made runnable where others can take it, by a thread that has no seat.
    #[inline]
    pub(super) fn notify(&self) {
        // Any seat will do: see notify_from().
        self.notify_from(0);
    }

    /// The same, by the worker on this seat.
    ///
    /// If no worker is free, the seat saves a look at the others: lend_a_seat() does something only
    /// if all seats ignore tasks, so one that does not settles it. A worker's own seat is in its
    /// cache.
    #[inline]
    pub(super) fn notify_from(&self, seat: usize) {
        self.notify_from_unless(seat, || false);
    }

    /// The same; but if a worker is free, and the one on this seat `holds_back`, nobody is woken.
    #[inline]
    pub(super) fn notify_from_unless(&self, seat: usize, holds_back: impl FnOnce() -> bool) {
        if self.idle.is_anybody_free() {
            if !holds_back() {
                self.wake_for_task(seat);
            }
        } else if self.seats[seat].ignores_tasks() {
            self.lend_a_seat();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_for_task(&self, notifier: usize) {
        match self.idle.wake_one() {
            Some(seat) => self.wake_seat(seat),
            None if self.idle.is_anybody_searching() => {}
            None if self.seats[notifier].ignores_tasks() => self.lend_a_seat(),
            None => {}
        }
    }

    /// Like [`notify`](Self::notify), for a job: no seat is borrowed for it.
    pub(super) fn notify_of_job(&self) {
        if let Some(seat) = self.idle.submitted() {
            self.wake_seat(seat);
        }
    }

    /// For [`Idle::sleep`](super::idle::Idle::sleep).
    pub(super) fn ring_bells(&self) -> bool {
        // Also of spares that rest: they may be called back.
        !self.config.staffing.is_per_core()
            && self.remotes.all().filter(|remote| remote.jobs.ring()).count() > 0
    }

    /// A worker searches. Those at jobs see that when they push the next job, and make theirs
    /// public.
    pub(super) fn nudge(&self) {
        if self.idle.is_nudge_needed() {
            self.remotes.all().for_each(|remote| remote.jobs.nudge());
        }
    }

    /// A job was pushed to a deque, and a worker may be free.
    pub(super) fn wake_for_job(&self) {
        if let Some(seat) = self.idle.wake_one() {
            self.wake_seat(seat);
        }
    }

    /// A task has come, and no worker is free. If all are at jobs, which may last, a spare borrows
    /// the seat of one of them (F3). Otherwise a worker will have done with its task soon. Sysmon
    /// finds what is missed here.
    #[cold]
    pub(super) fn lend_a_seat(&self) {
        if !self.seats.iter().all(|seat| seat.ignores_tasks()) {
            return;
        }
        for (seat, borrowed) in self.seats.iter().map(|seat| seat.borrow()).enumerate() {
            match borrowed {
                Borrowed::ForSpare => return self.staff(seat),
                Borrowed::ForHome => return,
                Borrowed::No => {}
            }
        }
    }

    /// Whether tasks wait while all are at jobs: [`lend_a_seat`](Self::lend_a_seat) has found no
    /// spare, or something was missed.
    pub(super) fn needs_borrower(&self) -> bool {
        self.has_tasks() && self.seats.iter().all(|seat| seat.ignores_tasks())
    }

    /// A spare has given back a seat that it had borrowed, and no longer searches. What came
    /// meanwhile was left to it, so the queues are looked at again.
    ///
    /// If the barrier fails, sysmon does that, and does not sleep then. A spare that was called
    /// here would mostly find nothing and come to this place again.
    pub(super) fn recheck_tasks(&self) {
        let has_barrier = self.idle.catch_up();
        if self.has_tasks() && !canary::SEAT_RETURN_UNCHECKED.sings() {
            self.notify();
        } else if !has_barrier {
            self.alarm.needed();
        }
    }

    /// Calls a spare for a seat that no worker holds.
    fn staff(&self, seat: usize) {
        match self.call_spare(seat) {
            Ok(()) => {}
            Err(NoThread::AllBusy) => {
                self.not_staffed(seat, &NoSpare::ThreadsBusy(self.config.blocking.limits.threads));
            }
            Err(NoThread::NotStarted(error)) => {
                self.not_staffed(seat, &NoSpare::NotStarted(error));
            }
        }
    }

    /// Wakes a seat whose bit was cleared: the worker that sleeps there, or a spare one. A spare
    /// may take its time, or not come at all; so meanwhile another seat is woken as well, if one is
    /// idle (L1).
    pub(super) fn wake_seat(&self, seat: usize) {
        let mut next = Some(seat);
        while let Some(seat) = next.take() {
            self.record_wake_up(seat);
            if self.seats[seat].wake(|| self.interrupt(seat)) {
                self.staff(seat);
                next = self.idle.stop_search(|| true);
            }
        }
        // Last: sysmon would get the core before the worker that was woken.
        self.alarm.seat_woken();
    }

    /// A worker that sleeps on this seat sleeps in its reactor.
    fn interrupt(&self, seat: usize) {
        self.config.reactors.iter().for_each(|reactors| reactors[seat].interrupt());
    }

    fn call_spare(&self, seat: usize) -> Result<(), NoThread> {
        let Some(scheduler) = Scheduler::upgrade(&self.me) else { return Err(NoThread::AllBusy) };
        // A thread's name comes from code of others, which must not find this worker at work.
        worker::outside(|| (self.config.call_spare)(&scheduler, seat))
    }
}
