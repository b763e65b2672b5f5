//! The flight recorder: what is recorded, and when it is dumped.

use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::UnixStream;
use heist::runtime::{Builder, Handle, Runtime};
use heist::task::{JoinSet, coop};
use heist::time::{self, Duration, Instant, MissedTickBehavior};
use heist::trace::{Config, Event, EventKind, Lane, Outcome, Resource, TaskId, Trace};
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
        // The thread that waited for the task may be ahead of the one that records its end.
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

/// The resources that a task's polls were cut short for, each once.
async fn resources_of(task: impl Future<Output = ()> + Send + 'static) -> Vec<Resource> {
    let task = heist::spawn(task);
    let id = task.id().to_string();
    task.await.unwrap();
    let mut resources: Vec<_> = kinds(&dumped(&Handle::current()))
        .into_iter()
        .filter_map(|kind| match kind {
            EventKind::BudgetExhausted { task, resource } if task.to_string() == id => {
                Some(resource)
            }
            _ => None,
        })
        .collect();
    resources.dedup();
    resources
}

/// Missed ticks of a second.
async fn ticks(behavior: MissedTickBehavior) {
    let start = Instant::now() - Duration::from_secs(1);
    let mut interval = time::interval_at(start, Duration::from_millis(1));
    interval.set_missed_tick_behavior(behavior);
    for _ in 0..300 {
        interval.tick().await;
    }
}

/// A poll that is cut short says what it wanted its next unit of budget for.
#[test]
fn a_poll_that_is_cut_short_tells_its_resource() {
    let runtime = recording(Config::new());
    runtime.block_on(async {
        assert_eq!(resources_of(ticks(MissedTickBehavior::Burst)).await, [Resource::LateInterval]);
        let sleeps = async {
            for _ in 0..300 {
                time::sleep_until(Instant::now() - Duration::from_secs(1)).await;
            }
        };
        assert_eq!(resources_of(sleeps).await, [Resource::Timer]);
        let (mut reader, mut writer) = UnixStream::pair().unwrap();
        writer.write_all(&[0; 300]).await.unwrap();
        let reads = async move {
            for _ in 0..300 {
                reader.read_u8().await.unwrap();
            }
        };
        assert_eq!(resources_of(reads).await, [Resource::Io]);
        let mut tasks: JoinSet<_> = (0..300).map(|_| async {}).collect();
        let joins = async move { while tasks.join_next().await.is_some() {} };
        // Where the tasks end one by one, their joiner waits for each.
        let joined = resources_of(joins).await;
        assert!(joined.iter().all(|resource| *resource == Resource::Task), "{joined:?}");
        let consumes = async {
            for _ in 0..300 {
                coop::consume_budget().await;
            }
        };
        assert_eq!(resources_of(consumes).await, [Resource::Other]);
    });
}
