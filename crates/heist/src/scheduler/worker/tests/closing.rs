//! The last threads of a runtime that shuts down.

use super::*;
use crate::scheduler::refused::Late;
use crate::scheduler::sysmon::Sysmon;
use std::sync::mpsc;

/// Starts a thread that may outlast the test, which waits for what it does.
fn start(scheduler: &Scheduler, act: crate::scheduler::ThreadBody) -> bool {
    let scheduler = scheduler.clone();
    thread::spawn(move || act(&scheduler));
    true
}

/// Waits for the drop of another task when it is dropped.
struct WaitsInDrop(Option<mpsc::Receiver<()>>);

impl Drop for WaitsInDrop {
    fn drop(&mut self) {
        if let Some(is_other_held) = self.0.take() {
            is_other_held.recv().unwrap_err();
        }
    }
}

/// T9: a worker that has to end drops nothing before all of the runtime is closed.
#[test]
fn t9_nothing_is_dropped_before_all_is_closed() {
    let (scheduler, workers) =
        Scheduler::new(Config { start_thread: start, ..config_of(1, 1, None) });
    let (task, join) = task::new(std::future::pending::<()>(), Location::caller());
    scheduler.submit(task);
    scheduler.begin_close();
    let (begun, has_begun) = mpsc::channel();
    let ends = thread::spawn(move || {
        begun.send(()).unwrap();
        drop(workers);
    });
    has_begun.recv().unwrap();
    (0..1000).for_each(|_| thread::yield_now());
    assert!(!join.is_finished());
    let _ = scheduler.close();
    scheduler.cancel_all(true);
    ends.join().unwrap();
    assert!(join.is_finished());
}

/// T9: tasks whose drops wait for each other come when the last thread is about to end. A test that
/// fails hangs.
#[test]
fn t9_tasks_that_wait_for_each_other_come_at_the_very_end() {
    for tasks in 2..10 {
        let (scheduler, workers) =
            Scheduler::new(Config { start_thread: start, ..config_of(1, 1, None) });
        drop(workers);
        assert!(scheduler.close());
        scheduler.watched();
        let sysmon = Sysmon::new(scheduler.clone());
        let sysmon = thread::spawn(move || sysmon.clear_away());
        let mut other = None;
        let mut row = Vec::new();
        for _ in 0..tasks {
            let (held, is_held) = mpsc::channel::<()>();
            let waits = WaitsInDrop(other.replace(is_held));
            let future = async move {
                drop((waits, held));
            };
            row.push(task::new(future, Location::caller()).0);
        }
        // Each waits for the next.
        for task in row.into_iter().rev() {
            assert!(scheduler.leftovers.leave(Late::Task(task)).is_ok());
        }
        scheduler.one_has_ended();
        sysmon.join().unwrap();
    }
}
