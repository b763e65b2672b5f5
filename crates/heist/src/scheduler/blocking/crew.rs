//! What blocking threads do, independent of how they are started and of what they run.

use super::roster::{Call, Census, Core, Limits, Number, Roster, Sleeper, Summon, Taken};
use heist_sync::model_has_failed;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What threads run. A drop cancels it. None of the methods panic.
pub(super) trait Work: Send + 'static {
    fn run(self);

    /// Called if no thread will run it.
    fn fail(self, error: &Arc<io::Error>);

    /// Whether it must run even if the runtime shuts down before it has a thread.
    fn is_mandatory(&self) -> bool;
}

/// Starts threads, and is called back by them.
pub(crate) trait Host: Clone + Send + 'static {
    /// Starts a thread that runs `body`.
    fn start(&self, body: impl FnOnce() + Send + 'static) -> io::Result<()>;

    /// Calls `act` as something that happens in the runtime.
    fn within(&self, act: impl FnOnce());

    /// The core that the calling thread is on.
    fn core(&self) -> Core;

    /// Called by each thread before it runs anything.
    fn started(&self);

    /// Called by each thread before it ends.
    fn stopping(&self);
}

/// Why there is no thread for a call.
#[derive(Debug)]
pub(crate) enum NoThread {
    /// All threads that the limit allows are busy, or the runtime is down.
    AllBusy,
    /// The system starts no more.
    NotStarted(io::Error),
}

/// The blocking threads of a runtime.
pub(super) struct Crew<W>(Arc<Roster<W>>);

impl<W> Clone for Crew<W> {
    fn clone(&self) -> Self {
        Crew(Arc::clone(&self.0))
    }
}

impl<W: Work> Crew<W> {
    pub(super) fn new(limits: Limits, shards: usize) -> Self {
        Crew(Arc::new(Roster::new(limits, shards)))
    }

    /// Has a thread run `work`. Returns it after [`close`](Self::close).
    pub(super) fn submit(&self, producer: usize, work: W, host: &impl Host) -> Result<(), W> {
        let summon = self.0.submit(producer, work)?;
        self.follow(summon, host);
        Ok(())
    }

    /// Has a thread run `call` now, or drops it if no thread can.
    pub(super) fn call(&self, call: Call, host: &impl Host) -> Result<(), NoThread> {
        match self.0.call(call, host.core()) {
            Ok(Summon::Start(number)) => self.start_for_call(number, host),
            Ok(summon) => {
                self.follow(summon, host);
                Ok(())
            }
            Err(_) => Err(NoThread::AllBusy),
        }
    }

    fn start_for_call(&self, number: Number, host: &impl Host) -> Result<(), NoThread> {
        let Err(error) = self.try_start(number, host) else { return Ok(()) };
        let (handed, summon) = self.0.call_failed(number, host.core());
        let answer = match handed {
            Ok(wake) => {
                self.follow(wake, host);
                Ok(())
            }
            Err(_) => Err(NoThread::NotStarted(error)),
        };
        self.follow(summon, host);
        answer
    }

    /// Closes the queue, and returns what no thread will take. The caller drops it, except for
    /// mandatory work, which it runs; this is returned only if there are no threads.
    pub(super) fn close(&self) -> impl Iterator<Item = W> + use<W> {
        let left = self.0.close(W::is_mandatory);
        drop(left.calls);
        left.cancelled.into_iter().chain(left.mandatory)
    }

    /// After [`close`](Self::close): waits until at most `but` threads are left.
    pub(super) fn wait_until_ended(&self, but: usize) {
        self.0.wait_until_ended(but);
    }

    pub(super) fn census(&self) -> Census {
        self.0.census()
    }

    fn follow(&self, summon: Summon, host: &impl Host) {
        match summon {
            Summon::Nobody => {}
            Summon::Wake(bell) => bell.notify_one(),
            Summon::Start(number) => self.start(number, host),
        }
    }

    fn start(&self, number: Number, host: &impl Host) {
        let Err(error) = self.try_start(number, host) else { return };
        let (error, mut next) = (Arc::new(error), self.0.not_started());
        loop {
            match next {
                Ok(summon) => return self.follow(summon, host),
                Err(orphan) => host.within(|| orphan.fail(&error)),
            }
            next = self.0.next_orphan();
        }
    }

    fn try_start(&self, number: Number, host: &impl Host) -> io::Result<()> {
        let (crew, its_host) = (self.clone(), host.clone());
        let start = || host.start(move || crew.work(number, its_host));
        // The name comes from foreign code, and the standard library panics at bad ones.
        catch_unwind(AssertUnwindSafe(start)).unwrap_or_else(|_| {
            Err(io::Error::other("a panic; is it the name that Builder::thread_name_fn gave?"))
        })
    }

    /// The life of a thread.
    fn work(self, number: Number, host: impl Host) {
        let leave = Leave { crew: &self, host: &host };
        let me = Sleeper::new(number);
        // Before the callback, which may take long: no other thread is called until this one has
        // looked.
        let (taken, summon) = self.0.arrive(&me);
        self.follow(summon, &host);
        host.started();
        taken.into_iter().for_each(run);
        while let Some((taken, summon)) = self.0.next(&me, || host.core()) {
            self.follow(summon, &host);
            run(taken);
        }
        host.stopping();
        drop(leave);
    }
}

fn run(taken: Taken<impl Work>) {
    match taken {
        Taken::Closure(work) => work.run(),
        Taken::Call(call) => call(),
    }
}

/// Counts a thread as ended, even if a callback panics.
struct Leave<'a, W: Work, H: Host> {
    crew: &'a Crew<W>,
    host: &'a H,
}

impl<W: Work, H: Host> Drop for Leave<'_, W, H> {
    fn drop(&mut self) {
        if model_has_failed() {
            return;
        }
        self.crew.follow(self.crew.0.ended(), self.host);
    }
}
