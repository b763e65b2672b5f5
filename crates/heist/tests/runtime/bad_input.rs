//! Nonsense, and what becomes of it: an error or a panic that names the API and says what to do,
//! and never a runtime that hangs.

use crate::support::runtime;
use heist::runtime::{Builder, Handle, Runtime};
use heist::task::{self, JoinSet, LocalSet};
use std::any::Any;
use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

fn text_of(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast::<&str>().expect("a text")).into(),
    }
}

/// What `f` panics with.
#[track_caller]
fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("this should have panicked"),
        Err(payload) => text_of(payload),
    }
}

#[track_caller]
fn assert_says(text: &str, api: &str, fix: &str) {
    assert!(text.starts_with(api), "{text:?} does not begin with {api:?}");
    assert!(text.contains(fix), "{text:?} does not say {fix:?}");
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    let mut builder = Builder::new_multi_thread();
    for count in [0, 65_536, usize::MAX] {
        let text = panic_of(|| _ = builder.clone().worker_threads(count));
        assert_says(&text, "Builder::worker_threads", "leave it out for one worker a core");
    }
    let text = panic_of(|| _ = builder.clone().max_blocking_threads(0));
    assert_says(&text, "Builder::max_blocking_threads", "1 or more");
    let text = panic_of(|| _ = builder.clone().global_queue_interval(0));
    assert_says(&text, "Builder::global_queue_interval", "leave it out");
    let text = panic_of(|| _ = builder.clone().event_interval(0));
    assert_says(&text, "Builder::event_interval", "leave it out");
    let text = panic_of(|| _ = builder.clone().stall_threshold(Duration::ZERO));
    assert_says(&text, "Builder::stall_threshold", "turn it off with None");
    for name in ["", " ", "\t\n"] {
        let text = panic_of(|| _ = builder.clone().name(name));
        assert_says(&text, "Builder::name", "leave it out");
    }
    let rt = builder.worker_threads(1).build().unwrap();
    assert_eq!(rt.block_on(rt.spawn(async { 1 })).unwrap(), 1, "the builder is still good");
}

/// Large numbers that only bound something bound nothing.
#[test]
fn numbers_without_end_are_fine() {
    for keep_alive in [Duration::MAX, Duration::ZERO] {
        let rt = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(usize::MAX)
            .thread_keep_alive(keep_alive)
            .global_queue_interval(u32::MAX)
            .event_interval(u32::MAX)
            .stall_threshold(Duration::MAX)
            .build()
            .unwrap();
        let (task, closure) = (rt.spawn(async { 1 }), rt.spawn_blocking(|| 2));
        assert_eq!(rt.block_on(async { task.await.unwrap() + closure.await.unwrap() }), 3);
        rt.shutdown_timeout(Duration::MAX);
    }
}

#[test]
fn a_stack_that_cannot_be_had_is_an_error() {
    for bytes in [usize::MAX, isize::MAX as usize, usize::MAX / 2, 1 << 60] {
        let mut builder = Builder::new_multi_thread();
        let error = builder.worker_threads(2).thread_stack_size(bytes).build().unwrap_err();
        assert_says(&error.to_string(), "Builder::build: worker 0 of 2", "stack");
        // Without workers it shows with the first closure.
        let rt = Builder::new_current_thread().thread_stack_size(bytes).build().unwrap();
        let error = rt.block_on(rt.spawn_blocking(|| {})).unwrap_err();
        assert!(error.is_cancelled());
        assert!(error.to_string().contains("Builder::thread_stack_size"), "{error}");
    }
}

/// Builds five workers, of which the fourth gets its name from `name`; and how many threads started
/// and stopped.
fn half_built(name: fn() -> String) -> (thread::Result<std::io::Result<Runtime>>, usize, usize) {
    let (names, starts, stops) = (AtomicUsize::new(0), Arc::default(), Arc::default());
    let (start, stop): (Arc<AtomicUsize>, Arc<AtomicUsize>) =
        (Arc::clone(&starts), Arc::clone(&stops));
    let mut builder = Builder::new_multi_thread();
    builder
        .worker_threads(5)
        .thread_name_fn(move || match names.fetch_add(1, SeqCst) {
            3 => name(),
            _ => "good".into(),
        })
        .on_thread_start(move || _ = start.fetch_add(1, SeqCst))
        .on_thread_stop(move || _ = stop.fetch_add(1, SeqCst));
    let built = catch_unwind(AssertUnwindSafe(|| builder.build()));
    (built, starts.load(SeqCst), stops.load(SeqCst))
}

