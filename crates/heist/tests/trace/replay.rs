//! The trace of a stress run, replayed: one more test of the scheduler (T1, T2, I1), and of the
//! recorder, whose order must be that of what happened.
//!
//! `HEIST_STRESS_SCALE` multiplies the number of tasks, `HEIST_STRESS_SEED` sets the seed.

use heist::runtime::Builder;
use heist::sync::{Semaphore, oneshot};
use heist::task::yield_now;
use heist::trace::{Config, Event, EventKind, Lane, Outcome, PollSource, TaskId, Trace};
use heist_testing::{Rng, scaled, seed};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// The state of the tasks and workers after the events so far.
struct Replay {
    tasks: BTreeMap<TaskId, Task>,
    workers: Vec<Worker>,
    /// Runnable tasks that any worker may take.
    visible: BTreeSet<TaskId>,
    /// The workers that have done something else since work began to wait beside a sleeper without
    /// a searcher; they are in the middle of no wake-up.
    confirmed: BTreeSet<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Runnable,
    Polled(Lane),
    Waits,
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// Between polls: it looks for something to do.
    Looks,
    Polls,
    Sleeps,
    /// It has been woken, or will be before it sleeps.
    IsWoken,
}

#[derive(Debug, Clone, Copy)]
struct Worker {
    doing: Doing,
    has_wake_up: bool,
    /// The task spawned or woken last, for which nobody is woken.
    slot: Option<TaskId>,
}

impl Replay {
    fn new(workers: usize) -> Self {
        let worker = Worker { doing: Doing::Looks, has_wake_up: false, slot: None };
        Replay {
            tasks: BTreeMap::new(),
            workers: vec![worker; workers],
            visible: BTreeSet::new(),
            confirmed: BTreeSet::new(),
        }
    }

    /// What is wrong with these events, if anything is.
    fn check(workers: usize, events: &[Event]) -> Result<(), String> {
        let mut replay = Replay::new(workers);
        events.iter().try_for_each(|event| {
            replay.take(event).map_err(|wrong| format!("{wrong}, at {event:?}"))
        })
    }

    fn take(&mut self, event: &Event) -> Result<(), String> {
        self.confirm(event)?;
        self.follow_task(event)?;
        if let Lane::Worker(number) = event.lane {
            self.follow_worker(number, event.kind);
        }
        if let EventKind::WakeWorker { worker } = event.kind {
            let worker = &mut self.workers[usize::from(worker)];
            worker.has_wake_up = true;
            if worker.doing == Doing::Sleeps {
                worker.doing = Doing::IsWoken;
            }
        }
        if !self.is_work_left_alone() {
            self.confirmed.clear();
        } else if !self.workers.iter().any(|worker| worker.doing == Doing::Polls) {
            return Err("I1: all workers sleep, though there is something to run".into());
        }
        Ok(())
    }

    /// T1, T2: a task becomes runnable once, is polled by one worker, and not again before it is
    /// woken.
    fn follow_task(&mut self, event: &Event) -> Result<(), String> {
        let (task, allowed, next) = match event.kind {
            EventKind::Spawn { task } => (task, None, Task::Runnable),
            EventKind::Wake { task } => (task, Some(Task::Waits), Task::Runnable),
            EventKind::PollStart { task, .. } => {
                (task, Some(Task::Runnable), Task::Polled(event.lane))
            }
            EventKind::PollEnd { task, outcome } => {
                let next = match outcome {
                    Outcome::Done => Task::Done,
                    Outcome::Waits => Task::Waits,
                    _ => Task::Runnable,
                };
                (task, Some(Task::Polled(event.lane)), next)
            }
            _ => return Ok(()),
        };
        let before = self.tasks.insert(task, next);
        if before == allowed {
            return Ok(());
        }
        let rule = if matches!(before, Some(Task::Polled(_))) { "T2" } else { "T1" };
        Err(format!("{rule}: a task was {before:?} and not {allowed:?}"))
    }

