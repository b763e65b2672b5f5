//! A lot of everything at once: children, and workers that are stuck. `HEIST_STRESS_SCALE=10` makes
//! it 500 children and 300 workers. (Connections: `soak.rs`.) What fails here hangs, or is counted
//! wrong.

mod support;

use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::process::{Child, Command};
use heist::runtime::{Builder, Runtime};
use heist_testing::scaled;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

const CHILDREN: u64 = 50;
const WORKERS: u64 = 30;

/// Sends back what it is told, and ends when it is told nothing more.
fn echo() -> Child {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap()
}

async fn talk(mut child: Child, number: u64) {
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let text = format!("child {number}\n").repeat(100);
    input.write_all(text.as_bytes()).await.unwrap();
    drop(input);
    let mut back = String::new();
    output.read_to_string(&mut back).await.unwrap();
    assert_eq!(back, text);
    assert!(child.wait().await.unwrap().success());
}

fn children_at_once(runtime: &Runtime) {
    runtime.block_on(async {
        // All of them run before the first is told to end.
        let children: Vec<Child> = (0..scaled(CHILDREN)).map(|_| echo()).collect();
        let talks = children.into_iter().zip(0..).map(|(child, number)| talk(child, number));
        let talks: Vec<_> = talks.map(heist::spawn).collect();
        for talk in talks {
            talk.await.unwrap();
        }
    });
}

#[test]
fn many_children_at_once() {
    children_at_once(&support::runtime(2));
}

#[test]
fn many_children_at_once_without_workers() {
    children_at_once(&support::current_thread());
}

/// How a worker is stuck until it is let go.
type Stall = fn(&AtomicBool, &mpsc::Receiver<()>);

fn blocked(_: &AtomicBool, let_go: &mpsc::Receiver<()>) {
    let_go.recv().unwrap_err();
}

fn burning(is_over: &AtomicBool, _: &mpsc::Receiver<()>) {
    while !is_over.load(Ordering::Acquire) {
        thread::yield_now();
    }
}

/// L2: all workers are stuck, and what is spawned meanwhile runs.
fn l2_all_stalled(stall: impl Fn(u64) -> Stall) {
    let workers = scaled(WORKERS);
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers as usize).max_blocking_threads(2 * workers as usize + 16);
    let runtime = builder.build().unwrap();
    let (is_over, (begun, begins)) = (Arc::new(AtomicBool::new(false)), mpsc::channel());
    let mut holds = Vec::new();
    let stalled: Vec<_> = (0..workers)
        .map(|number| {
            let (hold, let_go) = mpsc::channel();
            holds.push(hold);
            let (begun, is_over, stall) = (begun.clone(), is_over.clone(), stall(number));
            runtime.spawn(async move {
                begun.send(()).unwrap();
                stall(&is_over, &let_go);
            })
        })
        .collect();
    (0..workers).for_each(|_| begins.recv().unwrap());
    let ran = Arc::new(AtomicU64::new(0));
    let beside: Vec<_> = (0..10 * workers)
        .map(|_| {
            let ran = ran.clone();
            runtime.spawn(async move {
                heist::task::yield_now().await;
                ran.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    runtime.block_on(async {
        for task in beside {
            task.await.unwrap();
        }
    });
    assert_eq!(ran.load(Ordering::Relaxed), 10 * workers);
    assert!(stalled.iter().all(|task| !task.is_finished()));
    is_over.store(true, Ordering::Release);
    drop(holds);
    runtime.block_on(async {
        for task in stalled {
            task.await.unwrap();
        }
    });
}

#[test]
fn l2_all_workers_are_blocked_at_once() {
    l2_all_stalled(|_| blocked);
}

#[test]
fn l2_all_workers_burn_at_once() {
    l2_all_stalled(|_| burning);
}

#[test]
fn l2_some_are_blocked_and_some_burn() {
    l2_all_stalled(|number| if number % 2 == 0 { blocked } else { burning });
}
