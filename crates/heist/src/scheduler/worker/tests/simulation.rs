//! Programs of tasks and jobs on workers that a seeded generator steps (T1, T2, T4, T6, I1–I3, J1,
//! F3, W7). What holds here holds whichever worker runs a task (NP1), in whatever order (NP2), and
//! however long a thief takes to come (NP3).
//!
//! The seed decides everything: what tasks and jobs do, who steps next, what comes from outside,
//! how much time passes. After each step, and at the beginning of each poll, what the scheduler
//! holds is compared with what a model of the tasks says. `HEIST_STRESS_SEED` and
//! `HEIST_STRESS_SCALE` say where to begin and how many seeds to try.

mod jobs;

use super::*;
use crate::env::StoppedClock;
use heist_testing::{Rng, scaled, seed};

/// What a task is, as far as the model knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Runnable,
    Running { is_woken: bool },
    Waiting,
    Ended,
}

struct Subject {
    phase: Phase,
    waker: Option<Waker>,
    join: Option<JoinHandle<()>>,
    is_aborted: bool,
    /// It has returned Ready.
    is_done: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Polled { worker: usize, task: usize },
    Ended { task: usize },
    Slept { worker: usize },
    JobBegun { worker: Option<usize>, job: usize },
    JobEnded { job: usize },
    Outside,
}

struct World {
    rng: Rng,
    subjects: Vec<Subject>,
    trace: Vec<Event>,
    /// How many tasks may still be spawned.
    spawns: u64,
    jobs: Vec<jobs::Phase>,
    /// How many jobs may still be offered.
    jobs_left: u64,
    /// A job has panicked.
    has_failed: bool,
    clock: StoppedClock,
}

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

fn world<R>(f: impl FnOnce(&mut World) -> R) -> R {
    WORLD.with_borrow_mut(|world| f(world.as_mut().expect("a simulation is going on")))
}

fn random(below: u64) -> u64 {
    world(|world| world.rng.below(below))
}

/// A task, and what it does: the generator decides, poll by poll.
struct Program {
    number: usize,
    polls_left: u64,
}

impl Future for Program {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let number = self.number;
        world(|world| {
            let phase = &mut world.subjects[number].phase;
            assert_eq!(
                *phase,
                Phase::Runnable,
                "task {number} runs twice at once, or unasked (T2)"
            );
            *phase = Phase::Running { is_woken: false };
            let worker = stage().worker().expect("polled in a step");
            world.trace.push(Event::Polled { worker, task: number });
            let passed = world.rng.below(20_000);
            world.clock.advance(Duration::from_nanos(passed));
        });
        check(&stage());
        for _ in 0..random(4) {
            act(&stage());
        }
        self.polls_left -= 1;
        if self.polls_left == 0 {
            world(|world| world.subjects[number].is_done = true);
            return Poll::Ready(());
        }
        world(|world| world.subjects[number].waker = Some(cx.waker().clone()));
        if random(2) == 0 {
            wake(number);
        }
        world(|world| {
            let phase = &mut world.subjects[number].phase;
            let is_woken = *phase == Phase::Running { is_woken: true };
            *phase = if is_woken { Phase::Runnable } else { Phase::Waiting };
        });
        Poll::Pending
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        world(|world| {
            let subject = &mut world.subjects[self.number];
            assert_ne!(subject.phase, Phase::Ended, "task {} ends twice (T6)", self.number);
            subject.phase = Phase::Ended;
            world.trace.push(Event::Ended { task: self.number });
        });
    }
}

/// Something that any code may do, on a worker or outside.
fn act(stage: &Stage) {
    let count = world(|world| world.subjects.len() as u64);
    match random(12) {
        0..4 => spawn(stage),
        4..8 if count > 0 => wake(random(count) as usize),
        8 if count > 0 => abort(random(count) as usize),
        9.. if stage.stepping.borrow().len() < 3 => drop(step_somebody(stage)),
        _ => {}
    }
    match random(24) {
        0 => rob_one(stage),
        1 => step_aside(stage),
        2..6 => jobs::act(stage),
        _ => {}
    }
}

/// L2: sysmon finds somebody in the middle of a poll.
fn rob_one(stage: &Stage) {
    let stepping = stage.stepping.borrow().clone();
    let Some(worker) = stepping.get(random(4) as usize) else { return };
    let local = &stage.players[*worker].worker;
    stage.scheduler.rob_seat(local.me.seat_index(), *worker, local.seat.tick());
    check(stage);
}

