//! Jobs in the simulation: joins, scopes, jobs that nobody waits for, and seats that are borrowed
//! of those who run them (J1, F3, L7).
//!
//! A worker that joins in the middle of a step never has to wait: what another has stolen
//! meanwhile, in a step inside of this one, has come to its end with that step.

use super::*;
use crate::runtime::Handle;

/// What a job is, as far as the model knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// In one deque, or in the inbox.
    Offered,
    Running,
    Ended,
}

/// Something with jobs, on a worker or outside.
pub(super) fn act(stage: &Stage) {
    match random(4) {
        0 => detach(stage),
        1 | 2 if is_on_worker() => fork(stage),
        3 if is_on_worker() => scope(stage),
        _ => {}
    }
}

/// Those that have stepped aside wait where a thread would.
fn is_on_worker() -> bool {
    !address_here().is_null()
}

/// The number of a job that is offered next, if there may be one more.
fn offer() -> Option<usize> {
    world(|world| {
        world.jobs_left = world.jobs_left.checked_sub(1)?;
        world.jobs.push(Phase::Offered);
        Some(world.jobs.len() - 1)
    })
}

fn detach(stage: &Stage) {
    if let Some(job) = offer() {
        Handle::of_worker(&stage.players[0].worker).spawn_detached(move || run(job));
        check(stage);
    }
}

fn fork(stage: &Stage) {
    if let Some(job) = offer() {
        crate::join(do_something, move || run(job));
        assert_eq!(world(|world| world.jobs[job]), Phase::Ended, "job {job} is left (J1)");
        check(stage);
    }
}

fn scope(stage: &Stage) {
    let first = world(|world| world.jobs.len());
    let spawned = crate::scope(|s| {
        let mut spawned = Vec::new();
        for job in (0..1 + random(3)).map_while(|_| offer()) {
            s.spawn(move |_| run(job));
            spawned.push(job);
            do_something();
        }
        spawned
    });
    let is_ended = |job: &usize| world(|world| world.jobs[*job]) == Phase::Ended;
    assert!(spawned.iter().all(is_ended), "from {first} on: jobs outlive their scope (J2)");
    check(stage);
}

/// What a job does, once.
fn run(number: usize) {
    /// A panic in a job may be nobody's business, but here it is a failure.
    struct Told(usize);

    impl Drop for Told {
        fn drop(&mut self) {
            let has_failed = std::thread::panicking();
            world(|world| {
                world.has_failed |= has_failed;
                world.jobs[self.0] = Phase::Ended;
                world.trace.push(Event::JobEnded { job: self.0 });
            });
        }
    }

    let _told = Told(number);
    let stage = stage();
    world(|world| {
        assert_eq!(world.jobs[number], Phase::Offered, "job {number} is run twice (J1)");
        world.jobs[number] = Phase::Running;
        world.trace.push(Event::JobBegun { worker: stage.worker(), job: number });
        let passed = world.rng.below(20_000);
        world.clock.advance(Duration::from_nanos(passed));
    });
    if !stage.scheduler.is_down() {
        check_turn(&stage);
        check(&stage);
        do_something();
    }
}

fn do_something() {
    let stage = stage();
    (0..random(4)).for_each(|_| super::act(&stage));
}

/// F3: who sits on a borrowed seat leaves jobs to others, unless it is the one who has lent it.
fn check_turn(stage: &Stage) {
    let local = &stage.players[stage.worker().expect("run in a step")].worker;
    let is_borrower = local.seat_held().is_some() && local.me.seat().is_borrowed();
    assert!(!(local.jobs.is_at_one() && is_borrower), "a borrower takes a job (F3)");
}

/// How many wait, which is also what the model says (J1).
pub(super) fn waiting(stage: &Stage) -> usize {
    let is_offered = |phase: &&Phase| **phase == Phase::Offered;
    let offered = world(|world| world.jobs.iter().filter(is_offered).count());
    let deques = (0..stage.players.len()).map(|index| stage.remote(index).jobs.len());
    let waiting = deques.sum::<usize>() + stage.scheduler.jobs.len();
    assert_eq!(waiting, offered, "each job is in one place (J1)");
    waiting
}

/// Seats of those at jobs.
pub(super) fn check_seats(stage: &Stage, tasks: usize) {
    let seats = || stage.scheduler.seats.iter();
    for seat in seats() {
        let at_job = seat.is_at_job().then(|| seat.holder().expect("nobody is at no job"));
        let is_stepping = |index: usize| stage.stepping.borrow().contains(&index);
        // Between a job and its next step a worker has not looked at its seat.
        let has_ended = |index: usize| stage.can_step(index);
        assert!(at_job.is_none_or(|index| is_stepping(index) || has_ended(index)));
        let holds_any = |lender| seats().any(|seat| seat.holder() == Some(lender));
        assert!(!seat.lender().is_some_and(holds_any), "a lender has a seat (L7)");
    }
    let are_all_at_jobs = seats().all(|seat| seat.is_at_job());
    assert!(
        tasks == 0 || !are_all_at_jobs || stage.was_spare_missing.get(),
        "{tasks} tasks wait for jobs (F3)"
    );
}
