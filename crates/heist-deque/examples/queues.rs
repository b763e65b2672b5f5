//! The two queues at work: four workers share what one of them was given.
//!
//! First tasks on rings: worker 0 holds all of them, the others steal half of what they find.
//! Then a sum on deques: worker 0 splits a range, the others take the oldest, largest pieces.

use heist_deque::{deque, ring};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{hint, thread};

const WORKERS: usize = 4;
const TASKS: u64 = 256;
const NUMBERS: u64 = 1 << 24;
/// A piece of this size is added up; a larger one is split.
const LEAF: u64 = 1 << 12;

pub fn main() {
    println!("ring: {TASKS} tasks, all given to worker 0");
    print_shares(&run_tasks(), TASKS);
    println!("deque: {NUMBERS} numbers to add up, all given to worker 0");
    print_shares(&add_numbers(), NUMBERS);
}

/// Runs all tasks; returns how many each worker ran.
fn run_tasks() -> Vec<u64> {
    let mut rings: Vec<ring::Owner<u64>> = (0..WORKERS).map(|_| ring::Owner::new()).collect();
    for task in 0..TASKS {
        rings[0].push(task).expect("256 tasks fit");
    }
    let stealers: Vec<_> = rings.iter().map(ring::Owner::stealer).collect();
    on_workers(rings, TASKS, |ring, victim| {
        let task = ring.pop().or_else(|| stealers[victim].steal_into(ring).success());
        task.map_or(0, |task| {
            hint::black_box((0..50_000).fold(task, |a, b| a ^ hint::black_box(b)));
            1
        })
    })
}

/// Adds up all numbers; returns how many each worker added.
fn add_numbers() -> Vec<u64> {
    let mut deques: Vec<deque::Owner<_>> = (0..WORKERS).map(|_| deque::Owner::new()).collect();
    deques[0].push(0..NUMBERS);
    let stealers: Vec<_> = deques.iter().map(deque::Owner::stealer).collect();
    let sum = AtomicU64::new(0);
    let shares = on_workers(deques, NUMBERS, |deque, victim| {
        let Some(mut piece) = deque.pop().or_else(|| stealers[victim].steal().success()) else {
            return 0;
        };
        while piece.end - piece.start > LEAF {
            let middle = piece.start.midpoint(piece.end);
            deque.push(middle..piece.end);
            piece.end = middle;
        }
        sum.fetch_add(piece.clone().map(hint::black_box).sum(), Ordering::Relaxed);
        piece.end - piece.start
    });
    assert_eq!(sum.into_inner(), NUMBERS * (NUMBERS - 1) / 2);
    shares
}

/// Gives each worker a thread and a queue. `step` takes something from the queue, or from the
/// victim with the given number, and says how much of `total` that was. Returns each one's sum.
fn on_workers<Q: Send>(
    queues: Vec<Q>,
    total: u64,
    step: impl Fn(&mut Q, usize) -> u64 + Sync,
) -> Vec<u64> {
    let (left, step) = (&AtomicU64::new(total), &step);
    thread::scope(|scope| {
        let work = |(me, mut queue): (usize, Q)| {
            move || {
                let (mut mine, mut victim) = (0, me);
                while left.load(Ordering::Relaxed) > 0 {
                    victim = (victim + 1) % WORKERS;
                    let done = step(&mut queue, victim);
                    left.fetch_sub(done, Ordering::Relaxed);
                    mine += done;
                    if done == 0 {
                        thread::yield_now();
                    }
                }
                mine
            }
        };
        let workers: Vec<_> =
            queues.into_iter().enumerate().map(|worker| scope.spawn(work(worker))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    })
}

fn print_shares(shares: &[u64], total: u64) {
    for (worker, share) in shares.iter().enumerate() {
        let bar = "#".repeat((share * 40 / total) as usize);
        println!("  worker {worker} {:>5.1} % {bar}", *share as f64 * 100.0 / total as f64);
    }
    assert_eq!(shares.iter().sum::<u64>(), total);
}
