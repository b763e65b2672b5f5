//! What a worker does while it waits for jobs that others run.

use super::deque_view;
use super::frame::Head;
use super::latch::Latch;
use super::outside::submit_elsewhere;
use crate::env::Backoff;
use crate::runtime::Handle;
use crate::scheduler::{Job, Origin, Step, Worker};
use crate::tuning::SLEEP_ON_SEAT;
use std::sync::atomic::Ordering;

#[cfg(all(test, not(loom)))]
mod tests;

/// Waits for the latch of a job that another thread has, and runs what `help` finds meanwhile (J3).
#[cold]
pub(super) fn wait(worker: &Worker, latch: &Latch, help: impl Fn(bool) -> Option<(Job, Origin)>) {
    let is_over = || latch.is_set();
    wait_until(worker, is_over, || latch.fall_asleep(), help);
}

/// Waits until `is_over`. The thread that makes it so unparks the worker's waiter if `fall_asleep`
/// has announced a sleep before.
///
/// The argument of `help` says whether the worker gives its seat away next, or has given it away.
/// Then perhaps no thread can be found for the seat, and no other worker takes jobs from the inbox.
///
/// Each wait spins first, even if earlier ones spun in vain: a worker that sleeps here is not woken
/// for jobs that it could help with.
pub(super) fn wait_until(
    worker: &Worker,
    is_over: impl Fn() -> bool,
    fall_asleep: impl Fn(),
    help: impl Fn(bool) -> Option<(Job, Origin)>,
) {
    if worker.is_fixed() && wait_at_work(worker, &is_over, &fall_asleep, &help) {
        return;
    }
    let mut backoff = Backoff::default();
    let mut is_last_look = false;
    while !is_over() {
        // A direct job first: its sender may be what this worker waits for.
        if let Some(job) = worker.next_direct_job() {
            backoff = Backoff::default();
            is_last_look = false;
            run_unrelated(worker, job, Origin::Here);
        } else if let Some((job, origin)) = help(is_last_look) {
            backoff = Backoff::default();
            is_last_look = false;
            worker.run_job(job, origin);
        } else if is_last_look {
            is_last_look = false;
            fall_asleep();
            if let Some((job, origin)) = sleep_without_seat(worker, &is_over, &help) {
                worker.run_job(job, origin);
            }
        } else if !backoff.pause(&is_over) {
            is_last_look = true;
            fall_asleep();
            if !is_over() && !worker.has_direct_job() {
                worker.waiter().park_lightly(Some(SLEEP_ON_SEAT));
            }
        }
    }
}

/// Gives the worker's seat away (L5), and sleeps until the wait `is_over`, the worker has a direct
/// job, or `help` has found a job. Looks for one whenever it is unparked: perhaps no thread can be
/// found for the seat.
fn sleep_without_seat(
    worker: &Worker,
    is_over: impl Fn() -> bool,
    help: impl Fn(bool) -> Option<(Job, Origin)>,
) -> Option<(Job, Origin)> {
    let _seat_left = worker.leave_seat_to_wait();
    loop {
        let found = help(true);
        // After `help`, which may have consumed the wake-up for this (I7).
        if found.is_some() || is_over() || worker.has_direct_job() {
            return found;
        }
        worker.waiter().park();
    }
}

/// The same where no other worker would take the seat. A worker that cannot help does what it would
/// do if it did not wait, whatever that is. Returns `false` if the runtime shuts down before the
/// wait is over.
fn wait_at_work(
    worker: &Worker,
    is_over: impl Fn() -> bool,
    fall_asleep: impl Fn(),
    help: impl Fn(bool) -> Option<(Job, Origin)>,
) -> bool {
    let mut backoff = Backoff::default();
    while !is_over() {
        // Its ordinary steps take jobs from the inbox, so this is never the last look.
        if let Some((job, origin)) = help(false) {
            backoff = Backoff::default();
            worker.go_on();
            worker.run_job(job, origin);
            continue;
        }
        if is_over() {
            // `help` has run the last job that was missing: other work must not run in this frame.
            break;
        }
        if !worker.pause_before_theft(&is_over) && is_over() {
            break;
        }
        match worker.step_while_waiting() {
            None => return false,
            Some(Step::Ran) => backoff = Backoff::default(),
            Some(_) if backoff.pause(&is_over) => {}
            Some(_) => {
                fall_asleep();
                worker.park(&is_over);
            }
        }
    }
    worker.go_on();
    true
}

