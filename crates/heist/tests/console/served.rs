//! What a console says about its runtime.

use crate::client::{ask, file, get, snapshot, start, started, until};
use heist::console::Config;
use heist::task;
use heist::trace::{EventKind, Trace};
use serde_json::Value;
use std::future::pending;
use std::sync::mpsc;

fn task_of(snapshot: &Value, id: u64) -> Option<&Value> {
    snapshot["tasks"].as_array().unwrap().iter().find(|task| task["id"] == id)
}

fn number(id: task::Id) -> u64 {
    id.to_string().parse().unwrap()
}

/// M1: what is told is what was counted.
#[test]
fn m1_a_snapshot_tells_of_runtime_workers_and_tasks() {
    let asked = start(Config::unix, |builder| _ = builder.name("the one"));
    let task = asked.rt.spawn(async {
        task::yield_now().await;
        pending::<()>().await
    });
    let line = line!() - 4;
    let id = number(task.id());
    let waits = |said: &Value| task_of(said, id).is_some_and(|task| task["state"] == "waiting");
    let said = until(&asked.address, "", |said| waits(said) && said["runtime"]["stalls"] == 0);
    assert_eq!((&said["version"], &said["pid"]), (&1.into(), &std::process::id().into()));
    let runtime = &said["runtime"];
    assert_eq!((&runtime["name"], &runtime["flavor"]), (&"the one".into(), &"multi_thread".into()));
    assert_eq!((&runtime["num_workers"], &runtime["alive_tasks"]), (&2.into(), &1.into()));
    let task = task_of(&said, id).unwrap();
    assert_eq!((&task["polls"], &task["name"]), (&2.into(), &Value::Null));
    let place = task["spawned_at"].as_str().unwrap();
    assert!(place.contains(&format!("served.rs:{line}:")), "{place}");
    let polls: u64 = (0..2).map(|n| said["workers"][n]["polls"].as_u64().unwrap()).sum();
    assert_eq!(polls, 2);
    for bucket in ["poll_time", "scheduling_delay"] {
        let buckets = said["histograms"][bucket].as_array().unwrap();
        assert_eq!(buckets.iter().map(|b| b["count"].as_u64().unwrap()).sum::<u64>(), 2);
        assert_eq!(buckets.last().unwrap()["le_ns"], Value::Null);
    }
    assert_eq!((&said["tasks_tracked"], &said["tasks_untracked"]), (&1.into(), &0.into()));
}

/// M1: a worker that is in a task says which, and on which seat it sits.
#[test]
fn m1_a_busy_worker_tells_what_it_runs() {
    let asked = started();
    let (end, ends) = mpsc::channel::<()>();
    let future = async move { while ends.try_recv() == Err(mpsc::TryRecvError::Empty) {} };
    let builder = task::Builder::new().name("spins");
    let spins = builder.spawn_on(future, asked.rt.handle()).unwrap();
    let runs = |worker: &Value| worker["running"]["name"] == "spins" && worker["state"] == "busy";
    let said = until(&asked.address, "", |said| {
        let running = |said: &Value| said["tasks"][0]["state"] == "running";
        said["workers"].as_array().unwrap().iter().any(runs) && running(said)
    });
    let worker = said["workers"].as_array().unwrap().iter().find(|worker| runs(worker)).unwrap();
    assert_eq!(worker["seat"], worker["worker"]);
    assert_eq!(worker["running"]["task"], number(spins.id()));
    let first = said["tasks"][0]["busy_ns"].as_u64().unwrap();
    until(&asked.address, "", |said| said["tasks"][0]["busy_ns"].as_u64().unwrap() > first);
    drop(end);
    asked.rt.block_on(spins).unwrap();
    let parked = |said: &Value| {
        let workers = said["workers"].as_array().unwrap();
        workers.iter().all(|worker| worker["state"] == "parked" && worker["running"].is_null())
    };
    until(&asked.address, "", parked);
}

/// L5: a worker that has stepped aside is blocked, and has no seat.
#[test]
fn l5_a_worker_that_steps_aside_has_no_seat() {
    let asked = started();
    let (end, ends) = mpsc::channel::<()>();
    let task = asked.rt.spawn(async move { task::block_in_place(|| ends.recv().is_err()) });
    let is_blocked =
        |worker: &Value| worker["state"] == "blocked" && worker["running"]["task"].is_u64();
    let said = until(&asked.address, "", |said| {
        said["workers"].as_array().unwrap().iter().any(is_blocked)
    });
    let worker = said["workers"].as_array().unwrap().iter().find(|w| is_blocked(w)).unwrap();
    assert_eq!(worker["seat"], Value::Null);
    drop(end);
    assert!(asked.rt.block_on(task).unwrap());
}

