//! Programs whose findings named the wrong cause, or none.

use crate::programs::{Program, SLOW_POLLS, SLOW_SPAWNS, all, burn, expect_if_fast, healthy, slow};
use crate::{file, heist, text};
use heist::sync::{Barrier, Mutex};
use heist::task::{JoinSet, yield_now};
use heist::trace::Trace;
use heist::{spawn, time};
use heist_cli::doctor::{Diagnosis, Finding, Verdict, examine};
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as StdMutex};
use std::task::Poll;
use std::thread;
use std::time::Duration;

fn diagnose(program: &Program) -> Diagnosis {
    let trace = Trace::from_bytes(program.record()).expect("what was written can be read");
    examine(&trace).expect("a trace of one's own can be read")
}

fn found<'d>(diagnosis: &'d Diagnosis, id: &str) -> &'d Finding {
    let found = diagnosis.findings.iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("no {id}: {diagnosis:#?}"))
}

const EMPTY_TASKS: Program = Program::new("empty tasks", |runtime| {
    let spawner = runtime.spawn(async {
        for _ in 0..100 {
            let mut tasks = JoinSet::new();
            for _ in 0..1000 {
                tasks.spawn(async {});
            }
            while tasks.join_next().await.is_some() {}
        }
    });
    runtime.block_on(spawner).unwrap();
});

#[test]
fn empty_tasks_in_a_join_set() {
    let slow = [SLOW_POLLS, SLOW_SPAWNS, slow("budget-exhausted"), slow("inject-pressure")];
    expect_if_fast(&EMPTY_TASKS, &[&["tiny-tasks"], &slow[..]].concat());
}

const WAKES_ITSELF: Program = Program::new("wakes itself", |runtime| {
    let mut polls = 0;
    let task = runtime.spawn(poll_fn(move |cx| {
        polls += 1;
        cx.waker().wake_by_ref();
        if polls < 300_000 { Poll::Pending } else { Poll::Ready(()) }
    }));
    runtime.block_on(task).unwrap();
});

const YIELDS: Program = Program::new("yields", |runtime| {
    let task = runtime.spawn(async {
        for _ in 0..300_000 {
            yield_now().await;
        }
    });
    runtime.block_on(task).unwrap();
});

#[test]
fn a_task_that_wakes_itself_all_the_time() {
    for program in [&WAKES_ITSELF, &YIELDS] {
        expect_if_fast(program, &["self-wake", slow("imbalance-one-task")]);
    }
}

/// How often a worker was found in a futex.
static IN_FUTEX: AtomicUsize = AtomicUsize::new(0);

/// A task sleeps with a lock of std that others want.
const SLEEPS_WITH_A_LOCK: Program = Program {
    build: |builder| {
        builder.worker_threads(3).on_stall(|stall| {
            let is_new = !stall.is_over() && stall.to_string().contains("futex");
            IN_FUTEX.fetch_add(usize::from(is_new), Ordering::Relaxed);
        });
    },
    ..Program::new("sleeps with a lock", |runtime| {
        let lock = Arc::new(StdMutex::new(0));
        let is_seen = || IN_FUTEX.load(Ordering::Relaxed) >= 3;
        let ticks = (0..8).map(|_| async move {
            while !is_seen() {
                time::sleep(Duration::from_millis(1)).await;
                burn(20);
            }
        });
        let mut tasks: Vec<_> = ticks.map(|ticks| runtime.spawn(ticks)).collect();
        for _ in 0..2 {
            let lock = Arc::clone(&lock);
            tasks.push(runtime.spawn(async move {
                while !is_seen() {
                    *lock.lock().unwrap() += 1;
                    time::sleep(Duration::from_millis(5)).await;
                }
            }));
        }
        let holder = heist::task::Builder::new().name("holder");
        let holds = async move {
            while !is_seen() {
                {
                    let mut count = lock.lock().unwrap();
                    thread::sleep(Duration::from_millis(60));
                    *count += 1;
                }
                time::sleep(Duration::from_millis(10)).await;
            }
        };
        tasks.push(holder.spawn_on(holds, runtime.handle()).unwrap());
        runtime.block_on(all(tasks));
    })
};

