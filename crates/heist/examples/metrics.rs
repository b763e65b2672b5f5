//! What the workers did: one task spawns all the others, and then keeps its worker busy. The table
//! shows which workers spawned, stole and ran tasks.

use heist::runtime::{Builder, RuntimeMetrics};
use std::hint;

const TASKS: u64 = 2000;

/// A column: its title, and what it shows of a worker.
type Column = (&'static str, fn(&RuntimeMetrics, usize) -> u64);

const COLUMNS: [Column; 10] = [
    ("polls", RuntimeMetrics::worker_poll_count),
    ("scheduled", RuntimeMetrics::worker_local_schedule_count),
    ("lifo", RuntimeMetrics::worker_lifo_hit_count),
    ("injected", RuntimeMetrics::worker_injected_count),
    ("overflows", RuntimeMetrics::worker_overflow_count),
    ("stolen", RuntimeMetrics::worker_steal_count),
    ("steals", RuntimeMetrics::worker_steal_operations),
    ("in vain", RuntimeMetrics::worker_failed_search_count),
    ("parks", RuntimeMetrics::worker_park_count),
    ("woken", RuntimeMetrics::worker_wakeup_count),
];

pub fn main() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        // Nobody stands in for a worker that seems to be stuck: all there is to tell is in the
        // table.
        .stall_threshold(None)
        .build()
        .expect("four threads can be started");
    let metrics = runtime.metrics();
    let load = runtime.spawn(async {
        let tasks: Vec<_> = (0..TASKS).map(|n| heist::spawn(async move { work(n, 2) })).collect();
        work(0, 1000);
        for task in tasks {
            task.await.expect("it neither panics nor is aborted");
        }
    });
    runtime.block_on(load).expect("it neither panics nor is aborted");
    // The counters stay. Without this, the last worker may not have counted its last poll yet.
    drop(runtime);

    print!("worker");
    COLUMNS.iter().for_each(|(title, _)| print!(" {title:>9}"));
    println!(" {:>9} {:>9}", "busy", "mean poll");
    for worker in 0..metrics.num_workers() {
        print!("{worker:>6}");
        COLUMNS.iter().for_each(|(_, count)| print!(" {:>9}", count(&metrics, worker)));
        let busy = metrics.worker_total_busy_duration(worker).as_millis();
        let poll = metrics.worker_mean_poll_time(worker).as_micros();
        println!(" {:>9} {:>9}", format!("{busy} ms"), format!("{poll} µs"));
    }
    println!(
        "{} tasks were spawned, {} of them from outside; {} are alive",
        metrics.spawned_tasks_count(),
        metrics.remote_schedule_count(),
        metrics.num_alive_tasks(),
    );

    let total = |count: fn(&RuntimeMetrics, usize) -> u64| -> u64 {
        (0..metrics.num_workers()).map(|worker| count(&metrics, worker)).sum()
    };
    assert!(total(RuntimeMetrics::worker_poll_count) > TASKS);
    assert!(total(RuntimeMetrics::worker_local_schedule_count) >= TASKS);
    assert_eq!(metrics.spawned_tasks_count(), TASKS + 1);
    assert_eq!(metrics.num_alive_tasks(), 0);
}

/// Burns some microseconds.
fn work(number: u64, times: u64) {
    hint::black_box((0..times * 1000).fold(number, |a, b| a ^ hint::black_box(b)));
}
