//! Random trees of joins, scopes, jobs and broadcasts, with panics and pauses in them, beside
//! tasks, on more workers than there are cores (J1–J5, F3). Each leaf is counted.
//! `HEIST_STRESS_SEED` and `HEIST_STRESS_SCALE` say where to begin and how much.

use heist::runtime::{Builder, Handle, Runtime};
use heist::{join, scope, scope_fifo, spawn_job, task};
use heist_testing::{Rng, scaled, seed};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// What all nodes of a tree share.
struct Tree {
    other: Handle,
    leaves: AtomicU64,
    /// Where threads are few nobody waits for a job that only another thread could begin.
    is_scarce: bool,
}

/// How many leaves the tree of this seed has; what [`grow`] does, without doing it.
fn expected(seed: u64, depth: u32) -> u64 {
    let mut rng = Rng::new(seed);
    if depth == 0 {
        return 1;
    }
    let kind = rng.below(16);
    let children = if kind < 8 { 2 } else { 1 + rng.below(4) };
    (0..children).map(|_| expected(rng.next_u64(), depth - 1)).sum()
}

fn grow(seed: u64, depth: u32, tree: &Arc<Tree>) {
    let mut rng = Rng::new(seed);
    if depth == 0 {
        leaf(&mut rng, tree);
        return;
    }
    let kind = rng.below(16);
    let children = if kind < 8 { 2 } else { 1 + rng.below(4) };
    let seeds: Vec<u64> = (0..children).map(|_| rng.next_u64()).collect();
    match kind {
        0..8 => _ = join(|| grow(seeds[0], depth - 1, tree), || grow(seeds[1], depth - 1, tree)),
        8..11 => scope(|s| {
            for seed in seeds {
                s.spawn(move |_| grow(seed, depth - 1, tree));
            }
        }),
        11 => scope_fifo(|s| {
            for seed in seeds {
                s.spawn_fifo(move |s| s.spawn_fifo(move |_| grow(seed, depth - 1, tree)));
            }
        }),
        12 => heist::in_place_scope(|s| {
            for seed in seeds {
                s.spawn(move |_| grow(seed, depth - 1, tree));
            }
        }),
        13 => {
            let job = |seed| {
                let tree = Arc::clone(tree);
                spawn_job(move || grow(seed, depth - 1, &tree))
            };
            let jobs: Vec<_> = seeds.into_iter().map(job).collect();
            jobs.into_iter().for_each(|job| job.wait().unwrap());
        }
        14 if !tree.is_scarce => {
            tree.other.install(|| seeds.into_iter().for_each(|seed| grow(seed, depth - 1, tree)));
        }
        _ => heist::par::for_each(&seeds[..], |seed| grow(*seed, depth - 1, tree)),
    }
}

fn leaf(rng: &mut Rng, tree: &Tree) {
    tree.leaves.fetch_add(1, Ordering::Relaxed);
    let pause = Duration::from_micros(rng.below(300));
    match rng.below(200) {
        0 => thread::sleep(pause),
        1 => task::block_in_place(|| thread::sleep(pause)),
        2 => {
            let outcome = panic::catch_unwind(|| join(|| panic::panic_any(1), || 2));
            assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&1));
        }
        3 => drop(task::spawn(task::yield_now())),
        4 => drop(spawn_job(|| ())),
        5 if !tree.is_scarce => assert!(!heist::broadcast(|c| c.index()).is_empty()),
        _ => {}
    }
}

fn runtime(rng: &mut Rng, is_scarce: bool) -> Runtime {
    let threshold = [None, Some(Duration::from_millis(1)), Some(Duration::from_millis(10))];
    Builder::new_multi_thread()
        .worker_threads(1 + rng.below(5) as usize)
        .max_blocking_threads(if is_scarce { 1 + rng.below(4) as usize } else { 512 })
        .stall_threshold(threshold[rng.below(3) as usize])
        .build()
        .unwrap()
}

#[test]
fn j1_every_leaf_of_random_trees_is_reached_once() {
    // Panics are what is tried here, and are many.
    panic::set_hook(Box::new(|panic| {
        if panic.payload().downcast_ref::<i32>().is_none() {
            eprintln!("{panic}");
        }
    }));
    for round in 0..scaled(200) {
        let seed = seed().wrapping_add(round);
        let mut rng = Rng::new(seed);
        let is_scarce = rng.below(3) == 0;
        let (rt, other) = (runtime(&mut rng, is_scarce), runtime(&mut rng, is_scarce));
        let trees: Vec<u64> = (0..1 + rng.below(6)).map(|_| rng.next_u64()).collect();
        let other = other.handle().clone();
        let tree = Arc::new(Tree { other, leaves: AtomicU64::new(0), is_scarce });
        let depth = 4 + rng.below(5) as u32;
        let wanted: u64 = trees.iter().map(|seed| expected(*seed, depth)).sum();
        let is_cut_short = rng.below(4) == 0;
        let chatter = rt.spawn(async {
            loop {
                task::yield_now().await;
            }
        });
        // Dropped when all trees have grown.
        let (handle, mut rt) = (rt.handle().clone(), Some(rt));
        thread::scope(|threads| {
            for (number, seed) in trees.iter().enumerate() {
                let (handle, tree) = (handle.clone(), Arc::clone(&tree));
                threads.spawn(move || {
                    let grow = AssertUnwindSafe(|| match number % 2 {
                        0 => handle.install(|| grow(*seed, depth, &tree)),
                        _ => {
                            let _entered = handle.enter();
                            grow(*seed, depth, &tree);
                        }
                    });
                    // A job that waits when the runtime goes down is cancelled.
                    assert!(panic::catch_unwind(grow).is_ok() || is_cut_short, "seed {seed}");
                });
            }
            if is_cut_short {
                thread::sleep(Duration::from_micros(rng.below(2000)));
                rt.take().into_iter().for_each(Runtime::shutdown_background);
            } else {
                chatter.abort();
            }
        });
        let leaves = tree.leaves.load(Ordering::Relaxed);
        assert!(
            leaves == wanted || is_cut_short && leaves <= wanted,
            "seed {seed}: {leaves} of {wanted}"
        );
    }
}
