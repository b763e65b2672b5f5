//! Awaited nodes without children. Most of them count something.

use crate::futures::{elsewhere, wake_from_elsewhere};
use crate::guard::{Spawner, Waits};
use crate::plan::Flavor;
use crate::world::{At, Expected, Out};
use heist::sync::{Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use heist::task::{consume_budget, yield_now};
use heist::time::{interval, sleep};
use std::future::pending;
use std::panic::panic_any;
use std::sync::Arc;
use std::time::Duration;

pub async fn yields(at: &At) -> Out {
    for _ in 0..at.n() % 5 {
        yield_now().await;
    }
    if at.n() % 7 == 0 {
        for _ in 0..300 {
            consume_budget().await;
        }
    }
    at.sum().get()
}

pub async fn sleeps(at: &At) -> Out {
    let mut sum = at.sum();
    let duration = Duration::from_micros(1 + at.n() / 3 % 3000);
    match at.n() % 3 {
        0 => {
            let mut interval = interval(duration);
            for _ in 0..at.node().ticks() {
                interval.tick().await;
                sum.count(1);
            }
        }
        1 => {
            for _ in 0..at.node().ticks() {
                sleep(duration).await;
                sum.count(1);
            }
        }
        _ => {
            // Polled, reset to an earlier moment, and awaited.
            for _ in 0..at.node().ticks() {
                let mut sleep = std::pin::pin!(sleep(Duration::from_secs(24 * 3600)));
                heist::select! {
                    biased;
                    () = &mut sleep => panic!("a sleep of a day has ended"),
                    () = yield_now() => {}
                }
                sleep.as_mut().reset(heist::time::Instant::now() + duration);
                sleep.await;
                sum.count(1);
            }
        }
    }
    sum.get()
}

/// Adds up messages from another task.
pub async fn channel(at: &At) -> Out {
    let mut sum = at.sum();
    let count = at.node().messages();
    let token = at.token();
    match at.n() % 6 {
        0 => {
            let (sender, mut receiver) = mpsc::channel(1 + at.n() as usize / 6 % 3);
            at.spawn(async move {
                let _token = token;
                for number in 0..count {
                    let _ = sender.send(number).await;
                }
            });
            for _ in 0..count {
                let Some(number) = receiver.recv().await else { return at.gone() };
                sum.count(number);
            }
            sum.get()
        }
        1 => {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            elsewhere(move || (0..count).for_each(|number| _ = sender.send(number)));
            while let Some(number) = receiver.recv().await {
                sum.count(number);
            }
            sum.get()
        }
        2 => {
            let (sender, mut receiver) = broadcast::channel(64);
            at.spawn(async move {
                let _token = token;
                for number in 0..count {
                    let _ = sender.send(number);
                    yield_now().await;
                }
            });
            for _ in 0..count {
                let Ok(number) = receiver.recv().await else { return at.gone() };
                sum.count(number);
            }
            sum.get()
        }
        3 => {
            let (sender, mut receiver) = watch::channel(0);
            at.spawn(async move {
                let _token = token;
                for number in 1..=count {
                    let _ = sender.send(number);
                    yield_now().await;
                }
            });
            let Ok(last) = receiver.wait_for(|number| *number == count).await.map(|last| *last)
            else {
                return at.gone();
            };
            sum.count((0..last).sum());
            sum.get()
        }
        4 => {
            for number in 0..count {
                let (sender, receiver) = oneshot::channel();
                at.spawn(async move { sender.send(number) });
                let Ok(number) = receiver.await else { return at.gone() };
                sum.count(number);
            }
            sum.get()
        }
        _ => notify(at, count).await,
    }
}

/// Notifies a waiter when it is dropped.
struct Notifies(Arc<Notify>);

impl Drop for Notifies {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

async fn notify(at: &At, count: u64) -> Out {
    let mut sum = at.sum();
    for number in 0..count {
        let notify = Arc::new(Notify::new());
        let notifies = Notifies(Arc::clone(&notify));
        match number % 2 {
            0 => drop(at.spawn(async move { drop(notifies) })),
            _ => elsewhere(move || drop(notifies)),
        }
        notify.notified().await;
        sum.count(number);
    }
    sum.get()
}

/// Tasks that increment a number, and hold its lock while they yield.
pub async fn lock(at: &At) -> Out {
    let lockers = at.node().lockers();
    let mutex = Arc::new(Mutex::new(0));
    let lock = Arc::new(RwLock::new(0));
    let (semaphore, semaphored) = (Arc::new(Semaphore::new(1)), Arc::new(Mutex::new(0)));
    let variant = at.n() % 4;
    let tasks: Vec<_> = (0..lockers)
        .map(|_| {
            let (mutex, lock) = (Arc::clone(&mutex), Arc::clone(&lock));
            let (semaphore, semaphored) = (Arc::clone(&semaphore), Arc::clone(&semaphored));
            let work = async move {
                for _ in 0..3 {
                    match variant {
                        0 | 3 => {
                            let mut number = mutex.lock().await;
                            let before = *number;
                            yield_now().await;
                            *number = before + 1;
                        }
                        1 => {
                            let before = *lock.read().await;
                            yield_now().await;
                            let mut number = lock.write().await;
                            assert!(*number >= before);
                            *number += 1;
                        }
                        _ => {
                            let _permit = semaphore.acquire().await.expect("it is not closed");
                            let mut number =
                                semaphored.try_lock().expect("the permit is the only one");
                            yield_now().await;
                            *number += 1;
                        }
                    }
                }
                Ok(0)
            };
            match variant {
                3 => {
                    let handle = at.handle();
                    heist::task::spawn_blocking(move || handle.block_on(work))
                }
                _ => at.spawn(work),
            }
        })
        .collect();
    for task in tasks {
        at.joined(task).await?;
    }
    let mut sum = at.sum();
    sum.count(*mutex.lock().await + *lock.read().await + *semaphored.lock().await);
    sum.get()
}

pub async fn wakes(at: &At) -> Out {
    let mut sum = at.sum();
    for number in 0..at.node().wakes() {
        wake_from_elsewhere(at.n() / 17 + number).await;
        sum.count(1);
    }
    sum.get()
}

/// A task whose drop spawns another: when it ends, panics or is aborted.
pub async fn drop_spawns(at: &At) -> Out {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let spawner = Spawner { handle: at.handle(), sender, at: at.clone() };
    let variant = at.n() % 3;
    let id = at.id;
    let task = at.spawn(async move {
        let _spawner = spawner;
        match variant {
            0 => {}
            1 => panic_any(Expected(id, Ok(0))),
            _ => pending().await,
        }
    });
    if variant == 2 {
        for _ in 0..at.n() / 3 % 3 {
            yield_now().await;
        }
        task.abort();
    }
    let Some(count) = receiver.recv().await else { return at.gone() };
    assert!(receiver.recv().await.is_none());
    let mut sum = at.sum();
    sum.count(count);
    sum.get()
}

/// A job that nobody can wait for, and that runs even if the runtime ends.
pub async fn detached(at: &At) -> Out {
    let (sender, receiver) = oneshot::channel();
    let token = at.token();
    at.handle().spawn_detached(move || {
        drop(token);
        let _ = sender.send(1);
    });
    let Ok(count) = receiver.await else { return at.gone() };
    let mut sum = at.sum();
    sum.count(count);
    sum.get()
}

/// A closure that every worker calls, without waiting in place.
pub async fn call_all(at: &At) -> Out {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let token = at.token();
    at.handle().spawn_broadcast(move |_| {
        let _token = &token;
        let _ = sender.send(1);
    });
    let mut calls = 0;
    while let Some(count) = receiver.recv().await {
        calls += count;
    }
    at.called(calls)
}

/// Leaves tasks behind for the end of the runtime.
pub fn leftover(at: &At) -> Out {
    let handle = at.handle();
    let token = at.token();
    drop(handle.spawn(async move {
        let _token = token;
        pending::<()>().await;
    }));
    if at.n() % 3 == 0 {
        let (sender, _) = mpsc::unbounded_channel();
        let spawner = Spawner { handle: handle.clone(), sender, at: at.clone() };
        drop(handle.spawn(async move {
            let _spawner = spawner;
            sleep(Duration::from_secs(24 * 3600)).await;
        }));
    }
    if at.n() % 4 == 0 && at.node().drop_waits {
        let waits = Waits { handle: handle.clone(), at: at.clone() };
        drop(handle.spawn(async move {
            let _waits = waits;
            pending::<()>().await;
        }));
    }
    // Runnable, not waiting, when a runtime ends soon.
    if at.n() % 5 == 0 && !at.node().is_private() {
        let shapes = &at.world.plan.shapes;
        assert!(shapes[at.node().runtime].flavor != Flavor::Current || handle.num_workers() == 1);
        let token = at.token();
        drop(handle.spawn(async move {
            let _token = token;
            for _ in 0..1000 {
                yield_now().await;
            }
        }));
    }
    at.sum().get()
}
