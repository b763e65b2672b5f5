//! Seeded stress: many more threads than cores, every item accounted for exactly once, by name
//! (Q1, Q6), and every one of the queues' operations in the mix.
//!
//! `HEIST_STRESS_SCALE` multiplies the number of items (default 1: each queue sees more than
//! 10⁷ operations), `HEIST_STRESS_SEED` sets the seed. The seed decides what every thread tries;
//! who wins is up to the machine.

mod support;

use heist_deque::ring::Full;
use heist_deque::{deque, ring};
use heist_testing::{Rng, scaled};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use support::{Item, Ledger};

const WORKERS: u64 = 8;

/// A worker's end of a queue, as far as the stress needs it.
trait Worker: Send {
    type Stealer: Clone + Send + Sync;
    /// `number` varies the size between workers.
    fn new(number: u64) -> Self;
    fn stealer(&self) -> Self::Stealer;
    fn push(&mut self, item: Item, rng: &mut Rng, ledger: &Ledger);
    fn pop(&mut self) -> Option<Item>;
    /// One attempt by a way of the generator's choice.
    fn steal(&mut self, victim: &Self::Stealer, rng: &mut Rng) -> Option<Item>;
}

impl Worker for ring::Owner<Item> {
    type Stealer = ring::Stealer<Item>;

    fn new(number: u64) -> Self {
        ring::Owner::with_capacity(2 << (number % 8))
    }

    fn stealer(&self) -> Self::Stealer {
        self.stealer()
    }

    fn push(&mut self, item: Item, rng: &mut Rng, ledger: &Ledger) {
        let full = if rng.below(4) == 0 {
            let mut batch = std::iter::once(item);
            self.push_batch(&mut batch);
            batch.next()
        } else {
            self.push(item).err().map(|Full(item)| item)
        };
        if let Some(item) = full {
            // What a scheduler does: half of the ring and the new one go elsewhere (Q5).
            self.drain_half().chain([item]).for_each(|item| ledger.take(item));
        }
    }

    fn pop(&mut self) -> Option<Item> {
        self.pop()
    }

    fn steal(&mut self, victim: &Self::Stealer, rng: &mut Rng) -> Option<Item> {
        match rng.below(4) {
            0 => victim.steal().success(),
            1 => {
                let _ = victim.steal_half_into(self);
                None
            }
            _ => victim.steal_into(self).success(),
        }
    }
}

impl Worker for deque::Owner<Item> {
    type Stealer = deque::Stealer<Item>;

    fn new(number: u64) -> Self {
        deque::Owner::with_capacity(2 << (number % 8))
    }

    fn stealer(&self) -> Self::Stealer {
        self.stealer()
    }

    fn push(&mut self, item: Item, rng: &mut Rng, ledger: &Ledger) {
        // As a join does it, sometimes.
        let known = (rng.below(2) == 0).then(|| item.again());
        let mark = self.mark();
        self.push(item);
        if let Some(item) = known.filter(|_| self.take_back(mark)) {
            ledger.take(item);
        }
    }

    fn pop(&mut self) -> Option<Item> {
        self.pop()
    }

    fn steal(&mut self, victim: &Self::Stealer, rng: &mut Rng) -> Option<Item> {
        match rng.below(3) {
            0 => victim.steal_batch_into(self).success(),
            _ => victim.steal().success(),
        }
    }
}

/// Everyone pushes, pops and steals from everyone, itself included.
fn free_for_all<W: Worker>(items: u64) {
    let ledger = &Ledger::new(items);
    let workers: Vec<W> = (0..WORKERS).map(W::new).collect();
    let victims: Vec<W::Stealer> = workers.iter().map(W::stealer).collect();
    let left: Vec<W> = thread::scope(|scope| {
        let handles: Vec<_> = (0..WORKERS)
            .zip(workers)
            .map(|(number, mut worker)| {
                let victims = victims.clone();
                scope.spawn(move || {
                    work(&mut worker, &victims, &mut Rng::for_thread(number), ledger);
                    worker
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    for mut worker in left {
        while let Some(item) = worker.pop() {
            ledger.take(item);
        }
    }
    ledger.settle();
}

/// Bursts of each kind of work, until no more items are issued.
fn work<W: Worker>(worker: &mut W, victims: &[W::Stealer], rng: &mut Rng, ledger: &Ledger) {
    loop {
        let burst = rng.below(40);
        match rng.below(8) {
            0..3 => {
                for _ in 0..burst {
                    let Some(item) = ledger.issue() else { return };
                    worker.push(item, rng, ledger);
                }
            }
            3..5 => (0..burst).filter_map(|_| worker.pop()).for_each(|item| ledger.take(item)),
            _ => {
                for _ in 0..burst {
                    let victim = &victims[rng.below(WORKERS) as usize];
                    if let Some(item) = worker.steal(victim, rng) {
                        ledger.take(item);
                    }
                }
            }
        }
        if rng.below(256) == 0 {
            thread::yield_now();
        }
    }
}

/// One owner at its fastest, on the edge between empty and not, and everyone else a thief.
fn one_against_all<W: Worker>(items: u64) {
    let ledger = &Ledger::new(items);
    let mut owner = W::new(3);
    let (victim, finished) = (&owner.stealer(), &AtomicBool::new(false));
    thread::scope(|scope| {
        for number in 1..WORKERS {
            scope.spawn(move || {
                let (mut own, mut rng) = (W::new(number), Rng::for_thread(number));
                loop {
                    let last = finished.load(Ordering::Acquire);
                    if let Some(item) = own.steal(victim, &mut rng) {
                        ledger.take(item);
                    }
                    while let Some(item) = own.pop() {
                        ledger.take(item);
                    }
                    if last {
                        return;
                    }
                }
            });
        }
        let mut rng = Rng::for_thread(0);
        while let Some(item) = ledger.issue() {
            owner.push(item, &mut rng, ledger);
            for _ in 0..rng.below(3) {
                if let Some(item) = owner.pop() {
                    ledger.take(item);
                }
            }
        }
        finished.store(true, Ordering::Release);
    });
    while let Some(item) = owner.pop() {
        ledger.take(item);
    }
    ledger.settle();
}

#[test]
fn q1_ring_free_for_all() {
    free_for_all::<ring::Owner<Item>>(scaled(5_000_000));
}

#[test]
fn q1_deque_free_for_all() {
    free_for_all::<deque::Owner<Item>>(scaled(5_000_000));
}

#[test]
fn q6_ring_one_owner_against_seven_thieves() {
    one_against_all::<ring::Owner<Item>>(scaled(2_000_000));
}

#[test]
fn q6_deque_one_owner_against_seven_thieves() {
    one_against_all::<deque::Owner<Item>>(scaled(2_000_000));
}

/// Items that nobody but a thief can take are all taken, though the owner never comes back to
/// its deque: no job sits private while a worker has nothing to do (Q6).
#[test]
fn q6_a_thief_empties_the_deque_of_an_absent_owner() {
    let items = scaled(100_000);
    let ledger = &Ledger::new(items);
    let mut owner = deque::Owner::new();
    while let Some(item) = ledger.issue() {
        owner.push(item);
    }
    thread::scope(|scope| {
        for _ in 0..4 {
            let stealer = owner.stealer();
            scope.spawn(move || {
                while !stealer.is_empty() {
                    if let Some(item) = stealer.steal().success() {
                        ledger.take(item);
                    }
                }
            });
        }
    });
    ledger.settle();
}
