//! Sets of tasks.

use crate::support::futures::{Gate, count_polls, until};
use crate::support::{Counted, runtime};
use heist::task::{self, JoinSet};
use std::collections::HashSet;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};

#[test]
fn every_output_comes_once() {
    for workers in [1, 4] {
        let rt = runtime(workers);
        rt.block_on(async {
            let mut set = JoinSet::new();
            for i in 0..2000u32 {
                set.spawn(async move {
                    if i % 3 == 0 {
                        task::yield_now().await;
                    }
                    i
                });
            }
            assert_eq!(set.len(), 2000);
            let mut seen = HashSet::new();
            while let Some(output) = set.join_next().await {
                assert!(seen.insert(output.unwrap()), "T5: an output came twice");
            }
            assert_eq!(seen.len(), 2000);
            assert!(set.is_empty());
            assert!(set.join_next().await.is_none());
        });
    }
}

#[test]
fn they_come_in_the_order_in_which_they_end() {
    let rt = runtime(2);
    rt.block_on(async {
        let mut set = JoinSet::new();
        let gates: Vec<Gate> = (0..100).map(|_| Gate::default()).collect();
        for (i, gate) in gates.iter().enumerate() {
            let pass = gate.pass();
            set.spawn(async move {
                pass.await;
                i
            });
        }
        assert!(set.try_join_next().is_none());
        // Each is the only one to end, long after it was first looked at.
        for i in (0..100).rev() {
            gates[i].open();
            assert_eq!(set.join_next().await.unwrap().unwrap(), i);
        }
        assert!(set.join_next().await.is_none());
    });
}

#[test]
fn tasks_can_be_added_while_others_are_awaited() {
    let rt = runtime(2);
    rt.block_on(async {
        let mut set = JoinSet::new();
        let waits = Gate::default();
        let pass = waits.pass();
        set.spawn(async move {
            pass.await;
            0
        });
        assert!(set.try_join_next().is_none());
        let mut sum = 0;
        for i in 1..=300u32 {
            set.spawn(async move { i });
            sum += set.join_next().await.unwrap().unwrap();
        }
        assert_eq!(sum, 300 * 301 / 2);
        assert_eq!(set.len(), 1);
        waits.open();
        assert_eq!(set.join_next().await.unwrap().unwrap(), 0);
    });
}

#[test]
fn ids_tell_which_it_was() {
    let rt = runtime(2);
    rt.block_on(async {
        let mut set = JoinSet::new();
        let good = set.spawn(async { 1 }).id();
        let (id, output) = set.join_next_with_id().await.unwrap().unwrap();
        assert_eq!((id, output), (good, 1));

        let bad = set.spawn(async { panic!("on purpose") }).id();
        let error = set.join_next_with_id().await.unwrap().unwrap_err();
        assert!(error.is_panic());
        assert_eq!(error.id(), bad);

        let aborted = set.spawn(pending());
        aborted.abort();
        let error = set.join_next_with_id().await.unwrap().unwrap_err();
        assert!(error.is_cancelled());
        assert_eq!(error.id(), aborted.id());

        let tried = set.spawn(async { 2 });
        until(|| tried.is_finished()).await;
        assert_eq!(set.try_join_next_with_id().unwrap().unwrap(), (tried.id(), 2));
        assert!(set.try_join_next_with_id().is_none());
    });
}

#[test]
fn try_join_next_finds_all_that_have_ended_and_asks_no_budget() {
    let rt = runtime(1);
    let mut set = JoinSet::new();
    let handles: Vec<_> = (0..500).map(|i| set.spawn_on(async move { i }, rt.handle())).collect();
    set.spawn_on(pending(), rt.handle());
    rt.block_on(until(|| handles.iter().all(|handle| handle.is_finished())));
    let (found, polls) = rt
        .block_on(rt.spawn(count_polls(async move {
            let mut found = 0;
            while let Some(output) = set.try_join_next() {
                output.unwrap();
                found += 1;
            }
            assert_eq!(set.len(), 1);
            found
        })))
        .unwrap();
    assert_eq!((found, polls), (500, 1));
}

/// W9: taking an output takes a unit of the budget.
#[test]
fn join_next_yields_when_the_budget_is_gone() {
    let rt = runtime(1);
    let mut set = JoinSet::new();
    let handles: Vec<_> = (0..300).map(|i| set.spawn_on(async move { i }, rt.handle())).collect();
    rt.block_on(until(|| handles.iter().all(|handle| handle.is_finished())));
    let (found, polls) = rt
        .block_on(rt.spawn(count_polls(async move {
            let mut found = 0;
            while let Some(output) = set.join_next().await {
                output.unwrap();
                found += 1;
            }
            found
        })))
        .unwrap();
    assert_eq!((found, polls), (300, 3));
}

#[test]
fn dropping_the_set_aborts_its_tasks() {
    let rt = runtime(2);
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut set = JoinSet::new();
    let handles: Vec<_> = (0..50)
        .map(|_| {
            let guard = Counted(Arc::clone(&dropped));
            let future = async move {
                let _guard = guard;
                pending::<()>().await;
            };
            set.spawn_on(future, rt.handle())
        })
        .collect();
    drop(set);
    // Only aborting ends them; T6: each future is dropped once.
    rt.block_on(until(|| handles.iter().all(|handle| handle.is_finished())));
    assert_eq!(dropped.load(Ordering::Relaxed), 50);
}

