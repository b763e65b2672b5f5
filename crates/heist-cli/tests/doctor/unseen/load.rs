//! What goes on beside what is looked at.

use crate::programs::{all, burn};
use heist::runtime::Runtime;
use heist::sync::watch;
use heist::task::JoinHandle;
use heist::{select, time};
use std::time::Duration;

/// Tasks that do something now and then.
pub struct Load {
    tasks: usize,
    every: Duration,
    micros: u64,
}

/// A number of tasks, each of which works for some microseconds once per period of milliseconds.
pub fn steady(tasks: usize, every: u64, micros: u64) -> Load {
    Load { tasks, every: Duration::from_millis(every), micros }
}

/// The load goes on until the program has ended.
pub fn beside<T>(runtime: &Runtime, load: Load, program: JoinHandle<T>) -> T {
    let Load { tasks, every, micros } = load;
    let (end, ends) = watch::channel(());
    let tasks = (0..tasks).map(|_| {
        let mut ends = ends.clone();
        runtime.spawn(async move {
            loop {
                select! {
                    _ = ends.changed() => break,
                    () = time::sleep(every) => burn(micros),
                }
            }
        })
    });
    let tasks = tasks.collect();
    let output = runtime.block_on(program).expect("it does not panic");
    drop(end);
    runtime.block_on(all(tasks));
    output
}
