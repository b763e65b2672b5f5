//! Nodes that are awaited.

use crate::futures::{Boxed, elsewhere, join_all, poll_once};
use crate::leaves;
use crate::plan::Kind;
use crate::sync;
use crate::world::{At, Expected, Out};
use heist::sync::{mpsc, oneshot};
use heist::task::{JoinHandle, JoinSet, block_in_place, unconstrained, yield_now};
use heist::time::{sleep, timeout};
use std::future::pending;
use std::panic::{panic_any, resume_unwind};
use std::task::Poll;
use std::time::Duration;

/// Longer than any graph takes. A wait of this length must not end.
const LONG: Duration = Duration::from_secs(24 * 3600);

heist::task_local! {
    static VALUE: u64;
}

pub fn run(at: At) -> Boxed<Out> {
    Box::pin(async move {
        let open = at.open();
        let out = dispatch(&at).await;
        open.ended();
        out
    })
}

async fn dispatch(at: &At) -> Out {
    match at.node().kind {
        Kind::Yield => leaves::yields(at).await,
        Kind::Sleep => leaves::sleeps(at).await,
        Kind::Channel => leaves::channel(at).await,
        Kind::Lock => leaves::lock(at).await,
        Kind::Wakes => leaves::wakes(at).await,
        Kind::DropSpawns => leaves::drop_spawns(at).await,
        Kind::Leftover => leaves::leftover(at),
        Kind::Detached => leaves::detached(at).await,
        Kind::CallAll => leaves::call_all(at).await,
        Kind::Spawn => spawn(at).await,
        Kind::Report => report(at).await,
        Kind::Abort => abort(at).await,
        Kind::JoinSet => join_set(at).await,
        Kind::Select => select(at).await,
        Kind::Timeout => timeouts(at).await,
        Kind::Join => join(at).await,
        Kind::TaskLocal => task_local(at).await,
        Kind::Unconstrained => one(at, unconstrained(run(at.child(0))).await),
        Kind::Panic => panics(at).await,
        Kind::DropMid => drop_mid(at).await,
        Kind::Move => moved(at).await,
        Kind::Elsewhere => other_runtime(at).await,
        Kind::Pinned => pinned(at).await,
        Kind::Blocking => blocking(at).await,
        Kind::InPlace => one(at, block_in_place(|| sync::run(at.child(0)))),
        Kind::Direct => one(at, sync::run(at.child(0))),
        Kind::Job => job(at).await,
        kind => unreachable!("{kind:?} is not awaited"),
    }
}

/// The value of a node with one child.
fn one(at: &At, out: Out) -> Out {
    let mut sum = at.sum();
    sum.add(0, out?);
    sum.get()
}

/// The value of a node whose children came to `outs`, in the order of the children.
pub fn all(at: &At, outs: impl IntoIterator<Item = Out>) -> Out {
    let mut sum = at.sum();
    for (index, out) in outs.into_iter().enumerate() {
        sum.add(index, out?);
    }
    sum.get()
}

/// Tasks, joined in order, in reverse order, by other tasks, or all at once.
async fn spawn(at: &At) -> Out {
    let tasks: Vec<_> = at.children().map(|child| at.spawn(run(child))).collect();
    let join = |task: JoinHandle<Out>| {
        let at = at.clone();
        async move { at.joined(task).await }
    };
    match at.n() % 4 {
        0 => {
            let mut outs = Vec::new();
            for task in tasks {
                outs.push(join(task).await);
            }
            all(at, outs)
        }
        1 => {
            let mut outs = Vec::new();
            for task in tasks.into_iter().rev() {
                outs.push(join(task).await);
            }
            outs.reverse();
            all(at, outs)
        }
        2 => {
            let joins: Vec<_> = tasks.into_iter().map(|task| at.spawn(join(task))).collect();
            let mut outs = Vec::new();
            for task in joins {
                outs.push(at.joined(task).await);
            }
            all(at, outs)
        }
        _ => {
            let joins = tasks.into_iter().map(|task| Box::pin(join(task)) as Boxed<Out>);
            all(at, join_all(joins.collect()).await)
        }
    }
}

/// Detached tasks, which report through a channel.
async fn report(at: &At) -> Out {
    let mut sum = at.sum();
    let count = at.node().children.len();
    match at.n() % 3 {
        0 => {
            let (sender, mut receiver) = mpsc::channel(1 + at.n() as usize / 3 % 2);
            for (index, child) in at.children().enumerate() {
                let sender = sender.clone();
                drop(at.spawn(async move {
                    let out = run(child).await;
                    let _ = sender.send((index, out)).await;
                }));
            }
            drop(sender);
            for _ in 0..count {
                let Some((index, out)) = receiver.recv().await else { return at.gone() };
                sum.add(index, out?);
            }
        }
        1 => {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            for (index, child) in at.children().enumerate() {
                let sender = sender.clone();
                drop(at.spawn(async move { sender.send((index, run(child).await)) }));
            }
            drop(sender);
            for _ in 0..count {
                let Some((index, out)) = receiver.recv().await else { return at.gone() };
                sum.add(index, out?);
            }
        }
        _ => {
            let mut receivers = Vec::new();
            for child in at.children() {
                let (sender, receiver) = oneshot::channel();
                drop(at.spawn(async move { sender.send(run(child).await) }));
                receivers.push(receiver);
            }
            for (index, receiver) in receivers.into_iter().enumerate() {
                let Ok(out) = receiver.await else { return at.gone() };
                sum.add(index, out?);
            }
        }
    }
    sum.get()
}

