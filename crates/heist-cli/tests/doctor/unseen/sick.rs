//! Programs with one fault each, as written by somebody who does not know doctor, beside healthy
//! load.

use super::load::{beside, steady};
use crate::programs::{Program, all, burn, until_seen};
use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::{TcpListener, UnixStream};
use heist::runtime::{Builder, Handle};
use heist::sync::{broadcast, mpsc, oneshot, watch};
use heist::task::{JoinSet, coop, spawn_blocking};
use heist::{spawn, time};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::time::Duration;
use std::{hint, process, thread};

fn workers(builder: &mut Builder, workers: usize) {
    builder.worker_threads(workers);
}

/// Reads records, prepares each and hands it out; the rest is little. Never more than 32 at once.
pub const DISPATCHER: Program = Program {
    build: |builder| workers(builder, 4),
    ..Program::new("dispatcher", |runtime| {
        let dispatcher = runtime.spawn(async {
            let mut requests = JoinSet::new();
            for _ in 0..1500 {
                burn(150);
                requests.spawn(async { burn(15) });
                while requests.len() >= 32 {
                    requests.join_next().await.unwrap().unwrap();
                }
                while let Some(done) = requests.try_join_next() {
                    done.unwrap();
                }
            }
            requests.join_all().await;
        });
        beside(runtime, steady(4, 5, 20), dispatcher);
    })
};

const PARTS: u64 = 600;
const PART_MICROS: u64 = 300;

/// The CPU time that `READS_IT_ALL` burns in one task.
pub const READS_IT_ALL_BURNS: Duration = Duration::from_micros(PARTS * PART_MICROS);

/// All in one poll: nobody else has anything to do until it has read its input.
pub const READS_IT_ALL: Program = Program {
    build: |builder| workers(builder, 3),
    ..Program::new("reads it all", |runtime| {
        let reader = runtime.spawn(async {
            let mut parts = Vec::new();
            for part in 0..PARTS {
                burn(PART_MICROS);
                parts.push(spawn(async move { hint::black_box(part * part) }));
            }
            all(parts).await;
        });
        runtime.block_on(reader).unwrap();
    })
};

/// An actor that all others ask.
pub const BOTTLENECK: Program = Program {
    build: |builder| workers(builder, 4),
    ..Program::new("bottleneck", |runtime| {
        let actor = runtime.spawn(async {
            let (requests, mut mailbox) = mpsc::channel::<(u64, oneshot::Sender<u64>)>(64);
            for client in 0..16 {
                let requests = requests.clone();
                spawn(async move {
                    for number in 0..50 {
                        let (answer, answered) = oneshot::channel();
                        requests.send((client * number, answer)).await.unwrap();
                        answered.await.unwrap();
                    }
                });
            }
            drop(requests);
            let serve = spawn(async move {
                while let Some((number, answer)) = mailbox.recv().await {
                    burn(240);
                    answer.send(number + 1).unwrap();
                }
            });
            serve.await.unwrap();
        });
        runtime.block_on(actor).unwrap();
    })
};

/// A task for each item of the input, one after the other.
pub const TASK_PER_ITEM: Program = Program {
    build: |builder| workers(builder, 4),
    ..Program::new("task per item", |runtime| {
        let sum = runtime.spawn(async {
            let mut sum = 0;
            for item in 0..60_000u64 {
                let (a, b) = (spawn(async move { item * 2 }), spawn(async move { item + 1 }));
                sum += a.await.unwrap() + b.await.unwrap();
            }
            hint::black_box(sum);
        });
        runtime.block_on(sum).unwrap();
    })
};

/// Actors with state that is not `Send`, all on the same worker.
pub const PINNED_ACTORS: Program = Program {
    build: |builder| workers(builder, 4),
    ..Program::new("pinned actors", |runtime| {
        let actors: Vec<_> = (0..6)
            .map(|_| {
                let (sender, mut mailbox) = mpsc::channel::<u64>(16);
                let actor = runtime.handle().spawn_pinned_on(2, move || async move {
                    let mut sum = std::rc::Rc::new(0);
                    while let Some(number) = mailbox.recv().await {
                        burn(60);
                        *std::rc::Rc::get_mut(&mut sum).unwrap() += number;
                    }
                });
                (sender, actor)
            })
            .collect();
        let (senders, actors): (Vec<_>, Vec<_>) = actors.into_iter().unzip();
        let source = runtime.spawn(async move {
            for number in 0..500 {
                for sender in &senders {
                    sender.send(number).await.unwrap();
                }
            }
        });
        runtime.block_on(source).unwrap();
        runtime.block_on(all(actors));
    })
};

