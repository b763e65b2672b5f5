//! Programs that compute.

use crate::programs::{Program, all, burn};
use heist::runtime::Builder;
use heist::sync::{Mutex, mpsc};
use heist::task::{JoinSet, LocalSet, spawn_local, yield_now};
use heist::{spawn, time};
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

pub const ALL: &[Program] = &[
    FAN_OUT,
    FAN_OUT_16,
    ONE_WORKER,
    TREE,
    JOINS,
    SCOPES,
    STAGES,
    LOCKED,
    LOCAL_SET,
    CURRENT_THREAD,
    ENDS_AT_ONCE,
    STARTS_SLOWLY,
];

async fn fan_out(tasks: usize, micros: u64) {
    let mut parts = JoinSet::new();
    for _ in 0..tasks {
        parts.spawn(async move {
            burn(micros);
            yield_now().await;
            burn(micros);
        });
    }
    parts.join_all().await;
}

const FAN_OUT: Program = Program {
    build: |builder| {
        builder.worker_threads(2);
    },
    ..Program::new("fan-out", |runtime| {
        runtime.block_on(runtime.spawn(fan_out(1500, 60))).unwrap();
    })
};

const FAN_OUT_16: Program = Program {
    build: |builder| {
        builder.worker_threads(16);
    },
    ..Program::new("fan-out, 16 workers", |runtime| {
        runtime.block_on(runtime.spawn(fan_out(1500, 60))).unwrap();
    })
};

const ONE_WORKER: Program = Program {
    build: |builder| {
        builder.worker_threads(1);
    },
    ..Program::new("one worker", |runtime| {
        runtime.block_on(runtime.spawn(fan_out(600, 60))).unwrap();
    })
};

fn tree(depth: u32) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        burn(40);
        if depth == 0 {
            return 1;
        }
        let left = spawn(tree(depth - 1));
        tree(depth - 1).await + left.await.unwrap()
    })
}

/// Each task spawns the next.
const TREE: Program = Program {
    build: |builder| {
        builder.worker_threads(4);
    },
    ..Program::new("tree of tasks", |runtime| {
        assert_eq!(runtime.block_on(runtime.spawn(tree(10))).unwrap(), 1024);
    })
};

fn fib(n: u32) -> u64 {
    if n < 16 {
        return (0..n).fold((0, 1), |(a, b), _| (b, black_box(a + b))).0;
    }
    let (a, b) = heist::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// As with rayon, and requests beside it.
const JOINS: Program = Program {
    build: |builder| {
        builder.worker_threads(3);
    },
    ..Program::new("joins beside requests", |runtime| {
        let requests = (0..8).map(|_| {
            runtime.spawn(async {
                for _ in 0..60 {
                    time::sleep(Duration::from_millis(2)).await;
                    burn(20);
                }
            })
        });
        let requests = requests.collect();
        let jobs = runtime.spawn(async {
            for _ in 0..40 {
                assert_eq!(fib(25), 75_025);
                yield_now().await;
            }
        });
        runtime.block_on(all(requests));
        runtime.block_on(jobs).unwrap();
    })
};

/// Called from a thread that is no worker.
const SCOPES: Program = Program {
    build: |builder| {
        builder.worker_threads(2);
    },
    ..Program::new("scopes", |runtime| {
        let _guard = runtime.enter();
        for _ in 0..20 {
            heist::scope(|scope| (0..50).for_each(|_| scope.spawn(|_| burn(40))));
        }
    })
};

/// Five stages, a task each, and a bounded queue between them.
const STAGES: Program = Program {
    build: |builder| {
        builder.worker_threads(4);
    },
    ..Program::new("five stages", |runtime| {
        let pipeline = runtime.spawn(async {
            let (first, mut from) = mpsc::channel::<u64>(32);
            let mut stages = Vec::new();
            for _ in 0..4 {
                let (to, next) = mpsc::channel(32);
                let mut input = std::mem::replace(&mut from, next);
                stages.push(spawn(async move {
                    while let Some(number) = input.recv().await {
                        burn(30);
                        to.send(number + 1).await.unwrap();
                    }
                }));
            }
            stages.push(spawn(async move {
                for number in 0..800 {
                    burn(30);
                    first.send(number).await.unwrap();
                }
            }));
            while let Some(number) = from.recv().await {
                black_box(number);
            }
            all(stages).await;
        });
        runtime.block_on(pipeline).unwrap();
    })
};

/// A lock that is held shortly, and much to do without it.
const LOCKED: Program = Program {
    build: |builder| {
        builder.worker_threads(3);
    },
    ..Program::new("a shared lock", |runtime| {
        let users = runtime.spawn(async {
            let sum = Arc::new(Mutex::new(0u64));
            let users = (0..16).map(|me| {
                let sum = Arc::clone(&sum);
                spawn(async move {
                    for _ in 0..60 {
                        burn(60);
                        *sum.lock().await += me;
                    }
                })
            });
            all(users.collect()).await;
        });
        runtime.block_on(users).unwrap();
    })
};

const LOCAL_SET: Program = Program {
    build: |builder| {
        builder.worker_threads(2);
    },
    ..Program::new("local set", |runtime| {
        let set = LocalSet::new();
        set.block_on(runtime, async {
            let shared = Rc::new(std::cell::Cell::new(0u64));
            let tasks: Vec<_> = (0..50)
                .map(|_| {
                    let shared = Rc::clone(&shared);
                    spawn_local(async move {
                        for _ in 0..20 {
                            let one = spawn(async { 1 }).await.unwrap();
                            shared.set(shared.get() + one);
                            burn(20);
                            yield_now().await;
                        }
                    })
                })
                .collect();
            all(tasks).await;
            assert_eq!(shared.get(), 1000);
        });
    })
};

const CURRENT_THREAD: Program = Program {
    build: |builder| {
        *builder = Builder::new_current_thread();
        builder.enable_all().trace(heist::trace::Config::new());
    },
    ..Program::new("current thread", |runtime| runtime.block_on(fan_out(500, 50)))
};

const ENDS_AT_ONCE: Program = Program::new("ends at once", |runtime| {
    assert_eq!(runtime.block_on(async { spawn(async { 6 * 7 }).await.unwrap() }), 42);
});

/// A long poll or two in the beginning, and then what it was written for.
const STARTS_SLOWLY: Program = Program {
    build: |builder| {
        builder.worker_threads(2);
    },
    ..Program::new("starts slowly", |runtime| {
        let server = runtime.spawn(async {
            burn(30_000);
            fan_out(800, 60).await;
        });
        runtime.block_on(server).unwrap();
    })
};
