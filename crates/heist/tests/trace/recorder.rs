//! The flight recorder: what is recorded, and when it is dumped.

use heist::runtime::{Builder, Handle, Runtime};
use heist::trace::{Config, Event, EventKind, Lane, Outcome, TaskId, Trace};
use std::io;
use std::path::Path;

fn recording(config: Config) -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().trace(config).build().unwrap()
}

fn dumped(handle: &Handle) -> Trace {
    let mut bytes = Vec::new();
    handle.dump_trace_to(&mut bytes).unwrap();
    Trace::from_bytes(bytes).unwrap()
}

fn events(trace: &Trace) -> Vec<Event> {
    trace.events().unwrap().collect::<Result<_, _>>().unwrap()
}

fn kinds(trace: &Trace) -> Vec<EventKind> {
    events(trace).into_iter().map(|event| event.kind).collect()
}

/// What happens to a task is in the record, in order, and where it was spawned.
#[test]
fn a_task_is_recorded_from_its_spawn_to_its_end() {
    for is_exact in [false, true] {
        let runtime = recording(Config::new().exact(is_exact));
        let task = runtime.spawn(async {
            heist::task::yield_now().await;
        });
        let (id, line) = (task.id().to_string(), line!() - 3);
        runtime.block_on(task).unwrap();
        let handle = runtime.handle().clone();
        // Who has waited for the task may be earlier than who writes down that it has ended.
        drop(runtime);
        let trace = dumped(&handle);
        let is_it = |task: TaskId| task.to_string() == id;
        let mut story = Vec::new();
        for event in events(&trace) {
            match event.kind {
                EventKind::Spawn { task } if is_it(task) => {
                    assert_eq!(event.lane, Lane::Outside);
                    story.push("spawned");
                }
                EventKind::SpawnedAt { task, location } if is_it(task) => {
                    assert!(
                        trace.text(location).contains(&format!("tests/trace/recorder.rs:{line}:"))
                    );
                }
                EventKind::PollStart { task, .. } if is_it(task) => story.push("polled"),
                EventKind::PollEnd { task, outcome: Outcome::Again } if is_it(task) => {
                    story.push("again");
                }
                EventKind::PollEnd { task, outcome: Outcome::Done } if is_it(task) => {
                    story.push("done");
                }
                _ => {}
            }
            assert!(
                event.is_exact
                    || !is_exact
                    || matches!(
                        event.kind,
                        EventKind::SpawnedAt { .. } | EventKind::CpuTime { .. }
                    )
            );
        }
        assert_eq!(story, ["spawned", "polled", "again", "polled", "done"]);
        assert_eq!((trace.workers(), trace.seats(), trace.pid()), (2, 2, std::process::id()));
        assert!(!trace.is_truncated());
    }
}

/// Bad paths are errors, and leave nothing behind.
#[test]
fn a_dump_that_cannot_be_written_is_an_error() {
    let off = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let error = off.handle().dump_trace_to(io::sink()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    assert!(error.to_string().contains("Builder::trace"), "{error}");

    let directory = tempfile::tempdir().unwrap();
    let runtime = recording(Config::new());
    let dump = |path: &Path| runtime.handle().dump_trace(path).unwrap_err().kind();
    assert_eq!(dump(&directory.path().join("none/trace")), io::ErrorKind::NotFound);
    assert_eq!(dump(directory.path()), io::ErrorKind::IsADirectory);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    runtime.handle().dump_trace(directory.path().join("trace")).unwrap();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    assert!(kinds(&Trace::open(directory.path().join("trace")).unwrap()).len() < 1000);
}

/// Most dumps are written when everything is over.
#[test]
fn tasks_that_have_ended_are_called_by_their_names() {
    let runtime = recording(Config::new());
    let named = heist::task::Builder::new().name("over");
    let task = named.spawn_on(async {}, runtime.handle()).unwrap();
    let id = task.id().to_string();
    runtime.block_on(task).unwrap();
    let handle = runtime.handle().clone();
    drop(runtime);
    let trace = dumped(&handle);
    let polled = kinds(&trace).into_iter().find_map(|kind| match kind {
        EventKind::PollEnd { task, .. } if task.to_string() == id => Some(task),
        _ => None,
    });
    assert_eq!(trace.name(polled.unwrap()), Some("over"));
}
