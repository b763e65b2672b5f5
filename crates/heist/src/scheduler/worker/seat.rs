//! How a worker keeps its seat, gives it up and gets it back. `../seats/README.md` specifies the
//! protocol.

use super::{Me, Worker, address_here, replace_here, with_here};
use crate::env::{Clock, Parker, turns};
use crate::reactor::{Reactors, Sits};
use crate::scheduler::idle::GetUp;
use crate::scheduler::jobs::Origin;
use crate::scheduler::run_loop::Step;
use crate::scheduler::seats::{Back, Disturbance, Left};
use crate::scheduler::shared::{RuntimeFlavor, Scheduler};
use crate::trace::EventKind;
use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

/// What a worker itself knows of its seat and its steps.
///
/// | tick | the worker |
/// |---|---|
/// | even | is in a poll or a job; if the tick stands still it may be stuck |
/// | odd | searches, sleeps or waits for its seat; is never stuck |
pub(in crate::scheduler) struct Seating {
    /// Changes with each step. Others see a copy in the worker's remote.
    tick: Cell<u32>,
    /// Number of ticks until the next look at the reactors.
    until_turn: Cell<u32>,
    /// Whether the worker has stepped aside in its current poll.
    is_aside: Cell<bool>,
}

impl Seating {
    pub(super) fn new() -> Self {
        Seating { tick: Cell::new(1), until_turn: Cell::new(0), is_aside: Cell::new(false) }
    }

    /// The worker runs something from now on.
    #[inline]
    fn work(&self, me: &Me) {
        self.set_tick(me, (self.tick.get() | 1).wrapping_add(1));
    }

    /// It runs nothing from now on.
    #[inline]
    fn rest(&self, me: &Me) {
        self.set_tick(me, self.tick.get() | 1);
    }

    #[inline]
    fn set_tick(&self, me: &Me, tick: u32) {
        self.tick.set(tick);
        me.remote().own.tick.store(tick, Ordering::Relaxed);
    }

    /// Whether the worker runs something.
    fn is_at_work(&self) -> bool {
        self.tick.get() % 2 == 0
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn tick(&self) -> u32 {
        self.tick.get()
    }

    pub(super) fn is_aside(&self) -> bool {
        self.is_aside.get()
    }

    /// Whether it is time to look at the reactors. To be asked once a tick.
    #[inline]
    pub(super) fn is_turn_of_reactors(&self) -> bool {
        let left = self.until_turn.get().checked_sub(1);
        self.until_turn.set(left.unwrap_or(0));
        left.is_none()
    }

    pub(super) fn ticks_until_turn(&self) -> u32 {
        self.until_turn.get()
    }

    /// Called after a look at the reactors. The next is due after `interval` ticks.
    pub(super) fn reactors_turned(&self, interval: u32) {
        self.until_turn.set(interval);
    }
}

/// For a worker at work.
impl Worker {
    /// The seat that it holds.
    pub(super) fn seat_held(&self) -> Option<usize> {
        (self.me.seat().holder() == Some(self.me.index)).then(|| self.me.seat_index())
    }

    /// Whether it sits on a seat that is borrowed from a worker that is at a job.
    pub(in crate::scheduler) fn is_borrower(&self) -> bool {
        self.is_spare() && self.me.seat().is_borrowed()
    }

    /// Begins a step. From now on, unless the worker searches, it may be found to be stuck. The
    /// error says why it must not run anything.
    #[inline]
    pub(in crate::scheduler) fn begin_step(&self) -> Result<(), Step> {
        if !self.search.is_on() {
            self.next_tick();
        }
        self.check_seat()
    }

    /// The worker has found nothing of its own. From now on it is not stuck, however long it takes.
    #[inline]
    pub(in crate::scheduler) fn begin_rest(&self) -> Result<(), Step> {
        self.rest();
        self.queues.has_no_task();
        self.check_seat()
    }

    #[inline]
    fn check_seat(&self) -> Result<(), Step> {
        if self.me.seat().is_undisturbed(self.me.number()) { Ok(()) } else { self.answer() }
    }

    /// The worker runs something from now on.
    #[inline]
    pub(super) fn next_tick(&self) {
        self.seat.work(&self.me);
    }

    /// The worker has nothing to do.
    #[inline]
    pub(in crate::scheduler) fn rest(&self) {
        self.seat.rest(&self.me);
        self.me.remote().own.running.clear();
    }

    #[cold]
    fn answer(&self) -> Result<(), Step> {
        match self.me.seat().answer(self.me.number()) {
            Disturbance::None => Ok(()),
            Disturbance::Down => Err(Step::Down),
            Disturbance::Lost => {
                self.rest();
                self.stop_search();
                if self.is_spare() {
                    self.me.record_left();
                }
                // Sysmon may have to report that this one is back.
                self.me.scheduler.alarm.seat_woken();
                Err(Step::Unseated)
            }
        }
    }