    fn follow_worker(&mut self, number: u16, kind: EventKind) {
        let worker = &mut self.workers[usize::from(number)];
        match kind {
            EventKind::Spawn { task } | EventKind::Wake { task } => {
                let before = worker.slot.replace(task);
                let before = before.filter(|task| self.tasks.get(task) == Some(&Task::Runnable));
                self.visible.extend(before);
            }
            EventKind::PollStart { task, .. } => {
                worker.doing = Doing::Polls;
                self.visible.remove(&task);
                for worker in &mut self.workers {
                    worker.slot = worker.slot.filter(|slot| *slot != task);
                }
            }
            EventKind::PollEnd { task, outcome } => {
                worker.doing = Doing::Looks;
                if outcome == Outcome::Again {
                    self.visible.insert(task);
                }
            }
            EventKind::Park => {
                worker.doing = if worker.has_wake_up { Doing::IsWoken } else { Doing::Sleeps };
            }
            EventKind::Unpark { .. } => {
                worker.doing = Doing::Looks;
                worker.has_wake_up = false;
            }
            _ => {}
        }
    }

    fn is_work_left_alone(&self) -> bool {
        let do_any = |doing| self.workers.iter().any(|worker| worker.doing == doing);
        let does_anybody_look = do_any(Doing::Looks) || do_any(Doing::IsWoken);
        !self.visible.is_empty() && do_any(Doing::Sleeps) && !does_anybody_look
    }

    /// I1: a worker that makes something runnable wakes a sleeper for it, if need be, before it
    /// does anything else. A wake-up is recorded a moment after it has begun. So I1 is violated if
    /// the work still waits when all busy workers have done something else.
    fn confirm(&mut self, event: &Event) -> Result<(), String> {
        let Lane::Worker(number) = event.lane else { return Ok(()) };
        // These are recorded before the submitter decides which worker to wake.
        let is_in_between = matches!(
            event.kind,
            EventKind::WakeWorker { .. }
                | EventKind::Overflow { .. }
                | EventKind::SpawnedAt { .. }
                | EventKind::CpuTime { .. }
        );
        if is_in_between || !self.is_work_left_alone() {
            return Ok(());
        }
        self.confirmed.insert(number);
        let mut workers = (0..).zip(&self.workers);
        if workers.all(|(number, worker)| {
            worker.doing != Doing::Polls || self.confirmed.contains(&number)
        }) {
            return Err("I1: a worker sleeps, there is something to run and nobody looks".into());
        }
        Ok(())
    }
}

const WORKERS: usize = 4;

/// Tasks that yield, wait for each other and for permits, and spawn more.
fn tree(
    depth: u32,
    mut rng: Rng,
    permits: Arc<Semaphore>,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let mut joins = Vec::new();
        for _ in 0..if depth == 0 { 0 } else { 1 + rng.below(4) } {
            let child = tree(depth - 1, Rng::new(rng.next_u64()), Arc::clone(&permits));
            let (sender, receiver) = oneshot::channel();
            joins.push(heist::spawn(async move {
                receiver.await.unwrap();
                child.await;
            }));
            match rng.below(3) {
                0 => yield_now().await,
                1 => drop(permits.acquire().await.unwrap()),
                _ => {}
            }
            sender.send(()).unwrap();
        }
        let permit = permits.acquire().await.unwrap();
        for _ in 0..rng.below(3) {
            yield_now().await;
        }
        drop(permit);
        for join in joins {
            join.await.unwrap();
        }
    })
}

