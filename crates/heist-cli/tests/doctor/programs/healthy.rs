//! Nothing is wrong with these.

use super::{Program, all, burn};
use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::{TcpListener, TcpStream};
use heist::sync::mpsc;
use heist::task::{spawn_blocking, yield_now};
use heist::{par, spawn, time};
use std::hint::black_box;
use std::thread;
use std::time::Duration;

pub const ALL: [Program; 9] =
    [BALANCED, FROM_OUTSIDE, FORK_JOIN, MIXED, ECHO, TIMERS, IDLE, PIPELINE, BLOCKING_POOL];

pub const BALANCED: Program = Program::new("balanced spawn", |runtime| {
    let root = runtime.spawn(async {
        let work = || async {
            for _ in 0..20 {
                burn(100);
                yield_now().await;
            }
        };
        all((0..64).map(|_| spawn(work())).collect()).await;
    });
    runtime.block_on(root).unwrap();
});

pub const FROM_OUTSIDE: Program = Program::new("spawned from outside", |runtime| {
    runtime.block_on(all((0..1000).map(|_| runtime.spawn(async { burn(100) })).collect()));
});

fn sums(rounds: u64) {
    let numbers: Vec<u64> = (0..100_000).collect();
    for _ in 0..rounds {
        let square = |n: &u64| black_box(n.wrapping_mul(*n));
        black_box(par::map_reduce(&numbers[..], square, |a, b| a.wrapping_add(b)));
    }
}

pub const FORK_JOIN: Program = Program::new("fork-join", |runtime| {
    runtime.block_on(runtime.spawn(async { sums(100) })).unwrap();
});

pub const MIXED: Program = Program::new("fork-join beside async", |runtime| {
    let ticks = (0..4).map(|_| {
        runtime.spawn(async {
            for _ in 0..100 {
                time::sleep(Duration::from_millis(1)).await;
                burn(20);
            }
        })
    });
    let ticks = ticks.collect();
    let jobs = runtime.spawn(async {
        for _ in 0..50 {
            sums(1);
            yield_now().await;
        }
    });
    runtime.block_on(all(ticks));
    runtime.block_on(jobs).unwrap();
});

pub const ECHO: Program = Program::new("echo server", |runtime| {
    let echo = runtime.spawn(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                spawn(async move {
                    let mut buffer = [0; 64];
                    while let Ok(read @ 1..) = socket.read(&mut buffer).await {
                        socket.write_all(&buffer[..read]).await.unwrap();
                    }
                });
            }
        });
        let client = move || async move {
            let mut socket = TcpStream::connect(address).await.unwrap();
            let mut buffer = [7; 64];
            for _ in 0..200 {
                socket.write_all(&buffer).await.unwrap();
                socket.read_exact(&mut buffer).await.unwrap();
            }
        };
        all((0..16).map(|_| spawn(client())).collect()).await;
        server.abort();
    });
    runtime.block_on(echo).unwrap();
});

pub const TIMERS: Program = Program::new("timers", |runtime| {
    let timer = |number: u64| async move {
        for round in 0..5 {
            time::sleep(Duration::from_millis(1 + (number * 7 + round * 13) % 40)).await;
        }
    };
    runtime.block_on(all((0..500).map(|number| runtime.spawn(timer(number))).collect()));
});

pub const IDLE: Program = Program::new("idle", |runtime| {
    runtime.block_on(runtime.spawn(async {})).unwrap();
    thread::sleep(Duration::from_millis(200));
    runtime.block_on(async { time::sleep(Duration::from_millis(50)).await });
});

pub const PIPELINE: Program = Program::new("pipeline", |runtime| {
    let pipeline = runtime.spawn(async {
        let (numbers, mut taken) = mpsc::channel(64);
        let (squares, mut results) = mpsc::channel(64);
        let source = spawn(async move {
            for number in 0..2000u64 {
                burn(20);
                numbers.send(number).await.unwrap();
            }
        });
        let stage = spawn(async move {
            while let Some(number) = taken.recv().await {
                burn(20);
                squares.send(number * number).await.unwrap();
            }
        });
        while let Some(square) = results.recv().await {
            burn(20);
            black_box(square);
        }
        all(vec![source, stage]).await;
    });
    runtime.block_on(pipeline).unwrap();
});

pub const BLOCKING_POOL: Program = Program::new("blocking pool", |runtime| {
    let tasks = (0..8).map(|_| {
        runtime.spawn(async {
            for _ in 0..3 {
                let slept = spawn_blocking(|| thread::sleep(Duration::from_millis(15)));
                slept.await.unwrap();
                burn(50);
            }
        })
    });
    runtime.block_on(all(tasks.collect()));
});
