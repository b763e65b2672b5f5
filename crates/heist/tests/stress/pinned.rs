//! Runtimes under seeded load with pinned tasks among others: every task is accounted for exactly
//! once, and each pinned one on one thread (W8, T1, T6).
//!
//! `HEIST_STRESS_SCALE` multiplies the number of rounds, `HEIST_STRESS_SEED` sets the seed.

use crate::support;
use crate::support::resident::{Register, Resident};
use crate::support::{Counted, runtime};
use heist::task::{JoinHandle, spawn_pinned, yield_now};
use heist_testing::{Rng, scaled, seed};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;

#[derive(Clone, Default)]
struct World {
    /// The wakers of waiting tasks, called from any worker or thread.
    pool: Arc<Mutex<Vec<Waker>>>,
    register: Register,
    drops: Arc<AtomicUsize>,
    made: Arc<AtomicUsize>,
}

impl World {
    fn counted(&self) -> Counted {
        self.made.fetch_add(1, Ordering::SeqCst);
        Counted(self.drops.clone())
    }

    fn wake_some(&self, most: u64, rng: &mut Rng) {
        let wakers: Vec<Waker> = {
            let mut pool = self.pool.lock().unwrap();
            let from = pool.len().saturating_sub(rng.below(most + 1) as usize);
            pool.drain(from..).collect()
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Waits to be woken by somebody, or by itself.
    async fn wait(&self, rng: &mut Rng) {
        let (wakes_itself, mut is_woken) = (rng.below(3) == 0, false);
        poll_fn(|cx| {
            if std::mem::replace(&mut is_woken, true) {
                return Poll::Ready(());
            }
            match wakes_itself {
                true => cx.waker().wake_by_ref(),
                false => self.pool.lock().unwrap().push(cx.waker().clone()),
            }
            Poll::Pending
        })
        .await;
    }

    fn pinned(&self, mut rng: Rng, depth: u32) -> JoinHandle<()> {
        let (world, counted) = (self.clone(), self.counted());
        spawn_pinned(move || async move {
            let resident = Resident::new(&world.register);
            let _counted = counted;
            for _ in 0..rng.below(20) {
                resident.check();
                world.wake_some(2, &mut rng);
                world.wait(&mut rng).await;
                if depth > 0 && rng.below(8) == 0 {
                    drop(world.any(Rng::new(rng.next_u64()), depth - 1));
                }
            }
            resident.check();
        })
    }

    fn ordinary(&self, mut rng: Rng, depth: u32) -> JoinHandle<()> {
        let (world, counted) = (self.clone(), self.counted());
        heist::spawn(async move {
            let _counted = counted;
            for _ in 0..rng.below(20) {
                world.wake_some(2, &mut rng);
                world.wait(&mut rng).await;
                if depth > 0 && rng.below(8) == 0 {
                    drop(world.any(Rng::new(rng.next_u64()), depth - 1));
                }
                yield_now().await;
            }
        })
    }

    fn any(&self, mut rng: Rng, depth: u32) -> JoinHandle<()> {
        match rng.below(2) {
            0 => self.pinned(rng, depth),
            _ => self.ordinary(rng, depth),
        }
    }
}

fn round(round: u64) {
    let mut rng = Rng::new(seed() ^ round << 8);
    let runtime = runtime(1 + rng.below(8) as usize);
    let world = World::default();
    let entered = runtime.enter();
    let mut joins: Vec<_> = (0..100).map(|_| world.any(Rng::new(rng.next_u64()), 2)).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let waking = {
        let (world, stop, mut rng) = (world.clone(), stop.clone(), Rng::new(rng.next_u64()));
        thread::spawn(move || {
            while !stop.load(Ordering::SeqCst) {
                world.wake_some(3, &mut rng);
                thread::yield_now();
            }
        })
    };
    for _ in 0..rng.below(60) {
        let at = rng.below(joins.len() as u64) as usize;
        match rng.below(3) {
            0 => joins[at].abort(),
            1 if joins.len() > 1 => drop(joins.swap_remove(at)),
            _ => joins.push(world.any(Rng::new(rng.next_u64()), 2)),
        }
    }
    drop(entered);
    if rng.below(2) == 0 {
        // Everything ends by itself.
        for join in joins {
            let ended = runtime.block_on(join);
            assert!(ended.is_ok() || ended.unwrap_err().is_cancelled());
        }
        let ended = || world.drops.load(Ordering::SeqCst) == world.made.load(Ordering::SeqCst);
        runtime.block_on(support::futures::until(ended));
    }
    drop(runtime);
    world.register.check();
    let (made, drops) = (world.made.load(Ordering::SeqCst), world.drops.load(Ordering::SeqCst));
    assert_eq!(made, drops, "seed {:#x}, round {round}", seed());
    stop.store(true, Ordering::SeqCst);
    waking.join().unwrap();
}

#[test]
fn w8_pinned_among_others() {
    (0..scaled(400)).for_each(round);
}