#[test]
fn tasks_are_sorted_filtered_and_limited() {
    let asked = started();
    let spawn = |name: &str, polls: usize| {
        let future = async move {
            for _ in 1..polls {
                task::yield_now().await;
            }
            pending::<()>().await
        };
        task::Builder::new().name(name).spawn_on(future, asked.rt.handle()).unwrap()
    };
    let tasks = [spawn("few of a", 2), spawn("many of a", 50), spawn("some of b", 10)];
    let all_wait = |said: &Value| {
        let tasks = said["tasks"].as_array().unwrap();
        tasks.len() == 3 && tasks.iter().all(|task| task["state"] == "waiting")
    };
    until(&asked.address, "", all_wait);
    let names = |query: &str| -> Vec<String> {
        let said = snapshot(&asked.address, query);
        let tasks = said["tasks"].as_array().unwrap();
        tasks.iter().map(|task| task["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("sort=polls"), ["many of a", "some of b", "few of a"]);
    assert_eq!(names("sort=id"), ["few of a", "many of a", "some of b"]);
    assert_eq!(names("sort=polls&filter=of%20a"), ["many of a", "few of a"]);
    assert_eq!(names("sort=polls&filter=of+a&tasks=1"), ["many of a"]);
    assert_eq!(names("filter=served.rs").len(), 3);
    assert_eq!(names("tasks=0").len(), 0);
    assert_eq!(names("filter=nowhere").len(), 0);
    let said = snapshot(&asked.address, "filter=of+a&tasks=1");
    assert_eq!((&said["tasks_matched"], &said["tasks_tracked"]), (&2.into(), &3.into()));
    for by in ["busy", "delay"] {
        let said = snapshot(&asked.address, &format!("sort={by}"));
        let number = |task: &Value| task[format!("{by}_ns")].as_u64().unwrap();
        assert!(said["tasks"].as_array().unwrap().is_sorted_by_key(|task| !number(task)), "{said}");
    }
    drop(tasks);
}

#[test]
fn the_table_of_tasks_is_bounded() {
    let asked = start(|path| Config::unix(path).max_tasks(3), |_| {});
    let tasks: Vec<_> = (0..10).map(|_| asked.rt.spawn(pending::<()>())).collect();
    let said = snapshot(&asked.address, "");
    assert_eq!(said["tasks"].as_array().unwrap().len(), 3);
    assert_eq!((&said["tasks_tracked"], &said["tasks_untracked"]), (&3.into(), &7.into()));
    assert_eq!(said["runtime"]["alive_tasks"], 10);
    tasks.iter().for_each(|task| task.abort());
    until(&asked.address, "", |said| said["tasks_tracked"] == 0 && said["tasks_untracked"] == 0);
}

#[test]
fn names_can_be_anything() {
    let hostile = [
        "\"},{\"id\":1",
        "\\",
        "\\\"",
        "line\nfeed\r\t\0\u{1b}[31m",
        "\u{2028}\u{202e}\u{feff}",
        "é🦀",
        "</script>",
        "",
    ];
    let asked = start(Config::unix, |builder| _ = builder.name("a\"b\\c\nd{}"));
    let long = "x".repeat(100_000);
    let tasks = hostile.iter().copied().chain([&*long]).map(|name| {
        task::Builder::new().name(name).spawn_on(pending::<()>(), asked.rt.handle()).unwrap()
    });
    let tasks: Vec<_> = tasks.collect();
    let said = snapshot(&asked.address, "sort=id");
    assert_eq!(said["runtime"]["name"], "a\"b\\c\nd{}");
    for (task, name) in tasks.iter().zip(hostile) {
        assert_eq!(task_of(&said, number(task.id())).unwrap()["name"], name);
    }
    let cut = task_of(&said, number(tasks[8].id())).unwrap()["name"].as_str().unwrap();
    assert_eq!(cut, format!("{}…", "x".repeat(200)));
    // Terminals and logs get no control characters either.
    let text = get(&asked.address, "/v1/snapshot?sort=id");
    assert!(!text.chars().any(|c| c.is_control() || c == '\u{2028}'));
    let filter = "%22%7D,%7B%22id%22:1";
    assert_eq!(snapshot(&asked.address, &format!("filter={filter}"))["tasks_matched"], 1);
}

#[test]
fn runtimes_tell_of_their_own_tasks() {
    let (one, other) = (started(), started());
    let ours = one.rt.spawn(pending::<()>());
    let theirs = other.rt.spawn(pending::<()>());
    for (asked, task) in [(&one, ours), (&other, theirs)] {
        let said = snapshot(&asked.address, "");
        assert_eq!(said["tasks_tracked"], 1);
        assert_eq!(said["tasks"][0]["id"], number(task.id()));
    }
    // Spawned without a handle, from within.
    let task = {
        let _entered = other.rt.enter();
        heist::spawn(pending::<()>())
    };
    assert!(task_of(&snapshot(&other.address, ""), number(task.id())).is_some());
    assert!(task_of(&snapshot(&one.address, ""), number(task.id())).is_none());
    // A runtime without a console beside them runs tasks as ever.
    let plain = heist::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(plain.block_on(async { heist::spawn(async { 5 }).await.unwrap() }), 5);
}

/// L2: what was reported can be asked for later.
#[test]
fn l2_stalls_are_kept_for_later_requests() {
    let asked = start(Config::unix, |builder| {
        builder.worker_threads(1).on_stall(|_| panic!("on purpose"));
    });
    let (end, ends) = mpsc::channel::<()>();
    let builder = task::Builder::new().name("stuck");
    let future = async move { while ends.try_recv() == Err(mpsc::TryRecvError::Empty) {} };
    let stuck = builder.spawn_on(future, asked.rt.handle()).unwrap();
    // Something has to wait for it.
    let waits: Vec<_> = (0..4).map(|_| asked.rt.spawn(async {})).collect();
    let is_told = |said: &Value| !said["recent_stalls"].as_array().unwrap().is_empty();
    let said = until(&asked.address, "", is_told);
    let stall = &said["recent_stalls"][0];
    assert_eq!((&stall["name"], &stall["task"]), (&"stuck".into(), &number(stuck.id()).into()));
    assert_eq!(stall["worker"], 0);
    assert!(stall["duration_ns"].as_u64().unwrap() > 0);
    assert!(stall["sentence"].as_str().unwrap().starts_with("task \"stuck\" (spawned at "));
    drop(end);
    asked.rt.block_on(stuck).unwrap();
    waits.into_iter().for_each(|task| asked.rt.block_on(task).unwrap());
    until(&asked.address, "", |said| {
        said["recent_stalls"].as_array().unwrap().last().unwrap()["is_over"] == true
    });
}

/// A runtime without worker threads answers while nobody is in `block_on`.
#[test]
fn a_runtime_that_does_nothing_can_be_asked() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::unix(dir.path().join("s"));
    let mut builder = heist::runtime::Builder::new_current_thread();
    let rt = builder.console(config).build().unwrap();
    let address = rt.handle().console_address().unwrap();
    let task = rt.spawn(async {});
    let said = snapshot(address, "");
    assert_eq!(said["runtime"]["flavor"], "current_thread");
    assert_eq!(said["workers"][0]["state"], "parked");
    assert_eq!(said["tasks"][0]["state"], "queued");
    assert!(said["tasks"][0]["delay_ns"].as_u64().unwrap() > 0);
    rt.block_on(task).unwrap();
    assert_eq!(snapshot(address, "")["tasks_tracked"], 0);
}

#[test]
fn a_trace_can_be_had_while_the_program_runs() {
    let asked = started();
    assert_eq!(snapshot(&asked.address, "")["runtime"]["is_recording"], true);
    // More than fits into one piece.
    asked
        .rt
        .block_on(asked.rt.spawn(async {
            for _ in 0..20_000 {
                task::yield_now().await;
            }
        }))
        .unwrap();
    let bytes = file(&asked.address, "/v1/trace");
    assert!(bytes.len() > 128 * 1024, "{}", bytes.len());
    let trace = Trace::from_bytes(bytes).unwrap();
    assert_eq!((trace.pid(), trace.seats(), trace.is_truncated()), (std::process::id(), 2, false));
    let polls = trace.events().unwrap().map(Result::unwrap);
    let polls = polls.filter(|event| matches!(event.kind, EventKind::PollStart { .. })).count();
    assert!(polls >= 20_000, "{polls}");
}

#[test]
fn without_a_recorder_there_is_no_trace() {
    let asked = start(|path| Config::unix(path).record(false), |_| {});
    assert_eq!(snapshot(&asked.address, "")["runtime"]["is_recording"], false);
    let (status, sentence) = ask(&asked.address, "/v1/trace");
    assert_eq!(status, 404);
    assert!(sentence.contains("does not record"), "{sentence}");
}