/// A task is aborted: after it has reported, or at any time.
async fn abort(at: &At) -> Out {
    let child = at.child(0);
    if at.n() % 4 == 0 {
        let (sender, receiver) = oneshot::channel();
        let token = at.token();
        let task: JoinHandle<Out> = at.spawn(async move {
            let _ = sender.send(run(child).await);
            let _token = token;
            pending().await
        });
        let Ok(out) = receiver.await else { return at.gone() };
        let aborter = task.abort_handle();
        match at.n() / 4 % 3 {
            0 => task.abort(),
            1 => aborter.abort(),
            _ => elsewhere(move || aborter.abort()),
        }
        assert!(at.aborted(task.await).is_none(), "a task that is pending for ever has ended");
        return one(at, out);
    }
    let task = at.spawn(run(child.clone()));
    for _ in 0..at.n() / 16 % 4 {
        yield_now().await;
    }
    let aborter = task.abort_handle();
    match at.n() % 4 {
        1 => task.abort(),
        2 => elsewhere(move || aborter.abort()),
        _ => {
            aborter.abort();
            aborter.clone().abort();
        }
    }
    if let Some(out) = at.aborted(task.await) {
        child.check(out);
    }
    at.sum().get()
}

async fn join_set(at: &At) -> Out {
    let variant = at.n() % 6;
    let mut set: JoinSet<(usize, Out)> = JoinSet::new();
    for (index, child) in at.children().enumerate() {
        set.spawn_on(async move { (index, run(child).await) }, &at.handle());
    }
    let mut sum = at.sum();
    let checks = |(index, out): (usize, Out)| at.child(index).check(out);
    match variant {
        _ if variant == 0 || variant == 1 && !at.node().yield_loops => {
            while let Some(joined) = set.join_next().await {
                let (index, out) = at.output(joined.map(Ok))?;
                sum.add(index, out?);
            }
        }
        1 => {
            let mut left = at.node().children.len();
            while left > 0 {
                match set.try_join_next() {
                    Some(joined) => {
                        let (index, out) = at.output(joined.map(Ok))?;
                        sum.add(index, out?);
                        left -= 1;
                    }
                    None => yield_now().await,
                }
            }
        }
        2 => {
            yield_now().await;
            set.abort_all();
            while let Some(joined) = set.join_next().await {
                match joined {
                    Err(error) if error.is_cancelled() => {}
                    joined => checks(at.output(joined.map(Ok))?),
                }
            }
        }
        3 => {
            set.shutdown().await;
            assert!(set.is_empty());
        }
        4 => {
            if let Some(Ok(joined)) = set.try_join_next() {
                checks(joined);
            }
            drop(set);
        }
        _ => set.detach_all(),
    }
    sum.get()
}

async fn select(at: &At) -> Out {
    let mut child = run(at.child(0));
    match at.n() % 4 {
        0 => heist::select! {
            biased;
            () = pending() => unreachable!(),
            out = &mut child => one(at, out),
        },
        1 => heist::select! {
            () = sleep(LONG) => panic!("node {}: a sleep of a day has ended", at.id),
            out = &mut child => one(at, out),
        },
        2 => {
            heist::select! {
                biased;
                out = &mut child => at.child(0).check(out),
                () = yield_now() => {}
            }
            at.sum().get()
        }
        _ => {
            let task = at.spawn(yield_now());
            heist::select! {
                out = &mut child => one(at, out),
                joined = task => {
                    at.output(joined.map(Ok))?;
                    one(at, child.await)
                }
            }
        }
    }
}

async fn timeouts(at: &At) -> Out {
    let tiny = Duration::from_micros(at.n() / 3 % 3000);
    match at.n() % 3 {
        0 => match timeout(LONG, run(at.child(0))).await {
            Ok(out) => one(at, out),
            Err(_) => panic!("node {}: a timeout of a day has come", at.id),
        },
        1 => {
            if let Ok(out) = timeout(tiny, run(at.child(0))).await {
                at.child(0).check(out);
            }
            at.sum().get()
        }
        _ => {
            let token = at.token();
            let never = async {
                let _token = token;
                pending::<()>().await;
            };
            assert!(timeout(tiny, never).await.is_err());
            one(at, run(at.child(0)).await)
        }
    }
}

