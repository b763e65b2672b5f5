//! Nodes that are called as functions: in jobs, in blocking closures, and in the middle of a poll.

use crate::awaited::{self, all};
use crate::futures::park_on;
use crate::plan::{Kind, PRIVATE_MULTI};
use crate::world::{At, Expected, Gone, Out};
use heist::runtime::Builder;
use heist::task::{self, block_in_place};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

pub fn run(at: At) -> Out {
    let open = at.open();
    let out = match at.node().kind {
        Kind::Compute => compute(&at),
        Kind::Yield => compute(&at),
        Kind::Broadcast => broadcast(&at),
        Kind::BlockOn => block_on(&at),
        Kind::LocalSet => local_set(&at),
        Kind::ParkOn => park(&at),
        Kind::NestedRuntime => nested_runtime(&at),
        Kind::SyncJoin => join(&at),
        Kind::Scope => scope(&at),
        Kind::Jobs => jobs(&at),
        Kind::SyncPanic => panics(&at),
        kind => unreachable!("{kind:?} is awaited"),
    };
    open.ended();
    out
}

fn one(at: &At, out: Out) -> Out {
    all(at, [out])
}

fn compute(at: &At) -> Out {
    let mut number = at.n();
    for _ in 0..at.n() % 2000 {
        number = std::hint::black_box(number.rotate_left(5) ^ 0x55);
    }
    at.sum().get()
}

/// Counts the workers.
fn broadcast(at: &At) -> Out {
    let count = AtomicU64::new(0);
    let call = |context: heist::BroadcastContext<'_>| {
        if at.n() % 3 == 0 {
            heist::join(|| count.fetch_add(0, Ordering::Relaxed), || std::hint::black_box(1));
        }
        count.fetch_add(1, Ordering::Relaxed);
        context.index()
    };
    let numbers = match at.n() % 2 {
        0 => heist::broadcast(call),
        _ => at.handle().broadcast(call),
    };
    assert!(numbers.iter().copied().eq(0..numbers.len()));
    at.called(count.into_inner())
}

fn block_on(at: &At) -> Out {
    let handle = at.handle();
    let child = awaited::run(at.child(0));
    let out = match at.n() % 4 {
        0 => block_in_place(|| handle.block_on(child)),
        1 => handle.block_on(async { at.joined(at.spawn(child)).await }),
        _ => handle.block_on(child),
    };
    one(at, out)
}

fn local_set(at: &At) -> Out {
    let handle = at.handle();
    let child = awaited::run(at.child(0));
    let set = task::LocalSet::new();
    let token = std::rc::Rc::new(at.token());
    let left = std::rc::Rc::new(at.token());
    let out = handle.block_on(set.run_until(async {
        let mine = std::rc::Rc::clone(&token);
        task::spawn_local(async move {
            let _left = left;
            std::future::pending::<()>().await;
        });
        let task = task::spawn_local(async move {
            let _mine = mine;
            child.await
        });
        task::yield_now().await;
        at.joined(task).await
    }));
    drop(set);
    assert_eq!(std::rc::Rc::strong_count(&token), 1, "a local task was not dropped");
    one(at, out)
}

/// Waits for a task with an executor outside of heist.
fn park(at: &At) -> Out {
    let handle = at.handle();
    let task = handle.spawn(awaited::run(at.child(0)));
    one(at, at.output(block_in_place(|| park_on(task))))
}

/// A runtime that is built and ended here.
fn nested_runtime(at: &At) -> Out {
    let mut builder = match at.child(0).node().runtime {
        PRIVATE_MULTI => Builder::new_multi_thread(),
        _ => Builder::new_current_thread(),
    };
    let runtime = builder.worker_threads(2).enable_all().build().expect("it can be built");
    let _ = at.world.private[at.id].set(runtime.handle().clone());
    let child = awaited::run(at.child(0));
    let out = match at.child(0).node().runtime {
        PRIVATE_MULTI => runtime.block_on(child),
        _ if at.n() % 2 == 0 => runtime.block_on(child),
        _ => runtime.block_on(async { at.joined(at.spawn(child)).await }),
    };
    match at.node().is_left() {
        true => runtime.shutdown_background(),
        false => block_in_place(|| drop(runtime)),
    }
    // The private runtime was alive until here, so nothing may be lost.
    out.or_else(|Gone| at.gone()).and_then(|value| one(at, Ok(value)))
}

fn join(at: &At) -> Out {
    let (a, b) = (|| run(at.child(0)), || run(at.child(1)));
    let (a, b) = match at.n() % 3 {
        0 => at.handle().join(a, b),
        _ => heist::join(a, b),
    };
    all(at, [a, b])
}

type Slot = Mutex<Option<Out>>;

fn taken(slots: Vec<Slot>) -> impl Iterator<Item = Out> {
    slots.into_iter().map(|slot| slot.into_inner().unwrap().expect("all jobs have ended"))
}

fn scope(at: &At) -> Out {
    let slots: Vec<Slot> = at.children().map(|_| Mutex::new(None)).collect();
    let put = |index: usize| {
        let out = run(at.child(index));
        *slots[index].lock().unwrap() = Some(out);
    };
    match at.n() % 3 {
        0 => heist::scope(|s| {
            (0..slots.len()).for_each(|index| s.spawn(move |_| put(index)));
        }),
        1 => heist::scope_fifo(|s| {
            (0..slots.len()).for_each(|index| s.spawn_fifo(move |_| put(index)));
        }),
        // One job spawns the others.
        _ => heist::in_place_scope(|s| {
            s.spawn(|s| {
                (1..slots.len()).for_each(|index| s.spawn(move |_| put(index)));
                put(0);
            });
        }),
    }
    all(at, taken(slots))
}

fn jobs(at: &At) -> Out {
    let spawn = |child: At| {
        let token = child.token();
        heist::spawn_job(move || {
            let _token = token;
            run(child)
        })
    };
    let jobs: Vec<_> = at.children().map(spawn).collect();
    let mut outs: Vec<_> = Vec::new();
    match at.n() % 2 {
        0 => jobs.into_iter().for_each(|job| outs.push(at.output(job.wait()))),
        _ => {
            jobs.into_iter().rev().for_each(|job| outs.push(at.output(job.wait())));
            outs.reverse();
        }
    }
    all(at, outs)
}

/// One of two children panics, and the panic is caught.
fn panics(at: &At) -> Out {
    let slot: Slot = Mutex::new(None);
    let panics = || -> () {
        let out = run(at.child(0));
        match out {
            Ok(_) => panic_any(Expected(at.id, out)),
            Err(Gone) => resume_unwind(Box::new(Expected(at.id, out))),
        }
    };
    let stores = || {
        let out = run(at.child(1));
        *slot.lock().unwrap() = Some(out);
    };
    let caught = catch_unwind(AssertUnwindSafe(|| match at.n() % 4 {
        0 => _ = heist::join(panics, stores),
        1 => _ = heist::join(stores, panics),
        2 => heist::scope(|s| {
            s.spawn(|_| panics());
            s.spawn(|_| stores());
        }),
        _ => heist::scope(|s| {
            s.spawn(|_| stores());
            panics();
        }),
    }));
    let payload = caught.expect_err("it panics");
    let Expected(id, out) = at.sort_panic(payload)?;
    assert_eq!(id, at.id, "a panic of somebody else");
    // Empty if the other child has panicked, too.
    let other = slot.into_inner().unwrap();
    all(at, [out, other.unwrap_or_else(|| at.gone())])
}