/// L5: whoever is in a poll steps aside, and somebody else goes on meanwhile.
fn step_aside(stage: &Stage) {
    if stage.stepping.borrow().is_empty() {
        return;
    }
    let aside = super::step_aside().expect("there are others");
    check(stage);
    for _ in 0..random(3) {
        act(stage);
    }
    drop(aside);
    check(stage);
}

/// Sysmon tries once more to find spares where there were none.
fn staff(stage: &Stage) {
    stage.was_spare_missing.set(false);
    if stage.scheduler.has_tasks() && !stage.scheduler.idle.is_any_idle() {
        stage.scheduler.lend_a_seat();
    }
    (0..stage.scheduler.seats.len()).for_each(|seat| stage.scheduler.try_to_staff(seat));
    check(stage);
}

fn spawn(stage: &Stage) {
    let number = world(|world| {
        world.spawns = world.spawns.checked_sub(1)?;
        world.subjects.push(Subject {
            phase: Phase::Runnable,
            waker: None,
            join: None,
            is_aborted: false,
            is_done: false,
        });
        Some(world.subjects.len() - 1)
    });
    let Some(number) = number else { return };
    let join = stage.spawn(Program { number, polls_left: 1 + random(6) });
    world(|world| world.subjects[number].join = Some(join));
}

/// T4: a task that waits becomes runnable, one that runs will run once more.
fn wake(number: usize) {
    let waker = world(|world| {
        let subject = &mut world.subjects[number];
        subject.phase = match subject.phase {
            Phase::Waiting => Phase::Runnable,
            Phase::Running { .. } if subject.waker.is_some() => Phase::Running { is_woken: true },
            phase => phase,
        };
        subject.waker.clone()
    });
    waker.into_iter().for_each(|waker| waker.wake());
}

/// T6: a task that waits is queued, to be cancelled by a worker.
fn abort(number: usize) {
    let abort = world(|world| {
        let subject = &mut world.subjects[number];
        subject.is_aborted = true;
        if subject.phase == Phase::Waiting {
            subject.phase = Phase::Runnable;
        }
        subject.join.as_ref().map(|join| join.abort_handle())
    });
    abort.into_iter().for_each(|abort| abort.abort());
}

/// Steps a worker that can be. `false` if there is none.
fn step_somebody(stage: &Stage) -> bool {
    let able: Vec<usize> =
        (0..stage.players.len()).filter(|index| stage.can_step(*index)).collect();
    if able.is_empty() {
        return false;
    }
    let worker = able[random(able.len() as u64) as usize];
    if stage.step(worker) == Step::Idle {
        world(|world| world.trace.push(Event::Slept { worker }));
    }
    check(stage);
    true
}

/// Whether nobody has to come for what is in its ring: it is on its seat, at no job, and expects to
/// come to all of it soon (I1).
fn holds_back(stage: &Stage, index: usize) -> bool {
    let Some(seat) = stage.scheduler.seats.get(index) else { return false };
    let is_there = seat.holder() == Some(index) && !seat.is_at_job();
    is_there && !stage.remote(index).own.expected.is_long(stage.ring_len(index))
}