/// A worker a core, and one of them accepts all connections. The clients are threads.
pub const ONE_ACCEPTS: Program = Program {
    build: |builder| {
        builder.worker_threads(3).thread_per_core(true);
    },
    ..Program::new("one accepts", |runtime| {
        let (port, asked) = std::sync::mpsc::channel();
        let server = runtime.spawn(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            port.send(listener.local_addr().unwrap()).unwrap();
            let mut connections = JoinSet::new();
            for _ in 0..24 {
                let (mut socket, _) = listener.accept().await.unwrap();
                connections.spawn(async move {
                    let mut request = [0; 32];
                    while socket.read_exact(&mut request).await.is_ok() {
                        burn(80);
                        socket.write_all(&request).await.unwrap();
                    }
                });
            }
            connections.join_all().await;
        });
        let address = asked.recv().unwrap();
        let ready = Arc::new(Barrier::new(6));
        let clients = (0..6).map(|_| {
            let ready = Arc::clone(&ready);
            thread::spawn(move || {
                let connect = |_| std::net::TcpStream::connect(address).unwrap();
                let mut sockets: Vec<_> = (0..4).map(connect).collect();
                ready.wait();
                for _ in 0..120 {
                    sockets.iter_mut().for_each(|socket| socket.write_all(&[1; 32]).unwrap());
                    sockets.iter_mut().for_each(|s| s.read_exact(&mut [0; 32]).unwrap());
                }
            })
        });
        let clients: Vec<_> = clients.collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
        runtime.block_on(server).unwrap();
    })
};

/// Pictures are scaled in the handler.
pub const SCALES_PICTURES: Program = Program {
    build: |builder| workers(builder, 3),
    ..Program::new("scales pictures", |runtime| {
        let handlers = runtime.spawn(async {
            let mut requests = JoinSet::new();
            for size in 0..9 {
                requests.spawn(async move {
                    time::sleep(Duration::from_millis(size)).await;
                    burn(12_000 + 3000 * size);
                    time::sleep(Duration::from_millis(1)).await;
                });
            }
            requests.join_all().await;
        });
        beside(runtime, steady(16, 2, 20), handlers);
    })
};

/// Waits for a thread by a channel of std's.
pub const STD_CHANNEL: Program = Program {
    build: |builder| workers(builder, 4),
    ..Program::new("std channel", |runtime| {
        let (requests, asked) = std::sync::mpsc::channel::<std::sync::mpsc::Sender<u64>>();
        let server = thread::spawn(move || {
            for answer in asked {
                thread::sleep(Duration::from_millis(40));
                answer.send(1).unwrap();
            }
        });
        let handlers = runtime.spawn(until_seen(move || {
            let (answer, answered) = std::sync::mpsc::channel();
            requests.send(answer).unwrap();
            hint::black_box(answered.recv().unwrap());
        }));
        beside(runtime, steady(16, 2, 20), handlers);
        server.join().unwrap();
    })
};

/// Reads from a socket of std's.
pub const STD_SOCKET: Program = Program {
    build: |builder| workers(builder, 2),
    ..Program::new("std socket", |runtime| {
        let (mut here, mut there) = std::os::unix::net::UnixStream::pair().unwrap();
        let server = thread::spawn(move || {
            let mut byte = [0];
            while there.read_exact(&mut byte).is_ok() {
                thread::sleep(Duration::from_millis(40));
                there.write_all(&byte).unwrap();
            }
        });
        let client = runtime.spawn(until_seen(move || {
            here.write_all(&[1]).unwrap();
            here.read_exact(&mut [0]).unwrap();
        }));
        beside(runtime, steady(16, 2, 20), client);
        server.join().unwrap();
    })
};

/// Runs a program and waits for it.
pub const STD_COMMAND: Program = Program {
    build: |builder| workers(builder, 3),
    ..Program::new("std command", |runtime| {
        let run = runtime.spawn(until_seen(|| {
            let status = process::Command::new("sleep").arg("0.05").status();
            assert!(status.unwrap().success());
        }));
        beside(runtime, steady(16, 2, 20), run);
    })
};