/// For a stack job that was stolen: finds what its owner has left to do, then what its thief has
/// (J3), and at last the job itself, if that was requeued and perhaps no other worker takes it.
pub(super) fn leapfrog(
    worker: &Worker,
    stolen: &Head,
    is_last_look: bool,
) -> Option<(Job, Origin)> {
    // All jobs left here are newer than the stolen one, because thieves take the oldest first.
    pop_related(worker).or_else(|| match stolen.latch.thief() {
        Some(thief) => steal_from_thief(worker, stolen, thief),
        None => worker.scheduler().take_left_job(is_last_look, |job| stolen.is_of(job)),
    })
}

fn steal_from_thief(worker: &Worker, stolen: &Head, thief: usize) -> Option<(Job, Origin)> {
    if !worker.pause_before_theft(|| stolen.latch.is_set()) {
        return None;
    }
    let seq = related_seq(worker, thief)?;
    let job = worker.scheduler().steal_job_of(thief)?;
    if stolen.latch.is_set() || related_seq(worker, thief) != Some(seq) {
        // The thief may have pushed this when it was done with the stolen job, or for an unrelated
        // one.
        requeue(worker, job, Origin::Stolen(thief));
        return None;
    }
    if_awaited(worker, job, Origin::Stolen(thief))
}

/// Pops a job that the worker may run while it waits.
fn pop_related(worker: &Worker) -> Option<(Job, Origin)> {
    while let Some(job) = deque_view::pop(worker) {
        let found = if_awaited(worker, job, Origin::Here);
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns the job, unless it is detached: no thread waits for such a job.
fn if_awaited(worker: &Worker, job: Job, origin: Origin) -> Option<(Job, Origin)> {
    if job.is_detached() { try_requeue(worker, job, origin).err() } else { Some((job, origin)) }
}

/// Leaves a job that this worker has taken, and does not wait for, to other workers: it may want a
/// lock that is held here (J3). Returns the job if no other worker could come to run it: what this
/// worker waits for may wait for the job (J5).
pub(super) fn try_requeue(worker: &Worker, job: Job, origin: Origin) -> Result<(), (Job, Origin)> {
    if !worker.lends_seats() {
        return Err((job, origin));
    }
    requeue(worker, job, origin);
    Ok(())
}

/// Leaves a job that this worker has taken to other workers.
#[cold]
fn requeue(worker: &Worker, job: Job, origin: Origin) {
    match worker.scheduler().offer_job(job, origin) {
        Ok(()) => {}
        // The runtime shuts down. The job may want a lock that is held here (J3), which fixed
        // threads have to risk.
        Err(job) if job.is_stack_job() && worker.is_fixed() => worker.run_job(job, origin),
        Err(job) if job.is_stack_job() => worker.scheduler().leave_job_to_owner(job, origin),
        Err(job) => submit_elsewhere(&Handle::of_worker(worker), job),
    }
}

/// Runs a job in the middle of another one that has nothing to do with it. What it leaves behind is
/// requeued: this worker and the owner of the other job would take it for a part of that (J3).
pub(super) fn run_unrelated(worker: &Worker, job: Job, origin: Origin) {
    if worker.is_fixed() {
        // There a waiting worker runs any job.
        return worker.run_job(job, origin);
    }
    let mark = deque_view::mark(worker);
    let seq = worker.scheduler().unrelated_seq(worker.index());
    // Relaxed: only this worker writes it.
    let is_outermost = seq.load(Ordering::Relaxed) % 2 == 0;
    if is_outermost {
        // Relaxed: a thief of a job that is pushed from now on sees this, like everything that was
        // done before the push (Q7).
        seq.fetch_add(1, Ordering::Relaxed);
    }
    worker.run_job(job, origin);
    while let Some(left) = deque_view::pop_since(worker, mark) {
        requeue(worker, left, Origin::Here);
    }
    if is_outermost {
        // Release: pairs with the Acquire in related_seq(): a thief that sees this finds no job in
        // the deque that was pushed in between.
        seq.fetch_add(1, Ordering::Release);
    }
}

/// Returns a worker's sequence number of unrelated jobs, or `None` if the worker runs such a job:
/// then what is in its deque may belong to that (J3).
fn related_seq(worker: &Worker, index: usize) -> Option<u32> {
    // Acquire: pairs with the Release in run_unrelated().
    let seq = worker.scheduler().unrelated_seq(index).load(Ordering::Acquire);
    (seq % 2 == 0).then_some(seq)
}
