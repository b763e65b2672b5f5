//! How a worker keeps its seat, gives it up and gets it back. The protocol is told in
//! `../seats/README.md`.

use super::{Entered, Local, Step, Worker, here};
use crate::env::{Clock, Parker, turns};
use crate::reactor::{Reactors, Sits};
use crate::scheduler::idle::GetUp;
use crate::scheduler::jobs::Origin;
use crate::scheduler::seats::{Back, Disturbance, Left, Seat};
use crate::scheduler::shared::RuntimeFlavor;
use crate::trace::EventKind;
use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// For a worker at work.
impl Local {
    #[inline]
    pub(super) fn seat(&self) -> &Seat {
        &self.scheduler.seats[self.seat.get()]
    }

    /// The worker as the seats know it.
    #[inline]
    pub(super) fn number(&self) -> u32 {
        self.index as u32
    }

    pub(in crate::scheduler) fn is_spare(&self) -> bool {
        self.index >= self.scheduler.remotes.seats()
    }

    /// The seat that it sits on.
    pub(super) fn seat_held(&self) -> Option<usize> {
        (self.seat().holder() == Some(self.index)).then(|| self.seat.get())
    }

    /// Begins a step, unless there is nothing more to do here. From now on, unless it searches, it may
    /// be found to be stuck.
    #[inline]
    pub(super) fn begin_step(&self) -> Option<Step> {
        if !self.is_searching.get() {
            self.next_tick();
        }
        if self.seat().is_undisturbed(self.number()) { None } else { self.answer() }
    }

    /// It has found nothing of its own. From now on it is not stuck, however long it takes.
    #[inline]
    pub(super) fn begin_rest(&self) -> Option<Step> {
        self.rest();
        if self.seat().is_undisturbed(self.number()) { None } else { self.answer() }
    }

    /// It works.
    #[inline]
    pub(super) fn next_tick(&self) {
        self.set_tick((self.tick.get() | 1).wrapping_add(1));
    }

    #[inline]
    fn set_tick(&self, tick: u32) {
        self.tick.set(tick);
        self.remote().own.tick.store(tick, Ordering::Relaxed);
    }

    /// It has nothing to do. When it comes to tasks again it says so.
    #[inline]
    pub(super) fn rest(&self) {
        self.set_tick(self.tick.get() | 1);
        self.remote().own.running.clear();
    }

    #[cold]
    fn answer(&self) -> Option<Step> {
        match self.seat().answer(self.number()) {
            Disturbance::None => None,
            Disturbance::Down => Some(Step::Down),
            Disturbance::Lost => {
                self.rest();
                self.stop_search();
                if self.is_spare() {
                    self.record_left();
                }
                // Sysmon may have somebody to tell that this one is back.
                self.scheduler.alarm.seat_woken();
                Some(Step::Unseated)
            }
        }
    }

    fn stop_search(&self) {
        if self.is_searching.take() {
            self.scheduler.stop_search();
        }
    }

    /// A task was put into the slot, and the worker was disturbed. If it has lost its seat, or is at a job, nobody
    /// may look at the slot for long (L1). If the runtime goes down the task stays: it is cancelled by
    /// sysmon, or by this worker after its poll, not in the middle of it, where a lock may be held that the
    /// task needs when it is dropped (T6).
    #[cold]
    pub(super) fn empty_slot_without_seat(&self) {
        if self.seat().is_closed() {
            self.scheduler.alarm.wake();
        } else if self.seat_held().is_none() || self.seat().is_at_job() {
            self.empty_slot();
        }
    }

    /// What is in the slot goes where others look for it.
    pub(super) fn empty_slot(&self) {
        if let Some(task) = self.take_lifo() {
            self.push(task);
        }
    }
}

/// For a worker that has no seat.
impl Local {
    /// A base worker, between two tasks, waits for its seat (L6). `false`: the runtime goes down.
    pub(super) fn come_home(&self) -> bool {
        loop {
            match self.sit_again() {
                Back::Taken if self.seat().recall() => {
                    // Who sits there may be stuck.
                    self.scheduler.alarm.needed();
                    self.wait_for_return();
                }
                Back::Taken => {}
                Back::Down => return false,
                Back::Asleep | Back::Busy => return true,
            }
        }
    }

    /// Until whoever sits there has left.
    fn wait_for_return(&self) {
        self.counters.parks(Clock::now());
        self.scribe.iter().for_each(|scribe| scribe.park());
        self.seat().wait_for_return();
        let now = Clock::now();
        self.counters.unparked(now, false);
        self.scribe.iter().for_each(|scribe| scribe.unpark(false));
        self.core.borrow_mut().pace.rested(now);
    }