#[test]
fn a_lock_that_is_held_across_slow_work() {
    let diagnosis = diagnose(&SLEEPS_WITH_A_LOCK);
    let blocked = |finding: &&Finding| finding.sentence.contains("futex");
    let finding = diagnosis.findings.iter().find(blocked);
    let finding = finding.unwrap_or_else(|| panic!("{diagnosis:#?}"));
    assert_eq!(finding.id, "blocking-call");
    assert!(finding.sentence.contains("lock held across slow work"), "{}", finding.sentence);
    let holder = finding.tasks.last().unwrap();
    assert_eq!(holder.name.as_deref(), Some("holder"), "{finding:#?}");
    assert!(holder.spawned_at.as_deref().is_some_and(|line| finding.sentence.contains(line)));
}

/// All ticks of a second are late.
const CATCHES_UP: Program = Program::new("catches up", |runtime| {
    let task = runtime.spawn(async {
        let start = time::Instant::now() - Duration::from_secs(1);
        let mut interval = time::interval_at(start, Duration::from_micros(20));
        for _ in 0..20_000 {
            interval.tick().await;
        }
    });
    runtime.block_on(task).unwrap();
});

#[test]
fn an_interval_that_catches_up_on_missed_ticks() {
    let diagnosis = diagnose(&CATCHES_UP);
    let finding = found(&diagnosis, "budget-exhausted");
    assert!(finding.sentence.contains("MissedTickBehavior is Burst"), "{finding:#?}");
    assert!(finding.lines[0].contains("verdicts.rs"), "{finding:#?}");
}

/// Longer than it takes to be called idle, whatever was before.
fn wait_for_long() {
    thread::sleep(Duration::from_millis(1100));
}

/// Each has one lock, and wants that of the other.
const DEADLOCK: Program = Program::new("deadlock", |runtime| {
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let before = STARTED.load(Ordering::Relaxed);
    let locks = [Arc::new(Mutex::new(())), Arc::new(Mutex::new(()))];
    let both = Arc::new(Barrier::new(2));
    for (mine, other) in [(0, 1), (1, 0)] {
        let (mine, other, both) = (locks[mine].clone(), locks[other].clone(), both.clone());
        runtime.spawn(async move {
            let _mine = mine.lock().await;
            both.wait().await;
            STARTED.fetch_add(1, Ordering::Relaxed);
            let _other = other.lock().await;
        });
    }
    while STARTED.load(Ordering::Relaxed) < before + 2 {
        thread::sleep(Duration::from_millis(1));
    }
    wait_for_long();
});

const LOST_WAKER: Program = Program::new("lost waker", |runtime| {
    let started = runtime.spawn(async {
        spawn(pending::<()>());
        time::sleep(Duration::from_millis(1)).await;
    });
    runtime.block_on(started).unwrap();
    wait_for_long();
});

#[test]
fn programs_that_have_done_nothing_but_wait() {
    for (program, tasks) in [(&DEADLOCK, 2), (&LOST_WAKER, 1)] {
        let trace = file(&format!("{}.trace", program.name), &program.record());
        let output = heist(&["doctor", &trace]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let said = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!said.contains("healthy"), "{said}");
        for part in ["idle: nothing found", "waiting longest", "verdicts.rs:", "waker was lost"] {
            assert!(said.contains(part), "no {part} in {said}");
        }

        let output = heist(&["doctor", "--json", &trace]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!(said["verdict"], "idle");
        let waiting = &said["waiting"][0];
        assert_eq!(waiting["tasks"], tasks);
        assert!(waiting["longest_nanoseconds"].as_u64().is_some_and(|n| n >= 1_000_000_000));
        assert!(waiting["spawned_at"].as_str().is_some_and(|at| at.contains("verdicts.rs")));
        assert!(waiting["examples"][0]["id"].is_u64(), "{waiting}");
    }
}

/// It says that there was nothing to do, and no more.
#[test]
fn a_program_without_tasks_is_idle() {
    let diagnosis = diagnose(&healthy::IDLE);
    assert_eq!((diagnosis.verdict, diagnosis.waiting), (Verdict::Idle, vec![]));
}
