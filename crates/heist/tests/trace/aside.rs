//! The recorder's events of tasks that no worker runs, of the thread that drives a runtime without
//! workers, and of its own end.

use heist::runtime::{Builder, Handle, Runtime};
use heist::task::{LocalSet, spawn_blocking, spawn_local, yield_now};
use heist::trace::{Config, Event, EventKind, Lane, OffWorker, Outcome, TaskId, Trace};
use std::thread;
use std::time::Duration;

fn recorded(mut builder: Builder) -> Runtime {
    builder.enable_all().trace(Config::new()).build().unwrap()
}

fn two_workers() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2);
    recorded(builder)
}

fn trace(handle: &Handle) -> (Trace, Vec<Event>) {
    let mut bytes = Vec::new();
    handle.dump_trace_to(&mut bytes).unwrap();
    let trace = Trace::from_bytes(bytes).unwrap();
    let events: Result<Vec<_>, _> = trace.events().unwrap().collect();
    (trace, events.unwrap())
}

/// All that is told of a task, in the order of time.
fn of(events: &[Event], wanted: TaskId) -> Vec<EventKind> {
    let is_meant = |kind: &EventKind| match kind {
        EventKind::OffWorkerSpawn { task, .. }
        | EventKind::SpawnedAt { task, .. }
        | EventKind::OffWorkerStart { task }
        | EventKind::OffWorkerEnd { task, .. }
        | EventKind::Spawn { task }
        | EventKind::PollStart { task, .. } => *task == wanted,
        _ => false,
    };
    events.iter().map(|event| event.kind).filter(is_meant).collect()
}

fn here(trace: &Trace, kind: EventKind) -> bool {
    match kind {
        EventKind::SpawnedAt { location, .. } => trace.text(location).contains("trace/aside.rs:"),
        _ => false,
    }
}

fn number(id: heist::task::Id) -> TaskId {
    TaskId(id.to_string().parse().unwrap())
}

/// From a task and from outside; also one that panics.
#[test]
fn closures_are_told_from_their_spawn_to_their_end() {
    let runtime = two_workers();
    let from_task = runtime.spawn(async {
        let closure = spawn_blocking(|| ());
        let id = closure.id();
        closure.await.unwrap();
        id
    });
    let from_task = runtime.block_on(from_task).unwrap();
    let from_outside = runtime.spawn_blocking(|| panic!("as the test wants it"));
    let panics = from_outside.id();
    runtime.block_on(from_outside).unwrap_err();
    let handle = runtime.handle().clone();
    // Its waiter may be told before the end is recorded.
    drop(runtime);
    let (trace, events) = trace(&handle);
    for task in [from_task, panics].map(number) {
        let told = of(&events, task);
        let [spawned, place, start, end] = told[..] else { panic!("{told:?}") };
        assert_eq!(spawned, EventKind::OffWorkerSpawn { task, by: OffWorker::Closure });
        assert!(here(&trace, place), "{place:?}");
        assert_eq!(start, EventKind::OffWorkerStart { task });
        assert_eq!(end, EventKind::OffWorkerEnd { task, outcome: Outcome::Done });
    }
}

#[test]
fn tasks_of_a_local_set_are_told_poll_by_poll() {
    let runtime = two_workers();
    let set = LocalSet::new();
    let task = set.block_on(&runtime, async {
        let task = spawn_local(async { yield_now().await });
        let id = task.id();
        task.await.unwrap();
        number(id)
    });
    let (trace, events) = trace(runtime.handle());
    let told = of(&events, task);
    let [spawned, place, first, yields, second, done] = told[..] else { panic!("{told:?}") };
    assert_eq!(spawned, EventKind::OffWorkerSpawn { task, by: OffWorker::LocalSet });
    assert!(here(&trace, place), "{place:?}");
    assert_eq!([first, second], [EventKind::OffWorkerStart { task }; 2]);
    assert_eq!(yields, EventKind::OffWorkerEnd { task, outcome: Outcome::Again });
    assert_eq!(done, EventKind::OffWorkerEnd { task, outcome: Outcome::Done });
}

/// Nobody sits there between two calls of `block_on`.
#[test]
fn a_thread_that_drives_a_runtime_takes_its_seat_and_leaves_it() {
    let runtime = recorded(Builder::new_current_thread());
    runtime.block_on(async {});
    runtime.block_on(async { yield_now().await });
    let (_, events) = trace(runtime.handle());
    let seats: Vec<_> = events
        .iter()
        .filter(|event| event.lane == Lane::Worker(0))
        .filter_map(|event| match event.kind {
            EventKind::SeatTaken { seat: 0 } => Some(true),
            EventKind::SeatLeft { seat: 0 } => Some(false),
            _ => None,
        })
        .collect();
    assert_eq!(seats, [true, false, true, false]);
}

/// A program that hangs has no other sign of how long it does.
#[test]
fn a_trace_ends_when_it_was_dumped() {
    let runtime = two_workers();
    runtime.block_on(runtime.spawn(async {})).unwrap();
    let pause = Duration::from_millis(30);
    thread::sleep(pause);
    let (_, events) = trace(runtime.handle());
    let is_dumped = |event: &&Event| event.kind == EventKind::Dumped;
    assert_eq!(events.iter().filter(is_dumped).count(), 1);
    let last = events.last().unwrap();
    assert_eq!((last.kind, last.lane, last.is_exact), (EventKind::Dumped, Lane::Outside, true));
    let spawned = events.iter().find(|event| matches!(event.kind, EventKind::Spawn { .. }));
    assert!(last.at >= spawned.unwrap().at + pause);
}
