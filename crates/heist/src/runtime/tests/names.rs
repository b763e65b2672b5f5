//! Names of tasks, from their spawn to their end.

use crate::runtime::{self, Runtime};
use crate::task::{self, Builder, Id, JoinHandle, LocalSet, name_of};
use std::future::{pending, poll_fn};
use std::panic::Location;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;

fn runtime() -> Runtime {
    runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap()
}

fn name(id: Id) -> Option<String> {
    name_of(id).map(|name| name.to_string())
}

/// A worker that has ended a task lets go of it a moment after the handle has its output.
fn until_gone(id: Id) {
    while name_of(id).is_some() {
        thread::yield_now();
    }
}

/// A named task that waits for ever, once it does.
fn waiting(rt: &Runtime, name: &str) -> JoinHandle<()> {
    let (tell, told) = mpsc::channel();
    let future = async move {
        tell.send(()).unwrap();
        pending().await
    };
    let task = Builder::new().name(name).spawn_on(future, rt.handle()).unwrap();
    told.recv().unwrap();
    task
}

#[test]
fn a_name_is_known_while_its_task_lives() {
    let rt = runtime();
    let task = Builder::new().name("lives").spawn_on(async { 5 }, rt.handle()).unwrap();
    let (id, abort) = (task.id(), task.abort_handle());
    assert_eq!(name(id).as_deref(), Some("lives"));
    assert_eq!(rt.block_on(task).unwrap(), 5);
    // A handle keeps the task's memory, and its name with it.
    assert_eq!(name(id).as_deref(), Some("lives"));
    drop(abort);
    until_gone(id);
}

#[test]
fn a_task_without_a_name_has_none() {
    let rt = runtime();
    let task = rt.spawn(pending::<()>());
    assert_eq!(name(task.id()), None);
}

/// Ids of one block share a lock; names do not get mixed up.
#[test]
fn each_task_has_its_own_name() {
    let rt = runtime::Builder::new_current_thread().build().unwrap();
    let spawn =
        |n: usize| Builder::new().name(&n.to_string()).spawn_on(pending::<()>(), rt.handle());
    let tasks: Vec<_> = (0..3000).map(|n| spawn(n).unwrap()).collect();
    for (n, task) in tasks.iter().enumerate() {
        assert_eq!(name(task.id()), Some(n.to_string()));
    }
    let ids: Vec<_> = tasks.iter().map(JoinHandle::id).collect();
    drop(tasks);
    drop(rt);
    assert!(ids.into_iter().all(|id| name_of(id).is_none()));
}

#[test]
fn the_name_of_an_aborted_task_goes() {
    let rt = runtime();
    let task = waiting(&rt, "aborted");
    let id = task.id();
    assert_eq!(name(id).as_deref(), Some("aborted"));
    task.abort();
    assert!(rt.block_on(task).unwrap_err().is_cancelled());
    until_gone(id);
}

#[test]
fn the_name_of_a_task_that_panics_goes() {
    let rt = runtime();
    let future = async { panic!("on purpose") };
    let task: JoinHandle<()> = Builder::new().name("panics").spawn_on(future, rt.handle()).unwrap();
    let id = task.id();
    assert!(rt.block_on(task).unwrap_err().is_panic());
    until_gone(id);
}

/// An output that is not awaited is dropped with the handle.
#[test]
fn the_name_goes_though_the_output_panics() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    let rt = runtime();
    let task = Builder::new().name("bomb").spawn_on(async { Bomb }, rt.handle()).unwrap();
    let id = task.id();
    while !task.is_finished() {
        thread::yield_now();
    }
    drop(task);
    until_gone(id);
}

#[test]
fn the_name_of_a_detached_task_goes_with_its_end() {
    let rt = runtime();
    let (tell, told) = mpsc::channel::<Waker>();
    let mut is_first = true;
    let future = poll_fn(move |cx| match std::mem::replace(&mut is_first, false) {
        true => {
            tell.send(cx.waker().clone()).unwrap();
            Poll::Pending
        }
        false => Poll::Ready(()),
    });
    let task = Builder::new().name("detached").spawn_on(future, rt.handle()).unwrap();
    let id = task.id();
    drop(task);
    let waker = told.recv().unwrap();
    assert_eq!(name(id).as_deref(), Some("detached"));
    waker.wake();
    until_gone(id);
}

#[test]
fn the_name_of_a_task_goes_with_its_runtime() {
    let rt = runtime();
    let (waits, queued) = (waiting(&rt, "waits"), waiting(&rt, "waits, too"));
    let ids = [waits.id(), queued.id()];
    drop((waits, queued));
    assert_eq!(ids.map(name).map(Option::unwrap), ["waits", "waits, too"]);
    drop(rt);
    assert_eq!(ids.map(name), [None, None]);

    // Never run at all.
    let rt = runtime::Builder::new_current_thread().build().unwrap();
    let task = Builder::new().name("queued").spawn_on(async {}, rt.handle()).unwrap();
    let id = task.id();
    drop(task);
    assert_eq!(name(id).as_deref(), Some("queued"));
    drop(rt);
    assert_eq!(name(id), None);

    // Too late.
    let handle = runtime().handle().clone();
    let task = Builder::new().name("late").spawn_on(async {}, &handle).unwrap();
    let id = task.id();
    drop(task);
    assert_eq!(name(id), None);
}

#[test]
fn closures_and_local_tasks_have_names_too() {
    let rt = runtime();
    let set = LocalSet::new();
    let local = Builder::new().name("local").spawn_local_on(pending::<()>(), &set).unwrap();
    let (end, ends) = mpsc::channel::<()>();
    let closure = move || ends.recv().is_err();
    let blocking = Builder::new().name("blocking").spawn_blocking_on(closure, rt.handle()).unwrap();
    let ids = [local.id(), blocking.id()];
    assert_eq!(ids.map(name).map(Option::unwrap), ["local", "blocking"]);
    drop((end, set, local));
    assert!(rt.block_on(blocking).unwrap());
    ids.into_iter().for_each(until_gone);
}

#[test]
fn a_runnable_task_says_who_it_is() {
    let at = Location::caller();
    let me = Some("me".into());
    let (task, join) = task::new_detailed::<_, crate::scheduler::Scheduler>(async {}, at, me, None);
    assert_eq!((task.id(), task.spawned_at()), (join.id(), at));
    assert_eq!(name(task.id()).as_deref(), Some("me"));
    let id = task.id();
    drop((task, join));
    assert_eq!(name(id), None);
}
