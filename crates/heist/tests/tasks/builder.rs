//! Names and ids of tasks.

use crate::support::futures::Gate;
use crate::support::{Counted, runtime};
use heist::task::{self, Builder, Id};
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

#[test]
fn a_name_is_stored_with_the_task() {
    let rt = runtime(1);
    let _entered = rt.enter();
    let name = String::from("reader of ") + "lines";
    let task = Builder::new().name(&name).spawn(async { 5 }).unwrap();
    drop(name);
    let abort = task.abort_handle();
    assert!(format!("{task:?}").contains(r#"name: "reader of lines""#), "{task:?}");
    assert_eq!(rt.block_on(task).unwrap(), 5);
    // As long as there is a handle, there is a name.
    assert!(format!("{abort:?}").contains(r#"name: "reader of lines""#), "{abort:?}");
}

#[test]
fn a_task_without_a_name_has_none() {
    let rt = runtime(1);
    let task = Builder::new().spawn_on(async { 5 }, rt.handle()).unwrap();
    assert!(!format!("{task:?}").contains("name"), "{task:?}");
    assert_eq!(rt.block_on(task).unwrap(), 5);
}

#[test]
fn a_named_task_lives_like_any_other() {
    let rt = runtime(2);
    let dropped = Arc::new(AtomicUsize::new(0));
    let spawn = |name: &str, gate: Gate| {
        let guard = Counted(Arc::clone(&dropped));
        let future = async move {
            let _guard = guard;
            gate.pass().await;
            task::id()
        };
        Builder::new().name(name).spawn_on(future, rt.handle()).unwrap()
    };
    let gate = Gate::default();
    let waits = spawn("waits", gate.clone());
    let id = waits.id();
    gate.open();
    assert_eq!(rt.block_on(waits).unwrap(), id);

    let aborted = spawn("aborted", Gate::default());
    aborted.abort();
    assert!(rt.block_on(aborted).unwrap_err().is_cancelled());

    let panics = async { panic!("on purpose") };
    let panics = Builder::new().name("panics").spawn_on(panics, rt.handle()).unwrap();
    assert!(rt.block_on::<task::JoinHandle<()>>(panics).unwrap_err().is_panic());

    let _left = spawn("left", Gate::default());
    drop(spawn("detached", Gate::default()));
    drop(rt);
    assert_eq!(dropped.load(Ordering::Relaxed), 4);
}

#[test]
fn closures_have_names_and_ids_too() {
    let rt = runtime(1);
    let task = Builder::new().name("closure").spawn_blocking_on(task::id, rt.handle()).unwrap();
    assert!(format!("{task:?}").contains(r#"name: "closure""#), "{task:?}");
    let id = task.id();
    assert_eq!(rt.block_on(task).unwrap(), id);
    let _entered = rt.enter();
    let task = Builder::new().spawn_blocking(|| 5).unwrap();
    assert!(!format!("{task:?}").contains("name"), "{task:?}");
    assert_eq!(rt.block_on(task).unwrap(), 5);
}

#[test]
fn a_task_knows_its_id_in_every_poll() {
    let rt = runtime(2);
    let gate = Gate::default();
    let pass = gate.pass();
    let task = rt.spawn(async move {
        let first = task::id();
        pass.await;
        assert_eq!(task::try_id(), Some(first));
        let inner = heist::spawn(async { task::id() });
        let inner_id = inner.id();
        assert_eq!(inner.await.unwrap(), inner_id);
        assert_ne!(inner_id, first);
        assert_eq!(task::id(), first);
        first
    });
    let id = task.id();
    gate.open();
    assert_eq!(rt.block_on(task).unwrap(), id);
}

/// Tells what the running task is when it is dropped.
struct AskWhenDropped(Arc<Mutex<Vec<Option<Id>>>>);

impl Drop for AskWhenDropped {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(task::try_id());
    }
}

#[test]
fn a_task_knows_its_id_when_its_future_or_its_output_is_dropped() {
    let rt = runtime(2);
    let told = Arc::new(Mutex::new(vec![]));
    let take = || std::mem::take(&mut *told.lock().unwrap());
    let ask = || AskWhenDropped(Arc::clone(&told));

    let guard = ask();
    let done = rt.spawn(poll_fn(move |_| {
        let _ = &guard;
        Poll::Ready(())
    }));
    let id = done.id();
    rt.block_on(done).unwrap();
    assert_eq!(take(), [Some(id)], "done");

    let guard = ask();
    let aborted = rt.spawn(async move {
        let _guard = guard;
        pending::<()>().await;
    });
    let id = aborted.id();
    aborted.abort();
    assert!(rt.block_on(aborted).unwrap_err().is_cancelled());
    assert_eq!(take(), [Some(id)], "aborted");

    // An output that nobody takes is dropped with the handle, on a thread that runs no task.
    let output = ask();
    let unwanted = rt.spawn(async move { output });
    let id = unwanted.id();
    while !unwanted.is_finished() {
        std::thread::yield_now();
    }
    drop(unwanted);
    assert_eq!(take(), [Some(id)], "unwanted");

    // One that was taken is its taker's.
    let output = ask();
    drop(rt.block_on(rt.spawn(async move { output })).unwrap());
    assert_eq!(take(), [None], "taken");
}

#[test]
fn outside_of_a_task_there_is_no_id() {
    let rt = runtime(1);
    assert_eq!(task::try_id(), None);
    assert_eq!(rt.block_on(async { task::try_id() }), None);
    let panic = std::panic::catch_unwind(task::id).unwrap_err();
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap();
    assert!(message.contains("task::id") && message.contains("try_id"), "{message}");
}

#[test]
fn a_panic_in_a_poll_leaves_no_id_behind() {
    let rt = runtime(1);
    let seen = Arc::new(Mutex::new(None));
    let panics = rt.spawn(async { panic!("on purpose") });
    assert!(rt.block_on::<task::JoinHandle<()>>(panics).unwrap_err().is_panic());
    let see = Arc::clone(&seen);
    let next = rt.spawn(async move { *see.lock().unwrap() = task::try_id() });
    let id = next.id();
    rt.block_on(next).unwrap();
    assert_eq!(*seen.lock().unwrap(), Some(id));
}