/// All threads that there may be are at closures, and then all workers block.
pub const POOL_IS_FULL: Program = Program {
    build: |builder| {
        builder.worker_threads(3).max_blocking_threads(2);
    },
    ..Program::new("pool is full", |runtime| {
        let is_short = |handle: &Handle| handle.metrics().spare_shortage_count() > 0;
        let handlers = runtime.spawn(async move {
            let (started, mut starts) = mpsc::unbounded_channel();
            let wait = move || {
                let here = Handle::current();
                while !is_short(&here) {
                    thread::sleep(Duration::from_millis(20));
                }
            };
            let reports: Vec<_> = (0..2)
                .map(|_| {
                    let started = started.clone();
                    spawn_blocking(move || {
                        started.send(()).unwrap();
                        wait();
                    })
                })
                .collect();
            for _ in 0..2 {
                starts.recv().await.unwrap();
            }
            all((0..3).map(|_| spawn(async move { wait() })).collect()).await;
            all(reports).await;
        });
        beside(runtime, steady(16, 2, 20), handlers);
    })
};

/// More closures than threads, each for long.
pub const POOL_TOO_SMALL: Program = Program {
    build: |builder| {
        builder.worker_threads(2).max_blocking_threads(3);
    },
    ..Program::new("pool too small", |runtime| {
        let queries = runtime.spawn(async {
            let mut queries = JoinSet::new();
            for _ in 0..24 {
                queries.spawn_blocking(|| thread::sleep(Duration::from_millis(25)));
            }
            queries.join_all().await;
        });
        beside(runtime, steady(4, 2, 20), queries);
    })
};

/// Asks an actor, waits for the answer, asks again.
pub const ASKS_ACTOR: Program = Program {
    build: |builder| workers(builder, 3),
    ..Program::new("asks an actor", |runtime| {
        let client = runtime.spawn(async {
            let (requests, mut mailbox) = mpsc::channel::<(u64, oneshot::Sender<u64>)>(8);
            let actor = spawn(async move {
                let mut store = HashMap::new();
                while let Some((key, answer)) = mailbox.recv().await {
                    *store.entry(key % 100).or_insert(0) += 1;
                    answer.send(store[&(key % 100)]).unwrap();
                }
            });
            for key in 0..25_000 {
                let (answer, answered) = oneshot::channel();
                requests.send((key, answer)).await.unwrap();
                hint::black_box(answered.await.unwrap());
            }
            drop(requests);
            actor.await.unwrap();
        });
        beside(runtime, steady(4, 5, 10), client);
    })
};

/// What `#[heist::main]` makes of a loop that spawns: `block_on` is no worker.
pub const SPAWNS_IN_MAIN: Program = Program {
    build: |builder| workers(builder, 4),
    ..Program::new("spawns in main", |runtime| {
        runtime.block_on(async {
            let mut parts = JoinSet::new();
            (0..30_000u64).for_each(|part| drop(parts.spawn(async move { part ^ 1 })));
            let mut sum = 0;
            while let Some(part) = parts.join_next().await {
                sum += part.unwrap();
            }
            hint::black_box(sum);
        });
    })
};

