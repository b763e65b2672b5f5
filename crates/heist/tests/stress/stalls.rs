//! Tasks that block, burn, step aside and wait for each other at random, on more workers than there
//! are cores (L1–L7). Each task is counted by its number; debug builds check that nobody
//! holds two seats. `HEIST_STRESS_SEED` and `HEIST_STRESS_SCALE` say where to begin and
//! how much.

use heist::runtime::{Builder, Handle};
use heist::task::{self, block_in_place};
use heist_testing::{Rng, scaled, seed};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// What a task does in one of its turns. Where threads are `scarce` nobody waits for others in a
/// poll: all threads could.
async fn turn(rng: &mut Rng, is_scarce: bool, counts: &Arc<Vec<AtomicU32>>, number: usize) {
    let pause = Duration::from_micros(rng.below(3000));
    match rng.below(12) {
        0 => thread::sleep(pause),
        1 => block_in_place(|| thread::sleep(pause)),
        2 => block_in_place(|| block_in_place(thread::yield_now)),
        3 => {
            let until = std::time::Instant::now() + pause;
            while std::time::Instant::now() < until {}
        }
        4 if !is_scarce => Handle::current().block_on(async {
            task::yield_now().await;
            task::spawn(task::yield_now()).await.unwrap();
        }),
        5 => task::spawn_blocking(move || thread::sleep(pause)).await.unwrap(),
        6 => {
            // In this poll, with or without a seat.
            let child = task::spawn(async move { number });
            thread::sleep(pause / 4);
            assert_eq!(child.await.unwrap(), number);
        }
        7 => {
            let counts = Arc::clone(counts);
            let child = task::spawn_pinned(move || async move { counts.len() });
            child.await.unwrap();
        }
        _ => task::yield_now().await,
    }
}

#[test]
fn l7_random_blocking_loses_nothing_and_seats_have_one_holder() {
    for round in 0..scaled(12) {
        let seed = seed().wrapping_add(round);
        let mut rng = Rng::new(seed);
        let workers = 1 + rng.below(8) as usize;
        let tasks = 20 + rng.below(100) as usize;
        let is_cut_short = rng.below(4) == 0;
        let is_scarce = rng.below(2) == 0;
        let threshold = [None, Some(Duration::from_millis(1)), Some(Duration::from_millis(4))];
        let rt = Builder::new_multi_thread()
            .worker_threads(workers)
            .max_blocking_threads(if is_scarce { 1 + rng.below(8) as usize } else { 512 })
            .stall_threshold(threshold[rng.below(3) as usize])
            .build()
            .unwrap();
        let counts: Arc<Vec<AtomicU32>> = Arc::new((0..tasks).map(|_| AtomicU32::new(0)).collect());
        let joins: Vec<_> = (0..tasks)
            .map(|number| {
                let (mut rng, counts) =
                    (Rng::new(seed ^ (number as u64) << 32), Arc::clone(&counts));
                rt.spawn(async move {
                    for _ in 0..rng.below(12) {
                        turn(&mut rng, is_scarce, &counts, number).await;
                    }
                    counts[number].fetch_add(1, Ordering::Relaxed);
                })
            })
            .collect();
        if is_cut_short {
            drop(rt);
            assert!(joins.iter().all(|join| join.is_finished()), "seed {seed}");
            continue;
        }
        for (number, join) in joins.into_iter().enumerate() {
            rt.block_on(join).unwrap();
            assert_eq!(counts[number].load(Ordering::Relaxed), 1, "seed {seed}, task {number}");
        }
        // With nothing to do the spares leave.
        while rt.metrics().num_spare_workers() > 0 {
            thread::yield_now();
        }
    }
}