    fn stop_search(&self) {
        if self.search.end() {
            self.me.scheduler.stop_search();
        }
    }
}

/// For a worker that has no seat.
impl Worker {
    /// A base worker, between two tasks, waits for its seat (L6). Returns `false` if the runtime
    /// shuts down.
    pub(in crate::scheduler) fn come_home(&self) -> bool {
        loop {
            match self.sit_again() {
                Back::Taken if self.me.seat().recall() => {
                    // The worker that sits there may be stuck.
                    self.me.scheduler.alarm.needed();
                    self.wait_for_return();
                }
                Back::Taken => {}
                Back::Down => return false,
                Back::Asleep | Back::Busy => return true,
            }
        }
    }

    /// Waits until the worker that sits on its seat has left.
    fn wait_for_return(&self) {
        let me = &self.me;
        me.counters.parks(Clock::now());
        me.scribe.iter().for_each(|scribe| scribe.park());
        me.seat().wait_for_return();
        let now = Clock::now();
        me.counters.unparked(now, false);
        me.scribe.iter().for_each(|scribe| scribe.unpark(false));
        self.queues.rested(now);
    }

    /// Sits down where it sat before, if the seat is vacant.
    pub(super) fn sit_again(&self) -> Back {
        let (me, shared) = (&self.me, &self.me.scheduler);
        // A thief was at the slot when the seat was lost, perhaps, and no other thread could take
        // the task then.
        self.queues.empty_slot(me);
        let back = me.seat().come_back(me.number());
        if matches!(back, Back::Asleep | Back::Busy) {
            me.record(|| EventKind::SeatTaken { seat: me.seat_index() as u16 });
            shared.reactor_taken(me.seat_index());
        }
        if back == Back::Asleep {
            self.get_up_again();
        }
        shared.check_seats_of(me.index);
        back
    }

    /// The worker has taken a seat that sleeps, or gets up without having been woken.
    pub(super) fn get_up_again(&self) {
        let (me, shared) = (&self.me, &self.me.scheduler);
        let got_up = shared.idle.get_up(me.seat_index());
        if got_up == GetUp::Busy {
            shared.alarm.seat_woken();
        } else {
            if let GetUp::WokenBeside(seat) = got_up {
                shared.wake_seat(seat);
            }
            me.seat().sleep();
            self.search.counted();
            self.seat.rest(me);
        }
        me.seat().has_got_up();
    }

    /// At the end of a poll or job in which it has stepped aside, or has waited without its seat:
    /// if the seat is free, no spare has to be called for what the poll has left behind.
    #[cold]
    pub(super) fn come_back(&self) {
        self.seat.is_aside.set(false);
        // Whatever it did meanwhile, it was not stuck.
        self.next_tick();
        let _ = self.sit_again();
    }

    /// A spare that was called sits down, and searches. Returns `false` if it is too late.
    pub(in crate::scheduler) fn sit_down(&self, seat: usize) -> bool {
        let (me, shared) = (&self.me, &self.me.scheduler);
        let sits = shared.seats[seat].sit_down(me.number());
        if sits {
            me.seat.set(seat);
            me.scribe.iter().for_each(|scribe| scribe.sit_down(seat as u16));
            shared.reactor_taken(seat);
            self.search.counted();
            shared.idle.join_search();
            shared.check_seats_of(me.index);
        }
        sits
    }

    /// A closer holds no seat. It learns from the first one that the runtime shuts down.
    pub(super) fn stand_at_first_seat(&self) {
        self.me.seat.set(0);
    }
}

/// For a worker that leaves its seat.
impl Worker {
    /// Gives the seat up, between two tasks or in the middle of a poll. The worker may keep it
    /// because the runtime shuts down, or have lost it before.
    pub(in crate::scheduler) fn leave_seat(&self) -> Left {
        let (me, shared) = (&self.me, &self.me.scheduler);
        self.queues.empty_slot(me);
        let was_borrowed = me.seat().is_borrowed();
        let left = me.seat().leave(me.number());
        match left {
            Left::Vacant => {
                me.record_left();
                let seat = me.seat_index();
                shared.reactor_left(seat);
                shared.put_to_sleep(seat, self.search.end(), || shared.has_work());
            }
            Left::Handed => {
                self.stop_search();
                me.record_left();
                if was_borrowed {
                    // The lender has it, and is at a job.
                    shared.recheck_tasks();
                }
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
            self.me.scheduler.alarm.wake();
        }
    }

    /// The worker waits for a job: gives its seat away (L5) until the guard is dropped. Returns
    /// `None` if no other worker would take it, or if this thread is between two steps.
    pub(crate) fn leave_seat_to_wait(&self) -> Option<SeatLeft<'_>> {
        let leaves = self.lends_seats() && self.seat.is_at_work();
        leaves.then(|| {
            self.leave_seat_in_poll();
            SeatLeft(self)
        })
    }
}

/// A worker that has given its seat away while it waits for a job. When this is dropped, it takes
/// the seat back if that is free.
pub(crate) struct SeatLeft<'a>(&'a Worker);

impl Drop for SeatLeft<'_> {
    fn drop(&mut self) {
        self.0.come_back();
        self.0.found();
        self.0.offer_seat_again();
    }
}