/// Three threads run already: they have ended when the error comes.
#[test]
fn a_bad_name_is_an_error_that_leaves_no_thread_behind() {
    let (built, starts, stops) = half_built(|| "a\0b".into());
    let error = built.unwrap().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    let text = error.to_string();
    assert_says(&text, "Builder::build: worker 3 of 5", "Builder::thread_name");
    assert!(text.contains("\"a\\0b\" has a NUL in it"), "{text}");
    assert!(text.ends_with("take it out"), "and no other advice: {text}");
    assert_eq!((starts, stops), (3, 3));
}

#[test]
fn a_name_that_panics_panics_in_build_and_leaves_no_thread_behind() {
    let (built, starts, stops) = half_built(|| panic!("no name"));
    assert_eq!(text_of(built.unwrap_err()), "no name");
    assert_eq!((starts, stops), (3, 3));
}

/// The same for threads that are started later: the closure's handle gets to know.
#[test]
fn a_bad_name_of_a_blocking_thread_fails_its_closure() {
    let bad: [fn() -> String; 2] = [|| "a\0b".into(), || panic!("no name")];
    for name in bad {
        let rt = Builder::new_current_thread().thread_name_fn(name).build().unwrap();
        let error = rt.block_on(rt.spawn_blocking(|| {})).unwrap_err();
        assert!(error.is_cancelled());
        assert!(error.to_string().contains("Builder::thread_name"), "{error}");
    }
}

/// A panic's payload may panic too, when it is dropped.
struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("in the drop of a payload");
    }
}

/// I1, T7: callbacks that panic, each time, stop nothing.
#[test]
fn callbacks_that_panic_stop_nothing() {
    let panics: [fn(); 2] = [|| panic!("in a callback"), || panic_any(PanicsInDrop)];
    for callback in panics {
        for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
            let rt = builder
                .worker_threads(2)
                .on_thread_start(callback)
                .on_thread_stop(callback)
                .on_thread_park(callback)
                .on_thread_unpark(callback)
                .build()
                .unwrap();
            for round in 0..20 {
                let task = rt.spawn(async move { task::spawn_blocking(move || round).await });
                assert_eq!(rt.block_on(task).unwrap().unwrap(), round);
            }
        }
    }
}

/// T7: the payload of a task's panic is dropped by its last owner.
#[test]
fn t7_a_payload_that_panics_stops_no_worker() {
    let rt = runtime(1);
    for _ in 0..10 {
        drop(rt.spawn(async { panic_any(PanicsInDrop) }));
        let task = rt.spawn(async { panic_any(PanicsInDrop) });
        std::mem::forget(rt.block_on(task).unwrap_err().into_panic());
    }
    assert_eq!(rt.block_on(rt.spawn(async { 1 })).unwrap(), 1);
}

const CHILD: &str = "HEIST_TEST_CHILD";

/// Runs only as a child of the test below.
#[test]
fn child_needs_the_global_runtime() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    // The second call finds nothing half made.
    for _ in 0..2 {
        println!("it says: {}", panic_of(|| drop(heist::spawn(async {}))));
    }
}

#[test]
fn nonsense_in_the_environment_is_named() {
    for value in ["banana", "0", "-1", "65536", " ", "1e3"] {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "bad_input::child_needs_the_global_runtime", "--nocapture"])
            .env(CHILD, "1")
            .env("HEIST_WORKERS", value)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success(), "{said}");
        let wanted =
            format!("it says: HEIST_WORKERS={value}: not a number from 1 to 32767; set it");
        assert_eq!(said.matches(&wanted).count(), 2, "{said}");
    }
}

#[test]
fn what_needs_a_runtime_says_so() {
    let fix = "while the guard of Runtime::enter lives";
    assert_says(&panic_of(Handle::current), "Handle::current:", fix);
    assert_says(&panic_of(|| task::spawn_blocking(|| {})), "spawn_blocking:", fix);
    let builder = task::Builder::new();
    let text = panic_of(|| builder.spawn_blocking(|| {}));
    assert_says(&text, "task::Builder::spawn_blocking:", fix);
    let text = panic_of(|| JoinSet::new().spawn_blocking(|| {}));
    assert_says(&text, "JoinSet::spawn_blocking:", fix);
    let error = Handle::try_current().unwrap_err();
    assert!(error.is_missing_context() && error.to_string().contains(fix));
}

#[test]
fn what_needs_a_local_set_says_so() {
    let fix = "call it inside of LocalSet::run_until or LocalSet::block_on";
    let check = || {
        assert_says(&panic_of(|| task::spawn_local(async {})), "spawn_local:", fix);
        let text = panic_of(|| task::Builder::new().spawn_local(async {}));
        assert_says(&text, "spawn_local:", fix);
        assert_says(&panic_of(|| JoinSet::new().spawn_local(async {})), "spawn_local:", fix);
    };
    check();
    // A runtime is not enough.
    for rt in [current_thread(), runtime(1)] {
        rt.block_on(async { check() });
        rt.block_on(rt.spawn(async move { check() })).unwrap();
    }
}