/// Several children in one task.
async fn join(at: &At) -> Out {
    if let (0, [_, _]) = (at.n() % 2, &at.node().children[..]) {
        let (a, b) = heist::join!(run(at.child(0)), run(at.child(1)));
        return all(at, [a, b]);
    }
    all(at, join_all(at.children().map(run).collect()).await)
}

async fn task_local(at: &At) -> Out {
    let out = VALUE.scope(at.n(), async {
        yield_now().await;
        let out = run(at.child(0)).await;
        assert_eq!(VALUE.get(), at.n());
        let other = at.spawn(async { Ok(VALUE.try_get().is_ok() as u64) });
        let is_inherited = at.joined(other).await?;
        // On a runtime without threads the poll of that task may be inside of another scope's.
        let is_inside = at.node().is_private();
        assert!(
            is_inside || is_inherited == 0,
            "node {}: a task sees the task-local of another",
            at.id
        );
        out
    });
    one(at, out.await)
}

async fn panics(at: &At) -> Out {
    let here = at.clone();
    let task = async move {
        let token = here.token();
        let out = run(here.child(0)).await;
        let expected = Expected(here.id, out);
        drop(here);
        match token {
            _token if out.is_ok() => panic_any(expected),
            _token => resume_unwind(Box::new(expected)),
        }
    };
    let joined: Result<(), _> = match at.n() % 2 {
        0 => at.spawn(task).await,
        _ => {
            let mut set = JoinSet::new();
            set.spawn_on(task, &at.handle());
            set.join_next().await.expect("it has one")
        }
    };
    let error = joined.expect_err("it panics");
    match error.try_into_panic() {
        Ok(payload) => {
            let Expected(id, out) = at.sort_panic(payload)?;
            assert_eq!(id, at.id, "a panic of somebody else");
            one(at, out)
        }
        Err(_cancelled) => at.gone(),
    }
}

/// Polls a child a few times, and drops it.
async fn drop_mid(at: &At) -> Out {
    let mut child = run(at.child(0));
    for _ in 0..at.n() % 4 {
        if let Poll::Ready(out) = poll_once(&mut child).await {
            at.child(0).check(out);
            return at.sum().get();
        }
        yield_now().await;
    }
    drop(child);
    at.sum().get()
}

/// Polls a child here once, and lets a task finish it.
async fn moved(at: &At) -> Out {
    let mut child = run(at.child(0));
    if let Poll::Ready(out) = poll_once(&mut child).await {
        return one(at, out);
    }
    one(at, at.joined(at.spawn(child)).await)
}

async fn other_runtime(at: &At) -> Out {
    let child = at.child(0);
    let handle = at.world.handles[child.node().runtime].clone();
    let task = match at.n() % 2 {
        0 => handle.spawn(run(child)),
        _ => {
            let _entered = handle.enter();
            heist::spawn(run(child))
        }
    };
    one(at, at.joined(task).await)
}

/// A pinned task, whose future is not `Send`.
async fn pinned(at: &At) -> Out {
    let child = at.child(0);
    let here = at.clone();
    let make = move || async move {
        let token = std::rc::Rc::new(here.token());
        let copy = std::rc::Rc::clone(&token);
        yield_now().await;
        let out = run(child).await;
        drop((token, copy));
        out
    };
    let handle = at.handle();
    let task = match at.n() % 2 {
        0 => handle.spawn_pinned(make),
        _ => {
            let worker = at.n() as usize / 2 % handle.num_workers();
            handle.spawn_pinned_on(worker, make)
        }
    };
    one(at, at.joined(task).await)
}

async fn blocking(at: &At) -> Out {
    let child = at.child(0);
    let here = at.clone();
    let token = at.token();
    if at.n() % 3 != 0 {
        let closure = move || {
            let _token = token;
            sync::run(child)
        };
        return one(at, at.joined(at.handle().spawn_blocking(closure)).await);
    }
    let closure = move || -> Out {
        let _token = token;
        panic_any(Expected(here.id, sync::run(child)))
    };
    match at.handle().spawn_blocking(closure).await.map_err(|error| error.try_into_panic()) {
        Err(Ok(payload)) => {
            let Expected(id, out) = at.sort_panic(payload)?;
            assert_eq!(id, at.id, "a panic of somebody else");
            one(at, out)
        }
        Err(Err(_cancelled)) => at.gone(),
        Ok(_) => panic!("node {}: a closure that panics has returned", at.id),
    }
}

/// A job that is awaited, detached or cancelled.
async fn job(at: &At) -> Out {
    let (child, token) = (at.child(0), at.token());
    let job = heist::spawn_job(move || {
        let _token = token;
        sync::run(child)
    });
    match at.n() % 4 {
        0 | 1 => one(at, at.output(job.await)),
        2 => one(at, at.joined(job.detach()).await),
        _ => {
            if at.n() / 4 % 2 == 0 {
                yield_now().await;
            }
            drop(job);
            at.sum().get()
        }
    }
}
