//! A tour: tasks that spread over the workers, a blocking closure beside them, a task that is
//! aborted, and one that panics.

use heist::runtime::Builder;
use heist::sync::mpsc;
use heist::task::{self, JoinSet};
use std::collections::BTreeMap;
use std::{hint, thread};

pub fn main() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(4)
        .thread_name_fn({
            let number = std::sync::atomic::AtomicUsize::new(0);
            move || format!("worker {}", number.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        })
        .enable_all()
        .build()
        .expect("four threads can be started");
    runtime.block_on(async {
        println!("400 tasks, all spawned by one of them:");
        let spread = heist::spawn(spread()).await.expect("it neither panics nor is aborted");
        for (worker, tasks) in &spread {
            println!("  {worker} ran {tasks:>3} {}", "#".repeat(tasks / 5));
        }
        assert_eq!(spread.values().sum::<usize>(), 400);

        let (send, mut receive) = mpsc::channel(1);
        let closure = task::spawn_blocking(move || {
            (0..3).for_each(|item| send.blocking_send(item).expect("somebody receives"));
            "a blocking closure sent three items"
        });
        let mut items = Vec::new();
        while let Some(item) = receive.recv().await {
            items.push(item);
        }
        println!("{}: {items:?}", closure.await.expect("it does not panic"));
        assert_eq!(items, [0, 1, 2]);

        let waiting = heist::spawn(std::future::pending::<()>());
        waiting.abort();
        println!("{}", waiting.await.expect_err("it was aborted"));

        std::panic::set_hook(Box::new(|_| ()));
        let panicking = heist::spawn(async { panic!("a task's panic stays in its handle") });
        println!("{}", panicking.await.expect_err("it panicked"));
        drop(std::panic::take_hook());
    });
}

/// Spawns everything from one worker; returns which worker ran how many.
async fn spread() -> BTreeMap<String, usize> {
    let mut tasks = JoinSet::new();
    for number in 0..400_u64 {
        tasks.spawn(async move {
            hint::black_box((0..30_000).fold(number, |a, b| a ^ hint::black_box(b)));
            thread::current().name().unwrap_or("?").to_owned()
        });
    }
    let mut spread = BTreeMap::new();
    while let Some(worker) = tasks.join_next().await {
        *spread.entry(worker.expect("it neither panics nor is aborted")).or_insert(0) += 1;
    }
    spread
}