/// What a stress run records, in the order of time.
fn recorded(round: u64) -> Vec<Event> {
    let mut builder = Builder::new_multi_thread();
    // A worker that takes a seat from another decides by time. What is here does not, and takes as
    // long as it takes.
    builder.worker_threads(WORKERS).stall_threshold(None);
    builder.trace(Config::new().exact(true).capacity(1 << 24));
    let runtime = builder.build().unwrap();
    for number in 0..scaled(8) {
        let rng = Rng::new(seed() ^ round << 32 ^ number);
        runtime.block_on(runtime.spawn(tree(5, rng, Arc::new(Semaphore::new(2))))).unwrap();
    }
    let handle = runtime.handle().clone();
    // A worker may be late to write down that a poll has ended, and the task have ended elsewhere
    // since then.
    drop(runtime);
    let mut bytes = Vec::new();
    handle.dump_trace_to(&mut bytes).unwrap();
    let trace = Trace::from_bytes(bytes).unwrap();
    assert!(trace.lanes().all(|lane| trace.lost(lane) == 0), "it needs more memory");
    trace.events().unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn t1_t2_i1_hold_in_a_stress_run() {
    for round in 0..4 {
        let events = recorded(round);
        if let Err(wrong) = Replay::check(WORKERS, &events) {
            panic!("seed {:#x}, round {round}: {wrong}", seed());
        }
        let steals = events.iter().filter(|event| matches!(event.kind, EventKind::Steal { .. }));
        let parks = events.iter().filter(|event| event.kind == EventKind::Park);
        assert!(events.len() > 100 && steals.count() + parks.count() > 0, "nothing has happened");
    }
}

/// The position of an event that `is_wanted`, somewhere in the middle.
fn find(events: &[Event], is_wanted: impl Fn(&Event) -> bool) -> usize {
    let middle = events.len() / 2;
    let found = events[middle..].iter().position(is_wanted);
    middle + found.expect("there are such events in the second half")
}

/// T1: a task that became runnable twice, or was polled though it was not, is found.
#[test]
fn t1_a_doctored_run_does_not_pass() {
    let events = recorded(7);
    let wake = find(&events, |event| matches!(event.kind, EventKind::Wake { .. }));
    let mut twice = events.clone();
    twice.insert(wake, twice[wake]);
    let wrong = Replay::check(WORKERS, &twice).unwrap_err();
    assert!(wrong.starts_with("T1"), "{wrong}");

    let mut never = events;
    never.remove(wake);
    let wrong = Replay::check(WORKERS, &never).unwrap_err();
    assert!(wrong.starts_with("T1"), "{wrong}");
}

/// T2: two polls of one task at the same time are found.
#[test]
fn t2_a_doctored_run_does_not_pass() {
    let mut events = recorded(8);
    let end = find(&events, |event| {
        matches!(event.kind, EventKind::PollEnd { outcome: Outcome::Waits | Outcome::Again, .. })
    });
    let EventKind::PollEnd { task: ended, .. } = events[end].kind else { unreachable!() };
    let again = |event: &Event| match event.kind {
        EventKind::Wake { task } | EventKind::PollStart { task, .. } => task == ended,
        _ => false,
    };
    let next = end + events[end..].iter().position(again).expect("all tasks come to their end");
    // The poll ends after the next has begun.
    let late = events.remove(end);
    events.insert(next, late);
    let wrong = Replay::check(WORKERS, &events).unwrap_err();
    assert!(wrong.starts_with("T2"), "{wrong}");
}

/// A story of two workers, in the order that it is told.
fn story(told: &[(u16, EventKind)]) -> Vec<Event> {
    let event = |(number, (lane, kind)): (u64, &(u16, EventKind))| Event {
        at: Duration::from_micros(number),
        is_exact: true,
        lane: Lane::Worker(*lane),
        kind: *kind,
    };
    (0..).zip(told).map(event).collect()
}

/// I1: work that is left alone is found, whatever the way; a wake-up that is late is none.
#[test]
fn i1_a_lost_wake_up_is_found() {
    let [a, b, c] = [1, 2, 3].map(TaskId);
    let source = PollSource::Ring;
    let begun = [
        (0, EventKind::Spawn { task: a }),
        (0, EventKind::PollStart { task: a, source }),
        (1, EventKind::Park),
        (0, EventKind::Spawn { task: b }),
        // One of them is in the slot now, the other where worker 1 could take it.
        (0, EventKind::Spawn { task: c }),
    ];
    let end = (0, EventKind::PollEnd { task: a, outcome: Outcome::Done });
    let told = |rest: &[(u16, EventKind)]| Replay::check(2, &story(&[&begun[..], rest].concat()));
    let wake_up = (0, EventKind::WakeWorker { worker: 1 });
    assert_eq!(told(&[]), Ok(()));
    assert_eq!(told(&[wake_up, end]), Ok(()));
    assert_eq!(told(&[(1, EventKind::Unpark { by_itself: true }), end]), Ok(()));
    let wrong = told(&[end]).unwrap_err();
    assert!(wrong.starts_with("I1: a worker sleeps"), "{wrong}");

    // It has seen the work, and still goes to sleep.
    let asleep = [
        wake_up,
        (1, EventKind::Unpark { by_itself: false }),
        (1, EventKind::SearchFailed),
        (1, EventKind::Park),
    ];
    let wrong = told(&[&asleep[..], &[end]].concat()).unwrap_err();
    assert!(wrong.starts_with("I1: a worker sleeps"), "{wrong}");
    let awake =
        [&asleep[..3], &[(1, EventKind::WakeWorker { worker: 1 }), asleep[3], end]].concat();
    assert_eq!(told(&awake), Ok(()));

    let all = [wake_up, end, (0, EventKind::Park), asleep[1], asleep[3]];
    let wrong = told(&all).unwrap_err();
    assert!(wrong.starts_with("I1: all workers sleep"), "{wrong}");
}
