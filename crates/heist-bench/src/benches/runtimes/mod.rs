//! Async runtimes: what a spawn, a wake-up, a parked task and an idle second cost, and what a
//! task that blocks its worker costs the others.
//!
//! Each workload is a `Story`, written once against `AsyncRuntime`, which hides how the
//! runtimes differ. Channels are the same crate on all sides, `tokio::sync`, which needs no
//! runtime.
//!
//! - `sides`: the runtimes
//! - `telling`: a side, driven from a thread of its own
//! - `roll`: proof that each task ran once
//! - `blockade`: tasks that hold all workers
//! - `go`: a side that is a process, for the benches that have one
//! - `net`: servers in processes of their own, and the load on them
//! - the rest: the stories, a file a theme

mod blockade;
mod busy;
mod channels;
mod closures;
mod files;
mod go;
mod idle;
mod in_place;
mod memory;
pub mod net;
mod producers;
mod recovery;
mod roll;
pub mod sides;
mod spawn;
mod spawner;
mod stall;
mod stall_echo;
mod telling;
mod threads;
mod timers;
mod turns;
mod waits;
mod wake;

use std::io;

use futures_lite::future::block_on;

use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::unit::Unit;
use telling::subject;
use threads::Tid;

pub fn benches() -> Vec<Bench> {
    let mut benches = spawn::benches();
    benches.extend(busy::benches());
    benches.extend(producers::benches());
    benches.extend(turns::benches());
    benches.extend(channels::benches());
    benches.extend(closures::benches());
    benches.extend(in_place::benches());
    benches.extend(waits::benches());
    benches.extend(stall::benches());
    benches.extend(stall_echo::benches());
    benches.extend([recovery::bench(), wake::bench(), spawner::bench()]);
    benches.extend([memory::bench(), idle::bench()]);
    benches.push(files::bench());
    benches.extend(timers::benches());
    benches.extend(net::benches());
    benches
}

/// A runtime as the stories see it; static calls only, so that this layer costs nothing.
pub trait AsyncRuntime: Sized + 'static {
    /// Spawns from threads that are not the runtime's.
    type Handle: Clone + Send + Sync + 'static;
    type Task<T: Send + 'static>: Send + Sync + 'static;

    fn start(workers: usize) -> io::Result<Self>;

    fn handle(&self) -> Self::Handle;

    /// Bounds as narrow as the pickiest runtime has them.
    fn block_on<F>(&self, future: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Spawns a task. Must be called by a task of the runtime, or within its `block_on`.
    fn spawn<F>(future: F) -> Self::Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    fn spawn_from_outside<F>(handle: &Self::Handle, future: F) -> Self::Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Panics if the task has.
    fn join<T: Send + 'static>(task: Self::Task<T>) -> impl Future<Output = T> + Send;

    /// Lets the task run without anybody waiting for it.
    fn detach<T: Send + 'static>(task: Self::Task<T>);

    fn yield_now() -> impl Future<Output = ()> + Send;

    /// Threads of the runtime that were there before `start`.
    fn older_threads(&self) -> Vec<Tid> {
        Vec::new()
    }

    /// All threads of the runtime, if no others have come since there were those of `before`.
    fn threads_since(&self, before: &[Tid]) -> Result<Vec<Tid>, Fault> {
        let mut threads = threads::since(before).map_err(Fault::Setup)?;
        for thread in self.older_threads() {
            // It may have been started for this runtime after all.
            if !threads.contains(&thread) {
                threads.push(thread);
            }
        }
        Ok(threads)
    }
}

/// A workload. One value per side; it lives on the side's driver thread.
trait Story: 'static {
    /// Whether each sample is to find a runtime that has done nothing yet.
    const FRESH: bool = false;

    /// Called when the runtime is up, and before that of the next side is.
    fn ready<R: AsyncRuntime>(&mut self, _runtime: &R) -> Result<(), Fault> {
        Ok(())
    }

    /// Everything it starts has ended when it returns, because the next sample is another side's.
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault>;
}

/// The bench of a story that `make` makes, with all runtimes.
fn bench<S, M>(name: &'static str, about: &'static str, unit: Unit, make: M) -> Bench
where
    S: Story,
    M: Fn(&Setup) -> S + Copy + Send + 'static,
{
    // A workload of a given size, done as often as a sample of some length takes; what is not
    // a time does not get better by that.
    let pace = if unit == Unit::Ns { Pace::Calibrated } else { Pace::Once };
    Bench::new(name, about, unit, pace)
        .side(Runtime::Heist, move |setup| subject::<sides::Heist, S, M>(setup, make))
        .side(Runtime::Tokio, move |setup| subject::<sides::Tokio, S, M>(setup, make))
        .side(Runtime::Smol, move |setup| subject::<sides::Smol, S, M>(setup, make))
        .side(Runtime::Nio, move |setup| subject::<sides::Nio, S, M>(setup, make))
        .side(Runtime::HeistUnwatched, move |setup| {
            subject::<sides::HeistUnwatched, S, M>(setup, make)
        })
        .side(Runtime::HeistTraced, move |setup| subject::<sides::HeistTraced, S, M>(setup, make))
}

/// Runs `future` as a task of the runtime and waits for it from outside.
fn on_worker<R, F>(runtime: &R, future: F) -> F::Output
where
    R: AsyncRuntime,
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    block_on(R::join(R::spawn_from_outside(&runtime.handle(), future)))
}