/// Compares the scheduler with the model.
fn check(stage: &Stage) {
    let workers = 0..stage.players.len();
    let runnable = world(|world| {
        world.subjects.iter().filter(|subject| subject.phase == Phase::Runnable).count()
    });
    let in_rings: usize = workers.clone().map(|index| stage.ring_len(index)).sum();
    let in_slots = workers.clone().filter(|index| stage.has_lifo(*index)).count();
    let injected = stage.inject_len();
    assert_eq!(in_rings + in_slots + injected, runnable, "each is in one place (T1)");

    let (searching, idle) = stage.counts();
    let seats = || stage.scheduler.seats.iter();
    let vacant = seats().filter(|seat| seat.is_vacant()).count();
    let asleep = workers.clone().filter(|index| stage.is_asleep(*index)).count();
    let woken = workers.clone().filter(|index| stage.is_woken(*index)).count();
    let seeking = workers.clone().filter(|index| stage.is_searching(*index)).count();
    assert_eq!(idle, asleep + vacant, "who sleeps is counted, and who is woken is not (I4)");
    assert_eq!(searching, seeking + woken, "who searches or is woken is counted");
    assert!(searching <= seats().len(), "I3");
    let in_polls = stage.stepping.borrow();
    assert!(
        in_polls.iter().all(|index| !stage.is_searching(*index)),
        "who runs is no searcher (I2)"
    );
    let jobs = jobs::waiting(stage);
    let held_back: usize = workers
        .clone()
        .filter(|index| holds_back(stage, *index))
        .map(|index| stage.ring_len(index))
        .sum();
    if in_rings + injected + jobs > held_back && idle > 0 {
        assert!(searching > 0, "there is work, {idle} sleep, and nobody comes (I1)");
    }
    if idle == seats().len() {
        assert_eq!(in_rings + injected + jobs, 0, "all sleep (I1)");
    }
    jobs::check_seats(stage, in_rings + injected);
    let has_seat =
        |index: usize| stage.scheduler.seats.iter().any(|seat| seat.holder() == Some(index));
    for index in workers.clone().filter(|index| !has_seat(*index)) {
        assert!(!stage.has_lifo(index), "nobody looks at the slot of one without a seat (L1)");
    }
    let mut holders: Vec<usize> = seats().filter_map(|seat| seat.holder()).collect();
    holders.sort_unstable();
    holders.dedup();
    assert_eq!(holders.len(), seats().filter_map(|seat| seat.holder()).count(), "L7");
}

/// One simulation; what happened in it.
fn simulate(seed: u64) -> Vec<Event> {
    let mut rng = Rng::new(seed);
    let workers = 1 + rng.below(5) as usize;
    let interval = [None, Some(1), Some(3), Some(61)][rng.below(4) as usize];
    let spawns = rng.below(60);
    let spares = rng.below(4) as usize;
    let is_cut_short = rng.below(3) == 0;
    let clock = StoppedClock::stop();
    let (subjects, trace) = (Vec::new(), Vec::new());
    let (jobs, jobs_left, has_failed) = (Vec::new(), rng.below(60), false);
    WORLD.set(Some(World { rng, subjects, trace, spawns, jobs, jobs_left, has_failed, clock }));
    let stage = Stage::with_spares(workers, spares, interval, seed);
    let mut steps = 0;
    loop {
        steps += 1;
        assert!(steps < 100_000, "it does not end (W7)");
        assert!(!world(|world| world.has_failed), "a job has failed");
        if is_cut_short && random(200) == 0 {
            break;
        }
        if random(8) > 0 && step_somebody(&stage) {
            continue;
        }
        world(|world| world.trace.push(Event::Outside));
        act(&stage);
        check(&stage);
        // Those that wait when nothing else happens are woken from outside, one by one.
        let waiting = world(|world| {
            let is_waiting = |subject: &Subject| subject.phase == Phase::Waiting;
            world.subjects.iter().position(is_waiting)
        });
        staff(&stage);
        let can_step = (0..stage.players.len()).any(|index| stage.can_step(index));
        match waiting {
            _ if can_step => {}
            Some(number) => wake(number),
            None if world(|world| world.spawns == 0) => break,
            None => {}
        }
    }
    stage.shut_down();
    let World { subjects, trace, jobs, has_failed, .. } = WORLD.take().expect("it is still there");
    assert!(!has_failed, "a job has failed");
    assert!(jobs.iter().all(|phase| *phase == jobs::Phase::Ended), "a job is left (J1)");
    for (number, subject) in subjects.into_iter().enumerate() {
        assert_eq!(subject.phase, Phase::Ended, "task {number} is left");
        assert!(subject.join.is_some_and(|join| join.is_finished()), "T5");
        assert!(subject.is_done || subject.is_aborted || is_cut_short, "task {number} was dropped");
    }
    trace
}

/// T1, I1: thousands of programs, each checked after every step.
#[test]
fn t1_i1_simulated_workers_lose_nothing_and_nobody_oversleeps() {
    for number in 0..scaled(3000) {
        let seed = seed().wrapping_add(number);
        if let Err(panic) = std::panic::catch_unwind(|| simulate(seed)) {
            eprintln!("the simulation fails with HEIST_STRESS_SEED={seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// The same seed is the same run, to the last event; another seed is another.
#[test]
fn t1_a_simulation_can_be_replayed() {
    for number in 0..scaled(200) {
        let seed = seed().wrapping_add(number);
        assert_eq!(simulate(seed), simulate(seed), "seed {seed}");
    }
    assert_ne!(simulate(1), simulate(2));
}
