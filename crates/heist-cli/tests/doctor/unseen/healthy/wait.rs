//! Programs that mostly wait: for time, threads, files, programs and each other.

use crate::programs::{Program, all, burn};
use heist::io::AsyncReadExt;
use heist::process::Command;
use heist::sync::{mpsc, oneshot, watch};
use heist::task::{JoinSet, spawn_blocking};
use heist::{fs, select, spawn, time};
use std::thread;
use std::time::Duration;

pub const ALL: &[Program] =
    &[TIMERS, INTERVALS, TIMEOUTS, CLOSURES, FILES, CHILDREN, CONFIG, CRAWLER, ASKS, EVENT_LOOP];

const TIMERS: Program = Program {
    build: |builder| {
        builder.worker_threads(4);
    },
    ..Program::new("5000 timers", |runtime| {
        let sleep = |number: u64| async move {
            time::sleep(Duration::from_millis(number * 13 % 300)).await;
            burn(5);
        };
        let root = runtime.spawn(async move {
            all((0..5000).map(|number| spawn(sleep(number))).collect()).await;
        });
        runtime.block_on(root).unwrap();
    })
};

const INTERVALS: Program = Program {
    build: |builder| {
        builder.worker_threads(2);
    },
    ..Program::new("intervals", |runtime| {
        let tick = |period: u64| async move {
            let mut interval = time::interval(Duration::from_millis(period));
            for _ in 0..200 / period {
                interval.tick().await;
                burn(30);
            }
        };
        let ticks = (1..=20).map(|period| runtime.spawn(tick(period))).collect();
        runtime.block_on(all(ticks));
    })
};

/// Most of them are never needed.
const TIMEOUTS: Program = Program {
    build: |builder| {
        builder.worker_threads(3);
    },
    ..Program::new("timeouts", |runtime| {
        let request = || async {
            for _ in 0..25 {
                let work = time::sleep(Duration::from_millis(2));
                time::timeout(Duration::from_secs(30), work).await.unwrap();
                burn(20);
            }
        };
        runtime.block_on(all((0..100).map(|_| runtime.spawn(request())).collect()));
    })
};

/// Handlers that hand what blocks to threads that may.
const CLOSURES: Program = Program {
    build: |builder| {
        builder.worker_threads(2);
    },
    ..Program::new("closures on threads", |runtime| {
        let handlers = runtime.spawn(async {
            let mut handlers = JoinSet::new();
            for number in 0..32 {
                handlers.spawn(async move {
                    for _ in 0..5 {
                        burn(40);
                        let wait = Duration::from_millis(5 + number % 10);
                        spawn_blocking(move || thread::sleep(wait)).await.unwrap();
                    }
                });
            }
            handlers.join_all().await;
        });
        runtime.block_on(handlers).unwrap();
    })
};

const FILES: Program = Program {
    build: |builder| {
        builder.worker_threads(2);
    },
    ..Program::new("files", |runtime| {
        let directory = tempfile::tempdir().unwrap();
        let readers = (0..16).map(|number| {
            let path = directory.path().join(number.to_string());
            runtime.spawn(async move {
                fs::write(&path, vec![number; 100_000]).await.unwrap();
                let mut text = Vec::new();
                let mut file = fs::File::open(&path).await.unwrap();
                file.read_to_end(&mut text).await.unwrap();
                burn(200);
                assert_eq!(text.len(), 100_000);
            })
        });
        runtime.block_on(all(readers.collect()));
    })
};

const CHILDREN: Program = Program {
    build: |builder| {
        builder.worker_threads(2);
    },
    ..Program::new("child processes", |runtime| {
        let run = || async {
            assert!(Command::new("sleep").arg("0.03").status().await.unwrap().success());
        };
        runtime.block_on(all((0..6).map(|_| runtime.spawn(run())).collect()));
    })
};

/// A crowd is woken now and then, and everybody has something to do with it.
const CONFIG: Program = Program {
    build: |builder| {
        builder.worker_threads(4);
    },
    ..Program::new("new settings", |runtime| {
        let service = runtime.spawn(async {
            let (settings, _) = watch::channel(0);
            let users: Vec<_> = (0..150)
                .map(|_| {
                    let mut settings = settings.subscribe();
                    spawn(async move {
                        while settings.changed().await.is_ok() {
                            burn(50);
                        }
                    })
                })
                .collect();
            for number in 0..20 {
                time::sleep(Duration::from_millis(10)).await;
                settings.send(number).unwrap();
            }
            drop(settings);
            all(users).await;
        });
        runtime.block_on(service).unwrap();
    })
};

/// Finds more to do as it goes.
const CRAWLER: Program = Program {
    build: |builder| {
        builder.worker_threads(3);
    },
    ..Program::new("crawler", |runtime| {
        let crawler = runtime.spawn(async {
            let (found, mut pages) = mpsc::unbounded_channel();
            found.send(0u32).unwrap();
            let mut fetched = 0;
            while fetched < 600 {
                let page = pages.recv().await.unwrap();
                fetched += 1;
                let found = found.clone();
                spawn(async move {
                    time::sleep(Duration::from_millis(u64::from(page % 7))).await;
                    burn(80);
                    // In the end nobody asks for more.
                    for link in 1..=2 {
                        let _ = found.send(page * 2 + link);
                    }
                });
            }
        });
        runtime.block_on(crawler).unwrap();
    })
};

/// Request and answer, with time between them.
const ASKS: Program = Program {
    build: |builder| {
        builder.worker_threads(2);
    },
    ..Program::new("asks now and then", |runtime| {
        let client = runtime.spawn(async {
            let (requests, mut mailbox) = mpsc::channel::<oneshot::Sender<u32>>(8);
            spawn(async move {
                while let Some(answer) = mailbox.recv().await {
                    answer.send(1).unwrap();
                }
            });
            for _ in 0..150 {
                let (answer, answered) = oneshot::channel();
                requests.send(answer).await.unwrap();
                answered.await.unwrap();
                time::sleep(Duration::from_millis(1)).await;
            }
        });
        runtime.block_on(client).unwrap();
    })
};

/// A loop that waits for several things, most of the time for the next tick.
const EVENT_LOOP: Program = Program {
    build: |builder| {
        builder.worker_threads(2);
    },
    ..Program::new("event loop", |runtime| {
        let (events, mut received) = mpsc::channel(16);
        let source = runtime.spawn(async move {
            for number in 0..40u32 {
                time::sleep(Duration::from_millis(7)).await;
                events.send(number).await.unwrap();
            }
        });
        let main = runtime.spawn(async move {
            let mut interval = time::interval(Duration::from_millis(3));
            loop {
                select! {
                    event = received.recv() => match event {
                        Some(_) => burn(100),
                        None => break,
                    },
                    _ = interval.tick() => burn(20),
                }
            }
        });
        runtime.block_on(all(vec![source, main]));
    })
};