    /// Sits down where it sat before, if nobody does.
    pub(super) fn sit_again(&self) -> Back {
        // A thief was at it when the seat was lost, perhaps, and nobody else could take it then.
        self.empty_slot();
        let back = self.seat().come_back(self.number());
        if matches!(back, Back::Asleep | Back::Busy) {
            self.record(|| EventKind::SeatTaken { seat: self.seat.get() as u16 });
            self.scheduler.attend_reactor(self.seat.get());
        }
        if back == Back::Asleep {
            self.get_up_again();
        }
        self.scheduler.check_seats_of(self.index);
        back
    }

    /// It has taken its seat in its sleep, or has not been woken by anybody.
    pub(super) fn get_up_again(&self) {
        let got_up = self.scheduler.idle.get_up(self.seat.get());
        if got_up == GetUp::Busy {
            self.scheduler.alarm.seat_woken();
        } else {
            if let GetUp::WokenBeside(seat) = got_up {
                self.scheduler.wake_seat(seat);
            }
            self.seat().sleep();
            self.is_searching.set(true);
            self.set_tick(self.tick.get() | 1);
        }
        self.seat().rise();
    }

    /// At the end of a poll in which it has stepped aside: if its seat is free, nobody need be called for
    /// what the poll has left behind.
    #[cold]
    pub(super) fn come_back(&self) {
        self.is_aside.set(false);
        // Whatever it did meanwhile, it was not stuck.
        self.next_tick();
        let _ = self.sit_again();
    }
}

/// The life of a spare.
impl Worker {
    /// Sits on this seat, and works there until it has nothing to do, loses the seat or the runtime goes
    /// down. What it leaves in its queues then is where others find it, or will be cancelled when it is
    /// dropped.
    pub(in crate::scheduler) fn stand_in(&self, seat: usize) {
        let local = &self.local;
        if !local.sit_down(seat) {
            return;
        }
        if local.seat().is_borrowed() {
            // Others have the cores, for jobs. It keeps them when it leaves: the next call may be of the same kind.
            turns::shorten();
        } else {
            turns::lengthen();
        }
        let entered = Entered::new(local);
        let end = loop {
            match local.step() {
                Step::Ran => {}
                Step::Idle if local.finds_while_waiting() => {}
                // Its thread may be needed elsewhere, so it does not sleep on the seat.
                Step::Idle => _ = local.leave_seat(),
                end => break end,
            }
        };
        if end == Step::Down {
            turns::lengthen();
            local.finish_jobs();
            local.finish_jobs_of_others();
            local.rest();
        }
        drop(entered);
        match end {
            Step::Down => local.scheduler.wake_all(),
            _ => local.hand_in(),
        }
    }
}

impl Local {
    /// A spare that was called sits down, and searches; `false` if it is too late.
    pub(super) fn sit_down(&self, seat: usize) -> bool {
        let sits = self.scheduler.seats[seat].sit_down(self.number());
        if sits {
            self.seat.set(seat);
            self.scribe.iter().for_each(|scribe| scribe.sit_down(seat as u16));
            self.scheduler.attend_reactor(seat);
            self.is_searching.set(true);
            self.scheduler.idle.join_search();
            self.scheduler.check_seats_of(self.index);
        }
        sits
    }

    /// Gives the seat up, between two tasks or in the middle of a poll. The worker may keep it
    /// because the runtime shuts down, or have lost it before.
    pub(super) fn leave_seat(&self) -> Left {
        self.empty_slot();
        let was_borrowed = self.seat().is_borrowed();
        let left = self.seat().leave(self.number());
        match left {
            Left::Vacant => {
                self.record_left();
                let (shared, seat) = (&self.scheduler, self.seat.get());
                shared.leave_reactor(seat);
                shared.put_to_sleep(seat, self.is_searching.take(), || shared.has_work());
            }
            Left::Handed => {
                self.stop_search();
                self.handed_over(was_borrowed);
            }
            // A worker between two tasks finds out in its next step.
            Left::Kept | Left::Lost => {}
        }
        left
    }

    /// Gives the seat up in the middle of a poll, because this thread is going to wait.
    pub(super) fn leave_seat_in_poll(&self) {
        if self.is_spare() {
            // It was called for others, and leaves them.
            turns::lengthen();
        }
        if self.leave_seat() == Left::Kept {
            // What this thread waits for may be in its own queues, where only sysmon looks now.
            self.scheduler.alarm.wake();
        }
    }

    /// Somebody else has the seat. If it was borrowed, that one is at a job.
    fn handed_over(&self, was_borrowed: bool) {
        self.record_left();
        if was_borrowed {
            self.scheduler.look_for_tasks();
        }
    }

