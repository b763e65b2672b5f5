//! Thread per core: a map of words in shards, one for each worker, without a lock.
//!
//! A shard belongs to a pinned task, which never leaves its worker; the map is in an `Rc`, so it
//! could not. Requests are sent to the shard that their word belongs to.

use heist::runtime::{Builder, Handle};
use heist::sync::{mpsc, oneshot};
use heist::task::JoinHandle;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::thread::{self, ThreadId};

const SHARDS: usize = 4;

enum Request {
    Add(String),
    Get(String, oneshot::Sender<u32>),
}

pub fn main() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(SHARDS)
        .thread_per_core(true)
        .pin_workers(true)
        .enable_all()
        .build()
        .expect("four threads can be started");
    runtime.block_on(async {
        let (shards, tasks): (Vec<_>, Vec<_>) =
            (0..SHARDS).map(|worker| start_shard(&Handle::current(), worker)).unzip();
        let shard_of = |word: &str| &shards[word.bytes().map(usize::from).sum::<usize>() % SHARDS];

        let text = "a thief in the night is a thief of the night and a thief of time";
        for word in text.split(' ') {
            let sent = shard_of(word).send(Request::Add(word.into())).await;
            sent.expect("the shard lives");
        }
        for (word, times) in [("thief", 3), ("night", 2), ("time", 1), ("day", 0)] {
            let (answer, answered) = oneshot::channel();
            let sent = shard_of(word).send(Request::Get(word.into(), answer)).await;
            sent.expect("the shard lives");
            let count = answered.await.expect("the shard answers");
            println!("{word}: {count}");
            assert_eq!(count, times);
        }

        drop(shards);
        for (worker, shard) in tasks.into_iter().enumerate() {
            let (thread, words) = shard.await.expect("it neither panics nor is aborted");
            println!("worker {worker} held {words} words, on {thread:?} all the time");
        }
    });
}

/// A shard on this worker: where to send requests, and the task that answers them.
fn start_shard(
    handle: &Handle,
    worker: usize,
) -> (mpsc::Sender<Request>, JoinHandle<(ThreadId, usize)>) {
    let (send, mut requests) = mpsc::channel(16);
    let task = handle.spawn_pinned_on(worker, move || async move {
        let counts: Rc<RefCell<HashMap<String, u32>>> = Rc::default();
        let home = thread::current().id();
        while let Some(request) = requests.recv().await {
            assert_eq!(thread::current().id(), home);
            match request {
                Request::Add(word) => *counts.borrow_mut().entry(word).or_insert(0) += 1,
                Request::Get(word, answer) => {
                    let count = counts.borrow().get(&word).copied().unwrap_or(0);
                    answer.send(count).expect("somebody waits for it");
                }
            }
        }
        (home, counts.borrow().len())
    });
    (send, task)
}
