//! When a trace is dumped by itself: on a stall, on a panic, on SIGUSR2, at the end, and by the
//! environment.

mod support;

use heist::runtime::{Builder, Runtime};
use heist::signal::unix::SignalKind;
use heist::trace::{Config, EventKind, StallKind, Trace};
use rustix::fs::{CWD, Mode, mkfifoat};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use support::children::wait_until;
use support::signals;

/// The shortest interval between two dumps of panics.
const OFTEN: Duration = Duration::from_secs(1);

/// A signal is heard by all runtimes of the process that listen: one test at a time has one sent.
static SIGNALS: Mutex<()> = Mutex::new(());

fn recording(config: Config) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).enable_time().trace(config).build().unwrap()
}

/// The trace, as soon as it is there: then it is whole.
fn wait_for(file: &Path) -> Trace {
    wait_until(|| file.exists());
    let trace = Trace::open(file).unwrap();
    assert!(!trace.is_truncated());
    trace
}

fn kinds(trace: &Trace) -> Vec<EventKind> {
    trace.events().unwrap().map(|event| event.unwrap().kind).collect()
}

/// Whether the trace has a poll of this task, complete or not.
fn has_poll_of(trace: &Trace, id: &str) -> bool {
    let mut kinds = kinds(trace).into_iter();
    kinds.any(|kind| matches!(kind, EventKind::PollStart { task, .. } if task.to_string() == id))
}

#[test]
fn a_stall_is_dumped_while_it_lasts() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace");
    let runtime = recording(Config::new().dump_on_stall(&file));
    let (release, blocked) = mpsc::channel::<()>();
    let task = runtime.spawn(async move { blocked.recv().unwrap() });
    let id = task.id().to_string();
    // Somebody has to wait for the worker, else it is no stall.
    let others: Vec<_> = (0..4).map(|_| runtime.spawn(async {})).collect();
    let trace = wait_for(&file);
    release.send(()).unwrap();
    let stall = kinds(&trace).into_iter().find_map(|kind| match kind {
        EventKind::Stall { worker, task, kind } => Some((worker, task, kind)),
        _ => None,
    });
    let (worker, stuck, kind) = stall.expect("what has led to the dump is in it");
    assert_eq!((worker, stuck.to_string()), (0, id.clone()));
    if let StallKind::Blocked(call) = kind {
        assert_eq!(trace.text(call), "futex");
    }
    // The poll that goes on is in it, too, and where its task was spawned.
    assert!(has_poll_of(&trace, &id));
    runtime.block_on(async {
        task.await.unwrap();
        for other in others {
            other.await.unwrap();
        }
    });
}

#[test]
fn a_panic_of_a_task_is_dumped() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace");
    let runtime = recording(Config::new().dump_on_panic(&file));
    let task = runtime.spawn(async { panic!("on purpose") });
    let id = task.id().to_string();
    assert!(runtime.block_on(task).unwrap_err().is_panic());
    assert!(has_poll_of(&wait_for(&file), &id));
    // The runtime goes on.
    assert_eq!(runtime.block_on(runtime.spawn(async { 1 })).unwrap(), 1);
}

/// A program that panics all the time is dumped now and then. Wishes are heard one after the other:
/// when the signal was, the panic was.
#[test]
fn panics_are_not_dumped_again_at_once() {
    let _alone = SIGNALS.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let (file, other) = (directory.path().join("panic"), directory.path().join("signal"));
    let runtime = recording(Config::new().dump_on_panic(&file).dump_on_signal(&other));
    let panics = || {
        runtime.block_on(runtime.spawn(async { panic!("on purpose") })).unwrap_err();
    };
    loop {
        let begun = Instant::now();
        panics();
        wait_until(|| file.exists() || begun.elapsed() >= OFTEN);
        let was_dumped = std::fs::remove_file(&file).is_ok();
        panics();
        signals::raise(SignalKind::user_defined2());
        wait_for(&other);
        std::fs::remove_file(&other).unwrap();
        // On a slow machine another second has begun.
        if was_dumped && begun.elapsed() < OFTEN {
            assert!(!file.exists());
            return;
        }
    }
}

/// A dump that has begun is whole when the runtime is gone.
#[test]
fn the_end_waits_for_a_dump_that_is_being_written() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    let runtime = recording(Config::new().dump_on_panic(&pipe));
    let yields = async {
        for _ in 0..50_000 {
            heist::task::yield_now().await;
        }
    };
    runtime.block_on(runtime.spawn(yields)).unwrap();
    let (tell, has_begun) = mpsc::channel();
    let is_read = Arc::new(AtomicBool::new(false));
    let reader = thread::spawn({
        let is_read = is_read.clone();
        move || {
            let mut pipe = std::fs::File::open(pipe).unwrap();
            let mut bytes = vec![0; 16];
            pipe.read_exact(&mut bytes).unwrap();
            tell.send(()).unwrap();
            // A runtime that does not wait is gone by now.
            thread::sleep(Duration::from_millis(100));
            is_read.store(true, Ordering::Relaxed);
            pipe.read_to_end(&mut bytes).unwrap();
            bytes
        }
    });
    runtime.block_on(runtime.spawn(async { panic!("on purpose") })).unwrap_err();
    has_begun.recv().unwrap();
    drop(runtime);
    assert!(is_read.load(Ordering::Relaxed));
    let bytes = reader.join().unwrap();
    assert!(bytes.len() > 1 << 17, "it does not fit into a pipe: {} bytes", bytes.len());
    assert!(!Trace::from_bytes(bytes).unwrap().is_truncated());
}