    /// Gives all that is in its queues to those that all share.
    pub(super) fn hand_in(&self) {
        while let Some(job) = self.pop_job() {
            if let Err(job) = self.scheduler.submit_job(job) {
                turns::lengthen();
                self.run_job(job, Origin::Here);
            }
        }
        let core = &mut *self.core.borrow_mut();
        let mut tasks = crate::task::TaskList::new();
        tasks.extend(self.take_lifo());
        tasks.extend(std::iter::from_fn(|| core.ring.pop()));
        if tasks.len() > 0 {
            self.give_away(tasks);
            self.scheduler.notify();
        }
    }
}

/// A worker that has stepped aside, in the middle of a poll: its thread waits for something else, or
/// runs code that does, and its seat is free for others (L5). It comes back at the end of its poll. When
/// this is dropped the thread is a worker's again.
pub(crate) struct Aside {
    local: *const Local,
    outer: *const Local,
    /// Who waits for I/O or time here does so in the runtime that is current, which may be another.
    _sits: Sits<'static>,
}

thread_local! {
    /// The worker of this thread that has stepped aside.
    static ASIDE: Cell<*const Local> = const { Cell::new(ptr::null()) };
}

/// Calls code of others as if this thread were no worker's: it may be at work, with something borrowed.
pub(crate) fn outside<R>(f: impl FnOnce() -> R) -> R {
    struct Back(*const Local);

    impl Drop for Back {
        fn drop(&mut self) {
            // SAFETY: (W10) it was here before, and its frame is further down.
            unsafe { here::replace(self.0) };
        }
    }

    // SAFETY: (W10) null.
    let _back = Back(unsafe { here::replace(ptr::null()) });
    f()
}

/// Why a worker cannot step aside.
#[derive(Debug)]
pub(crate) struct Alone;

/// The calling thread's worker steps aside, for the rest of its poll. `None` if the thread is no
/// worker's, runs no task, or nobody would come in its place. An error if there is no other that could run in its place, ever.
pub(crate) fn step_aside() -> Result<Option<Aside>, Alone> {
    let here = here::address();
    // SAFETY: (W10) set by Entered for as long as the worker lives on this thread's stack.
    let Some(local) = (unsafe { here.as_ref() }) else { return Ok(None) };
    if local.is_fixed() {
        // Others go on without it, and take what it has.
        return Ok(None);
    }
    if !local.scheduler.config.staffing.lends_seats() {
        return Err(Alone);
    }
    if local.tick.get() % 2 == 1 {
        // In a callback of the builder's. The worker does something else with its seat.
        return Ok(None);
    }
    // What this thread spawns and wakes meanwhile comes from outside.
    local.is_aside.set(true);
    // If that unwinds, because of code of others, who goes on finds its worker.
    outside(|| local.leave_seat_in_poll());
    // SAFETY: (W10) null.
    unsafe { here::replace(ptr::null()) };
    let outer = ASIDE.replace(here);
    Ok(Some(Aside { local: here, outer, _sits: Reactors::sit_nowhere() }))
}

/// Calls `f` with the worker of this thread that can be called, if it has one, though it have stepped aside, or drive a runtime
/// without threads meanwhile.
pub(crate) fn with_here_or_aside<R>(f: impl FnOnce(Option<&Local>) -> R) -> R {
    let has_threads = |local: &&Local| local.scheduler.flavor() == RuntimeFlavor::MultiThread;
    here::with_here(|local| {
        let aside = || ASIDE.try_with(Cell::get).unwrap_or(ptr::null());
        // SAFETY: (W10) set for as long as the worker lives on this thread's stack, below `f`.
        f(local.filter(has_threads).or_else(|| unsafe { aside().as_ref() }))
    })
}

/// What a worker of this thread that has stepped aside is woken by while it waits: a part of a broadcast may come for it, and the
/// sender be what it waits for (J5).
pub(crate) fn waiter_aside() -> Option<Arc<Parker>> {
    let aside = ASIDE.try_with(Cell::get).unwrap_or(ptr::null());
    // SAFETY: (W10) set for as long as the worker lives on this thread's stack.
    unsafe { aside.as_ref() }.map(|local| Arc::clone(local.waiter()))
}

/// Runs such a part; whether there was one.
pub(crate) fn answer_call_aside() -> bool {
    let aside = ASIDE.try_with(Cell::get).unwrap_or(ptr::null());
    // SAFETY: (W10) as in waiter_aside().
    let call = unsafe { aside.as_ref() }.and_then(Local::next_direct_job);
    let is_there = call.is_some();
    call.into_iter().for_each(|call| outside(|| call.run(None, Origin::Here)));
    is_there
}

impl Local {
    fn record_left(&self) {
        self.scribe.iter().for_each(|scribe| scribe.leave_seat(self.seat.get() as u16));
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // SAFETY: (W10) it was here before it stepped aside, and its frame is further down.
        unsafe { here::replace(self.local) };
        ASIDE.set(self.outer);
    }
}
