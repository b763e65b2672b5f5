//! What a worker does until a job has ended that another has.

use super::deque_view;
use super::frame::Head;
use super::latch::Latch;
use super::outside::submit_elsewhere;
use crate::runtime::Handle;
use crate::scheduler::{Job, Local, Origin, Step};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

#[cfg(all(test, not(loom)))]
mod tests;

/// So often it looks whether there is something to help with, before it lets other threads run. Guessed.
const SPINS: u32 = 32;
/// How long it waits before each look, in turns of a spin loop. Each looks at a line that the thief works on.
/// Guessed.
const SPINS_PER_LOOK: u32 = 16;
/// The same before it looks whether it is over, which is cheaper. Guessed.
const SPINS_PER_WATCH: u32 = 4;
/// So often it lets other threads run before it sleeps. Guessed.
const YIELDS: u32 = 8;
/// So often it looks where nobody comes in its place, every other time for anything to do: there it sleeps until it is woken, which takes about as long as all of these. Guessed.
const LOOKS_AT_WORK: u32 = 40;
/// How long it sleeps on its seat before it gives that away. Who comes in its place begins something, and is not done with it
/// when the job that is waited for has ended: then there are more threads at work than cores. Guessed: longer than what
/// jobs do between two joins, as a rule.
const NAP: Duration = Duration::from_micros(200);

/// Waits for the job of `latch`, which others have, and meanwhile runs what `help` has found (J3).
#[cold]
pub(super) fn wait(local: &Local, latch: &Latch, help: impl Fn(bool) -> Option<(Job, Origin)>) {
    let is_over = || latch.is_set();
    wait_until(local, is_over, || latch.fall_asleep(), help);
}

/// Waits until `is_over`. Whoever makes it so unparks the worker's waiter, if it was told before, by
/// `fall_asleep`, that somebody sleeps. `help` is told whether the worker gives its seat away next, or has: perhaps nobody is to be
/// had for it, and so nobody else for what waits in the inbox.
pub(super) fn wait_until(
    local: &Local,
    is_over: impl Fn() -> bool,
    fall_asleep: impl Fn(),
    help: impl Fn(bool) -> Option<(Job, Origin)>,
) {
    if local.is_fixed() && wait_at_work(local, &is_over, &fall_asleep, &help) {
        return;
    }
    let mut looks = 0;
    while !is_over() {
        let is_last_look = looks > SPINS + YIELDS;
        // A call first: who waits for it may be what is waited for here.
        if let Some(call) = local.next_call() {
            make_detour(local, call, Origin::Here);
            looks = 0;
        } else if let Some((job, origin)) = help(is_last_look) {
            local.run_job(job, origin);
            looks = 0;
        } else if looks < SPINS {
            watch(&is_over);
            looks += 1;
        } else if looks < SPINS + YIELDS {
            thread::yield_now();
            looks += 1;
        } else if looks == SPINS + YIELDS {
            fall_asleep();
            if !is_over() && !local.is_called() {
                local.waiter().park_lightly(Some(NAP));
            }
            looks += 1;
        } else {
            fall_asleep();
            if let Some((job, origin)) = sleep_without_seat(local, &is_over, &help) {
                local.run_job(job, origin);
            }
            looks = 0;
        }
    }
}

/// Gives the worker's seat away (L5), and sleeps until the wait `is_over`, there is a call for the
/// worker, or `help` has found a job. It looks for one whenever it is unparked: that may be because
/// no thread is to be had that would take the seat.
fn sleep_without_seat(
    local: &Local,
    is_over: impl Fn() -> bool,
    help: impl Fn(bool) -> Option<(Job, Origin)>,
) -> Option<(Job, Origin)> {
    let _seat_left = local.leave_seat_to_wait();
    loop {
        let found = help(true);
        // After `help`, which may have consumed the wake-up for this (I7).
        if found.is_some() || is_over() || local.is_called() {
            return found;
        }
        local.waiter().park();
    }
}

/// Looks at nothing else for a moment: so it is seen at once when it is over, and the thief is left alone.
fn watch(is_over: impl Fn() -> bool) {
    let spin = || (0..SPINS_PER_WATCH).for_each(|_| std::hint::spin_loop());
    (0..SPINS_PER_LOOK / SPINS_PER_WATCH).take_while(|_| !is_over()).for_each(|_| spin());
}

