//! Every worker is stuck, and the others run all the same.
//!
//! Two tasks hold both workers: one blocks and one computes, without telling the runtime, until a
//! third task, which is woken every few milliseconds, has received its ticks. The runtime detects
//! the stuck workers, reports them, and gives their seats to spare workers until they return.

use heist::runtime::Builder;
use heist::{sync, task};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const TICKS: usize = 60;

pub fn main() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .on_stall(|stall| println!("  {stall}"))
        .build()
        .unwrap();

    let (let_go, held) = mpsc::channel::<()>();
    let is_over = Arc::new(AtomicBool::new(false));
    let must_go_on = Arc::clone(&is_over);
    let longest_wait = runtime.block_on(async {
        let blocks = task::Builder::new().name("blocks").spawn(async move {
            // A plain blocking call, as there is one in some library.
            let _ = held.recv();
        });
        let computes = task::Builder::new().name("computes").spawn(async move {
            let mut number = 1u64;
            while !must_go_on.load(Ordering::Relaxed) {
                number = number.wrapping_mul(6364136223846793005).wrapping_add(1);
            }
            number
        });

        // A thread that ticks, and a task that hears it.
        let (ticks, mut heard) = sync::mpsc::unbounded_channel();
        let ticker = thread::spawn(move || {
            for _ in 0..TICKS {
                ticks.send(Instant::now()).unwrap();
                thread::sleep(Duration::from_millis(5));
            }
        });
        let listener = task::spawn(async move {
            let mut longest = Duration::ZERO;
            while let Some(sent) = heard.recv().await {
                longest = longest.max(sent.elapsed());
            }
            longest
        });

        let longest = listener.await.unwrap();
        drop(let_go);
        is_over.store(true, Ordering::Relaxed);
        blocks.unwrap().await.unwrap();
        computes.unwrap().await.unwrap();
        ticker.join().unwrap();
        longest
    });

    let metrics = runtime.metrics();
    let losses: u64 = (0..2).map(|worker| metrics.worker_seat_loss_count(worker)).sum();
    assert!(losses > 0, "somebody ran beside two workers that were held");
    println!(
        "{TICKS} ticks, each heard while both workers were held; the longest wait: {longest_wait:?}"
    );
    println!(
        "stalls: {}, longest: {:?}, seats lost: {losses}",
        metrics.stall_count(),
        metrics.longest_stall()
    );
}
