//! One cause each.

use super::{Program, all, burn, until_seen};
use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::UnixStream;
use heist::runtime::{Handle, Runtime, WorkerState};
use heist::sync::{Notify, mpsc};
use heist::task::{coop, yield_now};
use heist::{spawn, time};
use std::future::{Future, pending};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

pub const ONE_SPAWNER: Program = Program::new("one spawner", |runtime| {
    let spawner = runtime.spawn(async {
        let mut tasks = Vec::new();
        for _ in 0..800 {
            burn(200);
            tasks.push(spawn(async { burn(10) }));
            yield_now().await;
        }
        all(tasks).await;
    });
    runtime.block_on(spawner).unwrap();
});

/// All in one poll of half a second: it finds no reason to wait.
pub const SPAWNS_WITHOUT_AWAIT: Program = Program::new("spawns without await", |runtime| {
    let spawner = runtime.spawn(async {
        let mut tasks = Vec::new();
        for _ in 0..1200 {
            burn(400);
            tasks.push(spawn(async { burn(10) }));
        }
        all(tasks).await;
    });
    runtime.block_on(spawner).unwrap();
});

pub const ONE_TASK: Program = Program::new("one task", |runtime| {
    let task = runtime.spawn(async {
        for _ in 0..1000 {
            burn(100);
            yield_now().await;
        }
    });
    runtime.block_on(task).unwrap();
});

/// Each is over before a thief is up.
pub const TOO_SHORT: Program = Program::new("too short to steal", |runtime| {
    let parent = runtime.spawn(async {
        for _ in 0..100_000 {
            spawn(async {}).await.unwrap();
        }
    });
    runtime.block_on(parent).unwrap();
});

pub const PINNED: Program = Program::new("pinned", |runtime| {
    let tasks = (0..20).map(|_| {
        let work = || async {
            for _ in 0..50 {
                burn(100);
                yield_now().await;
            }
        };
        runtime.handle().spawn_pinned_on(0, work)
    });
    runtime.block_on(all(tasks.collect()));
});

/// With a worker for each core tasks stay where they are spawned: here, all where connections are
/// accepted.
pub const IO_AFFINITY: Program = Program {
    build: |builder| {
        builder.thread_per_core(true);
    },
    ..Program::new("I/O affinity", |runtime| {
        let accepts = runtime.spawn(async {
            let mut tasks = Vec::new();
            for _ in 0..16 {
                let (mut client, mut server) = UnixStream::pair().unwrap();
                tasks.push(spawn(async move {
                    let mut byte = [0];
                    while server.read(&mut byte).await.unwrap() == 1 {
                        burn(30);
                        server.write_all(&byte).await.unwrap();
                    }
                }));
                tasks.push(spawn(async move {
                    for _ in 0..200 {
                        client.write_all(&[1]).await.unwrap();
                        client.read_exact(&mut [0]).await.unwrap();
                    }
                }));
            }
            all(tasks).await;
        });
        runtime.block_on(accepts).unwrap();
    })
};

pub const LONG_POLLS: Program = Program::new("long polls", |runtime| {
    let tasks = (0..4).map(|_| {
        runtime.spawn(async {
            for _ in 0..3 {
                burn(25_000);
                yield_now().await;
            }
        })
    });
    runtime.block_on(all(tasks.collect()));
});

/// Keeps other tasks waiting: sysmon does not look for stuck workers while nothing waits.
fn while_others_work<F>(runtime: &Runtime, sick: fn() -> F, n: usize)
where
    F: Future<Output = ()> + Send + 'static,
{
    let is_over = Arc::new(Notify::new());
    let others = (0..8).map(|_| {
        let is_over = Arc::clone(&is_over);
        runtime.spawn(async move {
            let over = is_over.notified();
            heist::pin!(over);
            loop {
                heist::select! {
                    () = &mut over => break,
                    () = time::sleep(Duration::from_millis(1)) => burn(30),
                }
            }
        })
    });
    let others: Vec<_> = others.collect();
    let sick = (0..n).map(|_| runtime.spawn(sick())).collect();
    runtime.block_on(all(sick));
    is_over.notify_waiters();
    runtime.block_on(all(others));
}

pub const BLOCKING: Program = Program::new("blocking call", |runtime| {
    while_others_work(runtime, || until_seen(|| thread::sleep(Duration::from_millis(60))), 4);
});