/// A worker that has stepped aside, in the middle of a poll: its thread waits for something else,
/// or runs code that does, and its seat is free for others (L5). It comes back at the end of its
/// poll. When this is dropped, the thread is a worker's again.
pub(crate) struct Aside {
    worker: *const Worker,
    outer: *const Worker,
    /// Code that waits for I/O or time here does so in the runtime that is current, which may be
    /// another one.
    _sits: Sits<'static>,
}

thread_local! {
    /// The worker of this thread that has stepped aside.
    static ASIDE: Cell<*const Worker> = const { Cell::new(ptr::null()) };
}

/// Calls foreign code with this thread's worker hidden: the worker may be in the middle of a step,
/// with something borrowed.
pub(crate) fn outside<R>(f: impl FnOnce() -> R) -> R {
    struct Back(*const Worker);

    impl Drop for Back {
        fn drop(&mut self) {
            // SAFETY: (W10) it was here before, and its frame is further down.
            unsafe { replace_here(self.0) };
        }
    }

    // SAFETY: (W10) null.
    let _back = Back(unsafe { replace_here(ptr::null()) });
    f()
}

/// Why a worker cannot step aside: no other worker could run in its place, ever.
#[derive(Debug)]
pub(crate) struct Alone;

/// The calling thread's worker steps aside, for the rest of its poll. Returns `None` if the thread
/// is no worker's, runs no task, or no other worker would come in its place.
pub(crate) fn step_aside() -> Result<Option<Aside>, Alone> {
    let here = address_here();
    // SAFETY: (W10) set by Entered for as long as the worker lives on this thread's stack.
    let Some(worker) = (unsafe { here.as_ref() }) else { return Ok(None) };
    if worker.is_fixed() {
        // Others go on without it, and take what it has.
        return Ok(None);
    }
    if !worker.lends_seats() {
        return Err(Alone);
    }
    if !worker.seat.is_at_work() {
        // In a callback of the builder's. The worker does something else with its seat.
        return Ok(None);
    }
    // What this thread spawns and wakes meanwhile comes from outside.
    worker.seat.is_aside.set(true);
    // If that unwinds, because of foreign code, the thread has its worker again.
    outside(|| worker.leave_seat_in_poll());
    // SAFETY: (W10) null.
    unsafe { replace_here(ptr::null()) };
    let outer = ASIDE.replace(here);
    Ok(Some(Aside { worker: here, outer, _sits: Reactors::sit_nowhere() }))
}

impl Drop for Aside {
    fn drop(&mut self) {
        // SAFETY: (W10) it was here before it stepped aside, and its frame is further down.
        unsafe { replace_here(self.worker) };
        ASIDE.set(self.outer);
    }
}

/// Calls `f` with the worker of this thread that can be called, if it has one, also if that has
/// stepped aside, or the thread drives a runtime without threads meanwhile.
pub(crate) fn with_here_or_aside<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
    let has_threads = |worker: &&Worker| worker.scheduler().flavor() == RuntimeFlavor::MultiThread;
    // SAFETY: (W10) set for as long as the worker lives on this thread's stack, below `f`.
    with_here(|here| f(here.filter(has_threads).or_else(|| unsafe { address_aside().as_ref() })))
}

/// The parker of a worker of this thread that has stepped aside and waits: a part of a broadcast
/// may come for it, and its sender may be what it waits for (J5).
pub(crate) fn waiter_aside() -> Option<Arc<Parker>> {
    // SAFETY: (W10) set for as long as the worker lives on this thread's stack.
    unsafe { address_aside().as_ref() }.map(|worker| Arc::clone(worker.waiter()))
}

/// Has a waker of heist's called whenever a direct job comes for the worker of this thread that has
/// stepped aside, until this is dropped: the thread drives another runtime, and sleeps there.
pub(crate) struct WokenAside(Option<(Scheduler, usize, Option<Waker>)>);

impl WokenAside {
    pub(crate) fn by(waker: &Waker) -> Self {
        // SAFETY: (W10) as in waiter_aside().
        let worker = unsafe { address_aside().as_ref() };
        WokenAside(worker.map(|worker| {
            let before = worker.me.remote().set_driving(Some(waker.clone()));
            (worker.me.scheduler.clone(), worker.me.index, before)
        }))
    }
}

impl Drop for WokenAside {
    fn drop(&mut self) {
        if let Some((scheduler, index, before)) = self.0.take() {
            scheduler.remotes[index].set_driving(before);
        }
    }
}

/// Runs a direct job of the worker that has stepped aside, in the worker's runtime: the thread may
/// have entered another. Returns whether there was one.
pub(crate) fn run_direct_job_aside() -> bool {
    // SAFETY: (W10) as in waiter_aside().
    let Some(worker) = (unsafe { address_aside().as_ref() }) else { return false };
    let Some(job) = worker.next_direct_job() else { return false };
    outside(|| worker.me.scheduler.within(|| job.run(None, Origin::Here)));
    true
}

fn address_aside() -> *const Worker {
    ASIDE.try_with(Cell::get).unwrap_or(ptr::null())
}

impl Me {
    fn record_left(&self) {
        self.scribe.iter().for_each(|scribe| scribe.leave_seat(self.seat_index() as u16));
    }
}