const CHILD: &str = "HEIST_TEST_DESCRIPTORS";

/// What the child of the test below does: runtimes that listen to the signal come and go.
#[test]
fn descriptors_of_runtimes_that_come_and_go() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace");
    let count = || {
        drop(recording(Config::new().dump_on_signal(&file)));
        std::fs::read_dir("/proc/self/fd").unwrap().count()
    };
    let first = count();
    (0..20).for_each(|_| assert_eq!(count(), first));
}

#[test]
fn a_runtime_leaves_no_descriptor_to_the_signal() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "descriptors_of_runtimes_that_come_and_go"]).env(CHILD, "1");
    let output = child.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_signal_has_it_dumped_each_time() {
    let _alone = SIGNALS.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace");
    let runtime = recording(Config::new().dump_on_signal(&file));
    for _ in 0..3 {
        let task = runtime.spawn(async {});
        let id = task.id().to_string();
        runtime.block_on(task).unwrap();
        signals::raise(SignalKind::user_defined2());
        assert!(has_poll_of(&wait_for(&file), &id));
        std::fs::remove_file(&file).unwrap();
    }
    drop(runtime);
    // Nobody listens any more; the handler stays, and has nothing to do.
    signals::raise(SignalKind::user_defined2());
    assert!(!file.exists());
}

#[test]
fn the_end_is_dumped_however_it_comes() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace");
    let ends: [fn(Runtime); 3] = [drop, Runtime::shutdown_background, |runtime| {
        runtime.shutdown_timeout(std::time::Duration::from_secs(60))
    }];
    for end in ends {
        for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
            let config = Config::new().dump_at_shutdown(&file);
            let runtime = builder.worker_threads(1).trace(config).build().unwrap();
            let id = runtime.block_on(async {
                let task = heist::spawn(async {});
                let id = task.id().to_string();
                task.await.unwrap();
                id
            });
            assert!(!file.exists());
            end(runtime);
            assert!(has_poll_of(&wait_for(&file), &id));
            std::fs::remove_file(&file).unwrap();
        }
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// A file that could not be written is an error beforehand, where that can be known. Later it hurts
/// nobody.
#[test]
fn bad_files_hurt_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("none");
    let cases = [
        (missing.join("trace"), io::ErrorKind::NotFound),
        (directory.path().into(), io::ErrorKind::IsADirectory),
        ("/".into(), io::ErrorKind::InvalidInput),
        ("".into(), io::ErrorKind::InvalidInput),
    ];
    for (file, kind) in cases {
        for config in [Config::new().dump_on_stall(&file), Config::new().dump_at_shutdown(&file)] {
            let error = Builder::new_multi_thread().worker_threads(1).trace(config).build();
            let error = error.unwrap_err();
            assert_eq!(error.kind(), kind, "{file:?}");
            assert!(error.to_string().starts_with("Builder::trace: "), "{error}");
        }
    }
    std::fs::create_dir(&missing).unwrap();
    let file = missing.join("trace");
    let runtime = recording(Config::new().dump_on_panic(&file).dump_at_shutdown(&file));
    std::fs::remove_dir(&missing).unwrap();
    runtime.block_on(runtime.spawn(async { panic!("on purpose") })).unwrap_err();
    assert_eq!(runtime.block_on(runtime.spawn(async { 1 })).unwrap(), 1);
    drop(runtime);
    assert!(!missing.exists());
}

/// What the child of the test below does: two runtimes, one after the other.
#[test]
fn two_runtimes() {
    for _ in 0..2 {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        runtime.block_on(runtime.spawn(async {})).unwrap();
    }
    println!("came to the end");
}

fn two_runtimes_with(variable: &Path) -> Output {
    child("two_runtimes", variable)
}

fn child(test: &str, variable: &Path) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("HEIST_TRACE", variable)
        .output()
        .unwrap()
}

/// What the child of the test below does: the global runtime has a task, and another lives when the
/// process exits.
#[test]
fn runtimes_that_live_to_the_end() {
    if std::env::var_os("HEIST_TRACE").is_none() {
        return;
    }
    let (tell, told) = std::sync::mpsc::channel();
    heist::spawn(async move { tell.send(()).unwrap() });
    told.recv().unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime.block_on(runtime.spawn(async {})).unwrap();
    std::process::exit(7);
}

#[test]
fn a_runtime_that_outlives_main_is_dumped() {
    let directory = tempfile::tempdir().unwrap();
    let output = child("runtimes_that_live_to_the_end", &directory.path().join("trace"));
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    for name in ["trace", "trace.2"] {
        let trace = Trace::open(directory.path().join(name)).unwrap();
        let mut kinds = kinds(&trace).into_iter();
        assert!(kinds.any(|kind| matches!(kind, EventKind::Spawn { .. })), "{name}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn the_environment_has_programs_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace");
    let output = two_runtimes_with(&file);
    assert!(output.status.success(), "{output:?}");
    for name in ["trace", "trace.2"] {
        let trace = Trace::open(directory.path().join(name)).unwrap();
        let mut kinds = kinds(&trace).into_iter();
        assert!(kinds.any(|kind| matches!(kind, EventKind::Spawn { .. })), "{name}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);

    let output = two_runtimes_with(&directory.path().join("none/trace"));
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("came to the end"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("HEIST_TRACE") && said.contains("nothing is recorded"), "{said}");
}