#[test]
fn detached_tasks_go_on() {
    let rt = runtime(2);
    let gate = Gate::default();
    let mut set = JoinSet::new();
    let handle = set.spawn_on(gate.pass(), rt.handle());
    assert!(set.try_join_next().is_none(), "it has left a waker with the task");
    set.detach_all();
    assert!(set.is_empty());
    drop(set);
    gate.open();
    rt.block_on(until(|| handle.is_finished()));

    // A set is as good as new afterwards, whatever the old tasks tell it.
    let mut set = JoinSet::new();
    let gate = Gate::default();
    (0..10).for_each(|_| drop(set.spawn_on(gate.pass(), rt.handle())));
    assert!(set.try_join_next().is_none());
    set.detach_all();
    let new = Gate::default();
    (0..10).for_each(|_| drop(set.spawn_on(new.pass(), rt.handle())));
    gate.open();
    new.open();
    rt.block_on(async {
        for left in (0..10).rev() {
            set.join_next().await.unwrap().unwrap();
            assert_eq!(set.len(), left);
        }
        assert!(set.join_next().await.is_none());
    });
}

#[test]
fn aborted_tasks_stay_until_they_are_joined() {
    let rt = runtime(2);
    rt.block_on(async {
        let mut set = JoinSet::new();
        (0..10).for_each(|_| drop(set.spawn(pending::<()>())));
        set.abort_all();
        assert_eq!(set.len(), 10);
        for _ in 0..10 {
            assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
        }
        assert!(set.join_next().await.is_none());
    });
}

#[test]
fn shutdown_waits_until_all_futures_are_gone() {
    let rt = runtime(2);
    let dropped = Arc::new(AtomicUsize::new(0));
    rt.block_on(async {
        let mut set = JoinSet::new();
        for _ in 0..50 {
            let guard = Counted(Arc::clone(&dropped));
            set.spawn(async move {
                let _guard = guard;
                pending::<()>().await;
            });
        }
        set.shutdown().await;
        assert_eq!(dropped.load(Ordering::Relaxed), 50);
        assert!(set.is_empty());
    });
}

#[test]
fn join_all_collects_or_passes_the_panic_on() {
    let rt = runtime(2);
    let mut outputs = rt.block_on(async {
        let mut set: JoinSet<u32> = (0..10).map(|i| async move { i }).collect();
        set.extend((10..20).map(|i| async move { i }));
        set.join_all().await
    });
    outputs.sort();
    assert_eq!(outputs, Vec::from_iter(0..20));

    let mut set = JoinSet::new();
    set.spawn_on(async { std::panic::panic_any(17u32) }, rt.handle());
    let left = set.spawn_on(pending::<()>(), rt.handle());
    let panic = catch_unwind(AssertUnwindSafe(|| rt.block_on(set.join_all()))).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&17u32));
    rt.block_on(until(|| left.is_finished()));

    let mut set = JoinSet::new();
    set.spawn_on(pending::<()>(), rt.handle()).abort();
    let panic = catch_unwind(AssertUnwindSafe(|| rt.block_on(set.join_all()))).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("cancelled"));
}

#[test]
fn only_the_last_to_poll_is_woken() {
    let rt = runtime(2);
    let gate = Gate::default();
    let mut set = JoinSet::new();
    set.spawn_on(gate.pass(), rt.handle());
    let mut cx = std::task::Context::from_waker(Waker::noop());
    assert!(set.poll_join_next(&mut cx).is_pending());
    rt.block_on(async {
        let mut polls = 0;
        let joined = poll_fn(|cx| {
            polls += 1;
            let joined = set.poll_join_next(cx);
            if polls == 1 {
                assert!(joined.is_pending());
                gate.open();
            }
            joined
        });
        joined.await.unwrap().unwrap();
    });
    assert!(matches!(set.poll_join_next(&mut cx), Poll::Ready(None)));
}

#[test]
fn members_can_have_names() {
    let rt = runtime(1);
    let mut set = JoinSet::new();
    let handle = set.build_task().name("member").spawn_on(async { 1 }, rt.handle()).unwrap();
    assert!(format!("{handle:?}").contains("member"));
    let _entered = rt.enter();
    let handle = set.build_task().name("other").spawn(async { 2 }).unwrap();
    assert!(format!("{handle:?}").contains("other"));
    assert_eq!(rt.block_on(set.join_all()).into_iter().sum::<i32>(), 3);
}

#[test]
fn a_set_can_outlive_its_runtime() {
    let rt = runtime(2);
    let mut set = JoinSet::new();
    (0..20).for_each(|_| drop(set.spawn_on(pending::<()>(), rt.handle())));
    assert!(set.try_join_next().is_none());
    drop(rt);
    let mut joined = 0;
    while let Some(output) = set.try_join_next() {
        assert!(output.unwrap_err().is_cancelled());
        joined += 1;
    }
    assert_eq!(joined, 20);
}

#[test]
fn a_set_is_send_and_shows_its_length() {
    fn is_send_sync_unpin<T: Send + Sync + Unpin>(_: &T) {}
    let set = JoinSet::<std::cell::Cell<u32>>::default();
    is_send_sync_unpin(&set);
    assert_eq!(format!("{set:?}"), "JoinSet { len: 0 }");
}