heist::task_local! {
    static NUMBER: u32;
}

#[test]
fn what_needs_a_task_says_so() {
    assert_says(&panic_of(task::id), "task::id:", "use try_id");
    current_thread().block_on(async {
        assert_says(&panic_of(task::id), "task::id:", "use try_id");
    });
    let text = panic_of(|| NUMBER.with(|number| *number));
    assert!(text.contains("LocalKey::with") && text.contains("scope"), "{text}");
}

/// A runtime with workers lets another of them run meanwhile; one without has none.
#[test]
fn waiting_in_a_task_without_workers_is_refused() {
    let fix = "await the future instead";
    let rt = current_thread();
    let handle = rt.handle().clone();
    let check = move || {
        let inner = current_thread();
        assert_says(&panic_of(|| inner.block_on(ready(()))), "Runtime::block_on:", fix);
        assert_says(&panic_of(|| handle.block_on(ready(()))), "Handle::block_on:", fix);
        let set = LocalSet::new();
        let text = panic_of(|| set.block_on(&inner, ready(())));
        assert_says(&text, "LocalSet::block_on:", fix);
        let text = panic_of(|| task::block_in_place(|| ()));
        assert_says(&text, "block_in_place:", "use spawn_blocking");
        inner.shutdown_background();
    };
    rt.block_on(rt.spawn(async move { check() })).unwrap();
    // Nested in a plain block_on, on the runtime itself.
    let text = panic_of(|| rt.block_on(async { rt.block_on(ready(())) }));
    assert_says(&text, "Runtime::block_on:", fix);
    let text = panic_of(|| rt.block_on(async { rt.handle().block_on(ready(())) }));
    assert_says(&text, "Handle::block_on:", fix);
    assert_eq!(rt.block_on(rt.spawn(async { 1 })).unwrap(), 1, "it is as good as new");
}

/// The other runtime's workers still end: they are told before the panic.
#[test]
fn dropping_a_runtime_in_a_task_is_refused() {
    for rt in [current_thread(), runtime(1)] {
        let (stop, stopped) = mpsc::channel();
        let inner = Builder::new_multi_thread()
            .worker_threads(2)
            .on_thread_stop(move || stop.send(()).unwrap())
            .build()
            .unwrap();
        let task = rt.spawn(async move { drop(inner) });
        let text = text_of(rt.block_on(task).unwrap_err().into_panic());
        assert_says(
            &text,
            "Runtime: Cannot drop a runtime inside a task",
            "Call shutdown_background",
        );
        assert_eq!(stopped.iter().count(), 2);
    }
}

/// Its own task has the last reference.
#[test]
fn dropping_a_runtime_in_its_own_task_is_refused() {
    let (stop, stopped) = mpsc::channel();
    let rt = Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_stop(move || stop.send(()).unwrap())
        .build()
        .unwrap();
    let (rt, (send, receive)) = (Arc::new(rt), mpsc::channel::<Arc<Runtime>>());
    let task = rt.spawn(async move {
        let rt = receive.recv().unwrap();
        while Arc::strong_count(&rt) > 1 {
            thread::yield_now();
        }
        drop(rt);
    });
    let waits = rt.spawn(pending::<()>());
    send.send(rt).unwrap();
    assert_eq!(stopped.iter().count(), 2);
    let outside = current_thread();
    let text = text_of(outside.block_on(task).unwrap_err().into_panic());
    assert_says(&text, "Runtime: Cannot drop a runtime inside a task", "Call shutdown_background");
    assert!(outside.block_on(waits).unwrap_err().is_cancelled());
}

#[test]
fn guards_that_cross_are_refused() {
    let (first, second) = (current_thread(), runtime(1));
    // A thread of its own: what is left current on it afterwards is nobody's business.
    thread::scope(|scope| {
        scope.spawn(|| {
            let (outer, inner) = (first.enter(), second.enter());
            let text = panic_of(|| drop(outer));
            assert_says(&text, "EnterGuard: dropped out of order", "the reverse of the order");
            assert_eq!(Handle::current().id(), second.handle().id());
            drop(inner);
            assert_eq!(first.block_on(first.spawn(async { 1 })).unwrap(), 1);
            let again = second.enter();
            assert_eq!(Handle::current().id(), second.handle().id());
            drop(again);
        });
    });
}

/// While a panic unwinds there is no second one, which would end the process.
#[test]
fn guards_that_cross_in_a_panic_do_not_abort() {
    let (first, second) = (current_thread(), current_thread());
    let crossing = thread::scope(|scope| {
        let panics = || {
            let outer = first.enter();
            let _inner = second.enter();
            // Dropped first, though it was made first.
            let _outer = outer;
            panic!("the first");
        };
        scope.spawn(panics).join()
    });
    assert_eq!(text_of(crossing.unwrap_err()), "the first");
}