/// A thread receives, and a tiny task takes each of what it has.
pub const SPAWNING_THREADS: Program = Program {
    build: |builder| workers(builder, 2),
    ..Program::new("spawning threads", |runtime| {
        let threads = (0..3).map(|_| {
            let handle = runtime.handle().clone();
            thread::spawn(move || {
                let (done, mut results) = mpsc::unbounded_channel();
                for packet in 0..8000u32 {
                    let done = done.clone();
                    handle.spawn(async move { done.send(packet.count_ones()).unwrap() });
                }
                drop(done);
                while results.blocking_recv().is_some() {}
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    })
};

/// Everybody gets every message, and looks whether it is for him.
pub const BROADCAST: Program = Program {
    build: |builder| workers(builder, 3),
    ..Program::new("broadcast", |runtime| {
        let room = runtime.spawn(async {
            let (sender, _) = broadcast::channel(64);
            let members: Vec<_> = (0..200u32)
                .map(|me| {
                    let mut messages = sender.subscribe();
                    spawn(async move {
                        let mut mine = 0;
                        while let Ok(to) = messages.recv().await {
                            mine += u32::from(to == me);
                        }
                        hint::black_box(mine);
                    })
                })
                .collect();
            for to in 0..100 {
                time::sleep(Duration::from_millis(2)).await;
                sender.send(to).unwrap();
            }
            drop(sender);
            all(members).await;
        });
        beside(runtime, steady(2, 5, 20), room);
    })
};

/// Each waits for a number of its own, all at one channel.
pub const WATCHED_COUNTER: Program = Program {
    build: |builder| workers(builder, 4),
    ..Program::new("watched counter", |runtime| {
        let race = runtime.spawn(async {
            let (counter, _) = watch::channel(0);
            let waiters: Vec<_> = (0..400)
                .map(|me| {
                    let mut seen = counter.subscribe();
                    spawn(async move { drop(seen.wait_for(|now| *now >= me / 4).await.unwrap()) })
                })
                .collect();
            for _ in 0..=100 {
                time::sleep(Duration::from_millis(2)).await;
                counter.send_modify(|now| *now += 1);
            }
            all(waiters).await;
        });
        runtime.block_on(race).unwrap();
    })
};

/// Hands something over, and then goes on computing.
pub const HANDS_OVER_LATE: Program = Program {
    build: |builder| {
        // Else the more a machine is loaded the more of it is rescued.
        builder.worker_threads(4).stall_threshold(None);
    },
    ..Program::new("hands over late", |runtime| {
        let producer = runtime.spawn(async {
            let (lines, mut written) = mpsc::channel::<u32>(128);
            let writer = spawn(async move {
                while let Some(line) = written.recv().await {
                    burn(20);
                    hint::black_box(line);
                }
            });
            for line in 0..80 {
                lines.send(line).await.unwrap();
                burn(3000);
                time::sleep(Duration::from_millis(1)).await;
            }
            drop(lines);
            writer.await.unwrap();
        });
        runtime.block_on(producer).unwrap();
    })
};

/// Takes a stream apart byte by byte, and there is always one more.
pub const BYTE_BY_BYTE: Program = Program {
    build: |builder| workers(builder, 3),
    ..Program::new("byte by byte", |runtime| {
        let parsers = runtime.spawn(async {
            let mut parsers = JoinSet::new();
            for _ in 0..3 {
                let (mut from, mut to) = UnixStream::pair().unwrap();
                to.write_all(&[7; 40_000]).await.unwrap();
                to.shutdown().await.unwrap();
                parsers.spawn(async move {
                    let mut sum = 0;
                    while let Ok(byte) = from.read_u8().await {
                        sum += u64::from(byte);
                    }
                    (sum, to)
                });
            }
            parsers.join_all().await;
        });
        runtime.block_on(parsers).unwrap();
    })
};

/// A pump with the courtesy that is asked for, and no end of work.
pub const PUMPS: Program = Program {
    build: |builder| workers(builder, 2),
    ..Program::new("pumps", |runtime| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        (0..60_000u64).for_each(|number| sender.send(number).unwrap());
        drop(sender);
        let pump = runtime.spawn(async move {
            let mut sum = 0;
            while let Some(number) = receiver.recv().await {
                sum += hint::black_box((0..number % 50).sum::<u64>());
                coop::consume_budget().await;
            }
            hint::black_box(sum);
        });
        beside(runtime, steady(2, 5, 20), pump);
    })
};

/// The requester has gone, and the other end is kept in a table.
pub const KEPT_SENDERS: Program = Program {
    build: |builder| workers(builder, 3),
    ..Program::new("kept senders", |runtime| {
        let server = runtime.spawn(async {
            let mut waiting = HashMap::new();
            for request in 0..700u32 {
                let (answer, answered) = oneshot::channel::<u32>();
                waiting.insert(request, answer);
                spawn(async move { drop(answered.await) });
                time::sleep(Duration::from_millis(1)).await;
            }
            std::mem::forget(waiting);
        });
        beside(runtime, steady(4, 3, 30), server);
    })
};

static HELD: Mutex<bool> = Mutex::new(false);
static LET_GO: Condvar = Condvar::new();

/// Pinned to a worker that waits for a lock.
pub const BEHIND_A_LOCK: Program = Program {
    build: |builder| workers(builder, 4),
    end: || {
        *HELD.lock().unwrap() = false;
        LET_GO.notify_all();
    },
    ..Program::new("behind a lock", |runtime| {
        let (held, is_held) = std::sync::mpsc::channel();
        *HELD.lock().unwrap() = true;
        runtime.handle().spawn_pinned_on(3, move || async move {
            held.send(()).unwrap();
            let held = HELD.lock().unwrap();
            drop(LET_GO.wait_while(held, |is_held| *is_held).unwrap());
        });
        is_held.recv().unwrap();
        let load = runtime.spawn(async {
            let handle = Handle::current();
            (0..5).for_each(|_| drop(handle.spawn_pinned_on(3, || async {})));
        });
        beside(runtime, steady(4, 5, 20), load);
        thread::sleep(Duration::from_millis(400));
    })
};

/// A runtime that nobody drives any more.
pub const NOBODY_DRIVES: Program = Program {
    build: |builder| {
        *builder = Builder::new_current_thread();
        builder.enable_all().trace(heist::trace::Config::new());
    },
    ..Program::new("nobody drives", |runtime| {
        runtime.block_on(async { time::sleep(Duration::from_millis(5)).await });
        (0..3).for_each(|_| drop(runtime.spawn(async {})));
        thread::sleep(Duration::from_millis(250));
    })
};
