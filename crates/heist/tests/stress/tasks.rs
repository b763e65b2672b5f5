//! Whole runtimes under seeded load, with more workers than cores: every task is accounted for
//! exactly once (T1, T3–T6), through yields, wake-ups across workers, aborts and shutdown.
//!
//! `HEIST_STRESS_SCALE` multiplies the number of tasks, `HEIST_STRESS_SEED` sets the seed.

use crate::support::{Counted, runtime};
use heist::task::yield_now;
use heist_testing::{Rng, scaled, seed};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// Spawns a tree of tasks; each node yields, hands over, or waits for its children.
fn tree(
    depth: u32,
    mut rng: Rng,
    count: Arc<AtomicUsize>,
) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    Box::pin(async move {
        let _counted = Counted(count.clone());
        let mut total = 1;
        let mut joins = Vec::new();
        if depth > 0 {
            for _ in 0..1 + rng.below(4) {
                joins.push(heist::spawn(tree(depth - 1, Rng::new(rng.next_u64()), count.clone())));
                if rng.below(3) == 0 {
                    yield_now().await;
                }
            }
        }
        for join in joins {
            total += join.await.unwrap();
        }
        total
    })
}

#[test]
fn t1_trees_of_tasks() {
    for (round, workers) in [1, 2, 3, 8, 16].into_iter().enumerate() {
        let (runtime, count) = (runtime(workers), Arc::new(AtomicUsize::new(0)));
        let mut spawned = 0;
        for tree_number in 0..scaled(200) {
            let rng = Rng::new(seed() ^ (round as u64) << 32 ^ tree_number);
            spawned += runtime.block_on(runtime.spawn(tree(6, rng, count.clone()))).unwrap();
        }
        drop(runtime);
        assert_eq!(count.load(Ordering::SeqCst), spawned, "seed {:#x}", seed());
    }
}

/// Tasks park their wakers in a pool; others take them out and wake them, from any worker.
#[test]
fn t4_wake_ups_across_workers() {
    for workers in [2, 4, 16] {
        let runtime = runtime(workers);
        let pool: Arc<Mutex<Vec<Waker>>> = Arc::default();
        let drops = Arc::new(AtomicUsize::new(0));
        let joins: Vec<_> = (0..scaled(4000))
            .map(|number| {
                let (pool, held) = (pool.clone(), Counted(drops.clone()));
                let mut rng = Rng::new(seed() ^ number);
                let mut left = 1 + rng.below(30);
                runtime.spawn(poll_fn(move |cx| {
                    let _held = &held;
                    let others: Vec<Waker> = {
                        let mut pool = pool.lock().unwrap();
                        let from = pool.len().saturating_sub(1 + rng.below(3) as usize);
                        pool.drain(from..).collect()
                    };
                    others.into_iter().for_each(Waker::wake);
                    left -= 1;
                    if left == 0 {
                        return Poll::Ready(());
                    }
                    match rng.below(2) {
                        0 => cx.waker().wake_by_ref(),
                        _ => pool.lock().unwrap().push(cx.waker().clone()),
                    }
                    Poll::Pending
                }))
            })
            .collect();
        // The tasks that are left in the pool are woken from outside, until all are done.
        while !joins.iter().all(|join| join.is_finished()) {
            let waker = pool.lock().unwrap().pop();
            waker.into_iter().for_each(Waker::wake);
            std::thread::yield_now();
        }
        assert_eq!(drops.load(Ordering::SeqCst), joins.len());
    }
}

/// Tasks are aborted while they run, wait and queue; then the runtime goes down under load.
#[test]
fn t6_aborts_and_shutdown_under_load() {
    for round in 0..scaled(300) {
        let mut rng = Rng::new(seed() ^ round);
        let runtime = runtime(1 + rng.below(16) as usize);
        let (drops, mut made) = (Arc::new(AtomicUsize::new(0)), 0);
        let mut joins = Vec::new();
        for _ in 0..200 {
            let held = Counted(drops.clone());
            let yields = rng.below(20);
            made += 1;
            joins.push(runtime.spawn(async move {
                let _held = held;
                for _ in 0..yields {
                    yield_now().await;
                }
                if yields % 3 == 0 {
                    std::future::pending::<()>().await;
                }
            }));
            if rng.below(3) == 0 {
                let victim = rng.below(joins.len() as u64) as usize;
                joins[victim].abort();
            }
            if rng.below(4) == 0 {
                let at = rng.below(joins.len() as u64) as usize;
                drop(joins.swap_remove(at));
            }
        }
        match rng.below(3) {
            0 => runtime.shutdown_timeout(std::time::Duration::from_secs(600)),
            _ => drop(runtime),
        }
        assert_eq!(drops.load(Ordering::SeqCst), made, "seed {:#x}, round {round}", seed());
    }
}