/// The same where nobody would come in the worker's place: if there is nothing to help with, it does what it
/// would do if it did not wait, whatever that is. `false`: the runtime goes down, and it is not over.
fn wait_at_work(
    local: &Local,
    is_over: impl Fn() -> bool,
    fall_asleep: impl Fn(),
    help: impl Fn(bool) -> Option<(Job, Origin)>,
) -> bool {
    let mut looks = 0;
    while !is_over() {
        // What is in the inbox it comes to in its steps.
        if let Some((job, origin)) = help(false) {
            local.go_on();
            local.run_job(job, origin);
            looks = 0;
            continue;
        }
        if is_over() {
            // What has helped has run the last that was missing: other work is no business of this frame.
            break;
        }
        if looks % 2 == 0 {
            watch(&is_over);
            looks += 1;
            continue;
        }
        if !local.back_off(|| is_over() || local.has_more_urgent()) && is_over() {
            break;
        }
        match local.step_while_waiting() {
            None => return false,
            // At once: there may be more.
            Some(Step::Ran) => looks = 1,
            Some(_) if looks < LOOKS_AT_WORK => {
                thread::yield_now();
                looks += 1;
            }
            Some(_) => {
                fall_asleep();
                local.idle(&is_over);
                looks = 0;
            }
        }
    }
    local.go_on();
    true
}

/// Of a stack job that was stolen: what its own worker has left, and then what its thief has (J3); or the job itself, if that
/// was passed on and perhaps nobody comes for it.
pub(super) fn leapfrog(local: &Local, stolen: &Head, is_last_look: bool) -> Option<(Job, Origin)> {
    // All that is left here was pushed after the stolen one: thieves take the oldest first.
    take_own(local).or_else(|| {
        let Some(thief) = stolen.latch.thief() else {
            return local.scheduler().take_left_job(is_last_look, |job| stolen.is_of(job));
        };
        let has_reason = || match local.is_fixed() {
            true => local.has_more_urgent(),
            false => local.is_called(),
        };
        if !local.back_off(|| stolen.latch.is_set() || has_reason()) {
            return None;
        }
        let detours = detours_of(local, thief)?;
        let job = local.scheduler().steal_job_of(thief)?;
        if stolen.latch.is_set() || detours_of(local, thief) != Some(detours) {
            // The thief had perhaps gone on to something else when it pushed this, or was on a detour.
            pass_on(local, job, Origin::Stolen(thief));
            return None;
        }
        help_with(local, job, Origin::Stolen(thief))
    })
}

/// What a worker that waits has in its deque, and may run.
fn take_own(local: &Local) -> Option<(Job, Origin)> {
    while let Some(job) = local.pop_job() {
        let found = help_with(local, job, Origin::Here);
        if found.is_some() {
            return found;
        }
    }
    None
}

/// A job that this worker has taken, if it may run it while it waits. Nobody waits for one that is detached.
fn help_with(local: &Local, job: Job, origin: Origin) -> Option<(Job, Origin)> {
    if job.is_detached() { put_aside(local, job, origin) } else { Some((job, origin)) }
}

/// A job that this worker has come across, and that is none of what it waits for: it goes to others, as it may want a lock that is held
/// here (J3). Where nobody could come to run it, it is run here after all: what is waited for may wait for it (J5).
pub(super) fn put_aside(local: &Local, job: Job, origin: Origin) -> Option<(Job, Origin)> {
    if !local.lends_seats() {
        return Some((job, origin));
    }
    pass_on(local, job, origin);
    None
}

/// Runs a job in the middle of another, which has nothing to do with it. What it leaves behind goes to others: here it would be
/// taken for something that the other waits for, by this worker and by who waits for it (J3).
pub(super) fn make_detour(local: &Local, job: Job, origin: Origin) {
    if local.is_fixed() {
        // There all are taken for that.
        return local.run_job(job, origin);
    }
    let mark = deque_view::mark(local);
    let detours = local.scheduler().detours_of(local.index());
    // Relaxed: only this worker writes it.
    let is_first = detours.load(Ordering::Relaxed) % 2 == 0;
    if is_first {
        // Relaxed: a thief of a job that is pushed from now on sees this, as it sees all that was
        // done before the push (Q7).
        detours.fetch_add(1, Ordering::Relaxed);
    }
    local.run_job(job, origin);
    while let Some(left) = deque_view::pop_since(local, mark) {
        pass_on(local, left, Origin::Here);
    }
    if is_first {
        // Release: pairs with the Acquire in detours_of(): a thief that sees this finds nothing of
        // the detour in the deque.
        detours.fetch_add(1, Ordering::Release);
    }
}

/// Counts how often this worker has begun or ended a detour. Returns `None` if it is on one: then
/// what is in its deque may be none of what it is in the middle of (J3).
fn detours_of(local: &Local, worker: usize) -> Option<u32> {
    // Acquire: pairs with the Release in make_detour().
    let detours = local.scheduler().detours_of(worker).load(Ordering::Acquire);
    (detours % 2 == 0).then_some(detours)
}

/// Leaves a job that this worker has taken to others.
#[cold]
fn pass_on(local: &Local, job: Job, origin: Origin) {
    match local.scheduler().offer_job(job, origin) {
        Ok(()) => {}
        // The runtime goes down. Here a lock may be held that it wants (J3); on fixed threads that has to do.
        Err(job) if job.is_framed() && local.is_fixed() => local.run_job(job, origin),
        Err(job) if job.is_framed() => local.scheduler().leave_job_to_owner(job, origin),
        Err(job) => submit_elsewhere(&Handle::of_worker(local), job),
    }
}