pub const NO_SPARES: Program = Program {
    build: |builder| {
        builder.max_blocking_threads(1);
    },
    ..Program::new("no spares", |runtime| {
        let blocks = || async {
            // Until nobody was there for a seat.
            while Handle::current().metrics().spare_shortage_count() == 0 {
                thread::sleep(Duration::from_millis(60));
            }
        };
        while_others_work(runtime, blocks, 4);
    })
};

pub const PING_PONG: Program = Program::new("ping-pong", |runtime| {
    let pair = runtime.spawn(async {
        let (ping, mut pings) = mpsc::channel(1);
        let (pong, mut pongs) = mpsc::channel(1);
        let echo = spawn(async move {
            while let Some(message) = pings.recv().await {
                pong.send(message).await.unwrap();
            }
        });
        for number in 0..30_000 {
            ping.send(number).await.unwrap();
            pongs.recv().await.unwrap();
        }
        drop(ping);
        echo.await.unwrap();
    });
    runtime.block_on(pair).unwrap();
});

pub const INJECT: Program = Program::new("inject pressure", |runtime| {
    let handle = runtime.handle().clone();
    let spawn_many = move |handle: Handle| {
        let tasks: Vec<_> = (0..20_000).map(|_| handle.spawn(async {})).collect();
        handle.block_on(all(tasks));
    };
    thread::spawn(move || spawn_many(handle)).join().unwrap();
});

pub const STORM: Program = Program::new("wake-up storm", |runtime| {
    let crowd = runtime.spawn(async {
        let notify = Arc::new(Notify::new());
        let wait = |notify: Arc<Notify>| async move {
            loop {
                notify.notified().await;
            }
        };
        let tasks: Vec<_> = (0..300).map(|_| spawn(wait(Arc::clone(&notify)))).collect();
        for _ in 0..100 {
            time::sleep(Duration::from_millis(1)).await;
            notify.notify_waiters();
        }
        tasks.iter().for_each(|task| task.abort());
    });
    runtime.block_on(crowd).unwrap();
});

/// What is woken waits in the LIFO slot of a worker that goes on with something else. Nobody comes
/// to its rescue, though the worker may be without a core for long.
pub const IDLE_BESIDE_WORK: Program = Program {
    build: |builder| {
        builder.stall_threshold(None);
    },
    ..Program::new("idle beside work", |runtime| {
        let waker = runtime.spawn(async {
            let notify = Arc::new(Notify::new());
            let woken = Arc::clone(&notify);
            let listener = spawn(async move {
                loop {
                    woken.notified().await;
                    burn(10);
                }
            });
            for _ in 0..60 {
                time::sleep(Duration::from_millis(1)).await;
                notify.notify_one();
                burn(4000);
            }
            listener.abort();
        });
        runtime.block_on(waker).unwrap();
    })
};

pub const BUDGET: Program = Program::new("budget", |runtime| {
    let tasks = (0..4).map(|_| {
        runtime.spawn(async {
            for _ in 0..50_000 {
                std::hint::black_box((0..20).sum::<u64>());
                coop::consume_budget().await;
            }
        })
    });
    runtime.block_on(all(tasks.collect()));
});

pub const LEAK: Program = Program::new("leak", |runtime| {
    let spawner = runtime.spawn(async {
        for _ in 0..200 {
            time::sleep(Duration::from_millis(2)).await;
            for _ in 0..4 {
                spawn(pending::<()>());
            }
        }
    });
    runtime.block_on(spawner).unwrap();
});

static HELD: Mutex<bool> = Mutex::new(false);
static LET_GO: Condvar = Condvar::new();

/// Its worker is held for as long as the program runs, and the other sleeps.
pub const NEVER_POLLED: Program = Program {
    end: || {
        *HELD.lock().unwrap() = false;
        LET_GO.notify_all();
    },
    ..Program::new("never polled", |runtime| {
        *HELD.lock().unwrap() = true;
        let (held, is_held) = std::sync::mpsc::channel();
        let hold = move || async move {
            held.send(()).unwrap();
            let held = HELD.lock().unwrap();
            drop(LET_GO.wait_while(held, |is_held| *is_held).unwrap());
        };
        runtime.handle().spawn_pinned_on(0, hold);
        is_held.recv().unwrap();
        for _ in 0..3 {
            runtime.handle().spawn_pinned_on(0, || async {});
        }
        while runtime.metrics().worker_state(1) != WorkerState::Parked {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(400));
    })
};
