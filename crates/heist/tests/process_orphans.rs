//! Children whose `Child` was dropped: whatever happens, none stays as a zombie.
//!
//! They look at all children of the process, so these tests run one after the other.

mod support;

use heist::process::{Child, Command};
use heist::runtime::{Builder, Runtime};
use std::pin::pin;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use support::children::{self, wait_until, wait_until_exited};
use support::runtime;

/// One test at a time, and none leaves a child behind.
struct Alone(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

fn alone() -> Alone {
    static LOCK: Mutex<()> = Mutex::new(());
    Alone(LOCK.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Drop for Alone {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(children::all(), [].into());
        }
    }
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A child that runs as long as its input is open.
fn cat() -> Child {
    Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

/// A child that runs until it is killed, and is when its `Child` is dropped.
fn mortal() -> Child {
    Command::new("sleep").arg("1000").kill_on_drop(true).spawn().unwrap()
}

async fn until_all_are_reaped() {
    support::futures::until(|| children::all().is_empty()).await;
}

#[test]
fn a_hundred_dropped_children_are_reaped() {
    let _alone = alone();
    for rt in [current_thread(), runtime(1), runtime(2)] {
        rt.block_on(async {
            (0..30).for_each(|_| drop(mortal()));
            (0..30).for_each(|_| drop(Command::new("true").spawn().unwrap()));
            let mut waiting: Vec<Child> = (0..40).map(|_| cat()).collect();
            let inputs: Vec<_> = waiting.iter_mut().map(|child| child.stdin.take()).collect();
            drop(waiting);
            support::futures::until(|| children::all().len() == 40).await;
            drop(inputs);
            until_all_are_reaped().await;
        });
    }
}

/// Nothing else wakes the runtime: the exit of the child does.
#[test]
fn an_idle_runtime_reaps() {
    let _alone = alone();
    let rt = runtime(1);
    rt.block_on(async { drop(mortal()) });
    wait_until(|| children::all().is_empty());
    // Also one that is still waited for when the runtime has nothing else to do.
    let mut child = rt.block_on(async { cat() });
    let input = child.stdin.take();
    drop(child);
    drop(input);
    wait_until(|| children::all().is_empty());
}

/// Futures that wait for a child are dropped half-way.
#[test]
fn children_of_dropped_futures_are_reaped() {
    let _alone = alone();
    let poll = |future: &mut (dyn Future<Output = ()> + Unpin)| {
        let mut future = pin!(future);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(future.as_mut().poll(&mut cx).is_pending());
    };
    current_thread().block_on(async {
        for _ in 0..10 {
            let mut command = Command::new("sleep");
            command.arg("1000").kill_on_drop(true);
            let (status, output) = (command.status(), command.output());
            poll(&mut Box::pin(async { drop(status.await) }));
            poll(&mut Box::pin(async { drop(output.await) }));
            // And one that nobody polls.
            drop(command.output());
        }
        until_all_are_reaped().await;
    });
}

/// The runtime goes down first: the next one that starts a process waits for them.
#[test]
fn orphans_of_a_runtime_that_went_down_are_taken_in() {
    let _alone = alone();
    for _ in 0..5 {
        let rt = runtime(1);
        let mut children: Vec<Child> = rt.block_on(async { (0..10).map(|_| cat()).collect() });
        let inputs: Vec<_> = children.iter_mut().map(|child| child.stdin.take()).collect();
        let late = children.split_off(5);
        drop(children);
        drop(rt);
        drop(late);
        assert_eq!(children::all().len(), 10);
        // Some exit before they are taken in, some afterwards.
        let mut inputs = inputs.into_iter();
        let pids: Vec<u32> = children::all().into_iter().collect();
        drop(inputs.next());
        wait_until(|| pids.iter().any(|pid| children::is_zombie(*pid)));
        current_thread().block_on(async {
            assert!(Command::new("true").status().await.unwrap().success());
            support::futures::until(|| children::all().len() == 9).await;
            drop(inputs);
            until_all_are_reaped().await;
        });
    }
}

/// Tasks that own children, and wait for them, are dropped by a shutdown.
#[test]
fn shutdown_beside_children() {
    let _alone = alone();
    for round in 0..20 {
        let rt = runtime(2);
        let started = Arc::new(AtomicUsize::new(0));
        for number in 0..8 {
            let started = Arc::clone(&started);
            rt.spawn(async move {
                let mut child = if number % 2 == 0 { mortal() } else { cat() };
                started.fetch_add(1, Ordering::Relaxed);
                if number % 3 == 0 {
                    drop(child);
                } else {
                    let _ = child.wait().await;
                }
            });
        }
        if round % 2 == 0 {
            rt.block_on(support::futures::until(|| started.load(Ordering::Relaxed) == 8));
        }
        drop(rt);
    }
    current_thread().block_on(async {
        assert!(Command::new("true").status().await.unwrap().success());
        until_all_are_reaped().await;
    });
}

/// A child is dropped where no runtime is, while its own goes on.
#[test]
fn dropped_outside_of_a_runtime() {
    let _alone = alone();
    let rt = runtime(1);
    let children: Vec<Child> = rt.block_on(async { (0..10).map(|_| mortal()).collect() });
    std::thread::spawn(move || drop(children)).join().unwrap();
    wait_until(|| children::all().is_empty());
}

/// One that has exited by the time it is dropped needs nobody.
#[test]
fn a_child_that_has_exited_is_reaped_by_its_drop() {
    let _alone = alone();
    let rt = current_thread();
    let child = rt.block_on(async { Command::new("true").spawn().unwrap() });
    let pid = child.id().unwrap();
    wait_until_exited(pid);
    assert!(children::is_zombie(pid));
    drop(rt);
    drop(child);
    assert_eq!(children::state(pid), None);
}
