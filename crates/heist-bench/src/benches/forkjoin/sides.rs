//! The pools, and plain calls in place of one.

use std::io;
use std::num::NonZero;

use super::Pool;
use super::mixed::Mixes;
use super::scope::Scopes;
use crate::benches::runtimes::AsyncRuntime;
use crate::benches::runtimes::sides;

/// With its drivers for I/O and time, as programs have it.
pub struct Heist(sides::Heist);

impl Pool for Heist {
    type Context<'s> = ();

    fn start(workers: usize) -> io::Result<Self> {
        sides::Heist::start(workers).map(Heist)
    }

    fn run<R: Send>(&self, work: impl FnOnce(&mut ()) -> R + Send) -> R {
        self.0.handle().install(|| work(&mut ()))
    }

    #[inline]
    fn join<A, B, RA, RB>((): &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        heist::join(|| a(&mut ()), || b(&mut ()))
    }
}

impl Scopes for Heist {
    type Scope<'scope> = heist::Scope<'scope>;

    fn scope<'scope>(f: impl FnOnce(&heist::Scope<'scope>) + Send) {
        heist::scope(f);
    }

    #[inline]
    fn spawn<'scope, F>(scope: &heist::Scope<'scope>, job: F)
    where
        F: FnOnce(&heist::Scope<'scope>) + Send + 'scope,
    {
        scope.spawn(job);
    }
}

/// The same workers for both.
impl Mixes for Heist {
    type Tasks = sides::Heist;
    type Jobs = Self;

    fn build(workers: usize) -> io::Result<Self> {
        Self::start(workers)
    }

    fn tasks(&self) -> &sides::Heist {
        &self.0
    }

    fn jobs(&self) -> &Self {
        self
    }
}

pub struct Rayon(rayon::ThreadPool);

impl Pool for Rayon {
    type Context<'s> = ();

    fn start(workers: usize) -> io::Result<Self> {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(workers);
        builder.build().map(Rayon).map_err(io::Error::other)
    }

    fn run<R: Send>(&self, work: impl FnOnce(&mut ()) -> R + Send) -> R {
        self.0.install(|| work(&mut ()))
    }

    #[inline]
    fn join<A, B, RA, RB>((): &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        rayon::join(|| a(&mut ()), || b(&mut ()))
    }
}

impl Scopes for Rayon {
    type Scope<'scope> = rayon::Scope<'scope>;

    fn scope<'scope>(f: impl FnOnce(&rayon::Scope<'scope>) + Send) {
        rayon::scope(f);
    }

    #[inline]
    fn spawn<'scope, F>(scope: &rayon::Scope<'scope>, job: F)
    where
        F: FnOnce(&rayon::Scope<'scope>) + Send + 'scope,
    {
        scope.spawn(job);
    }
}

/// Two sets of workers, which the system gives the cores in turn.
pub struct TokioRayon {
    tasks: sides::Tokio,
    jobs: Rayon,
}

impl Mixes for TokioRayon {
    type Tasks = sides::Tokio;
    type Jobs = Rayon;

    fn build(workers: usize) -> io::Result<Self> {
        Ok(TokioRayon { tasks: sides::Tokio::start(workers)?, jobs: Rayon::start(workers)? })
    }

    fn tasks(&self) -> &sides::Tokio {
        &self.tasks
    }

    fn jobs(&self) -> &Rayon {
        &self.jobs
    }
}

/// The thread that calls is one of its workers.
pub struct Chili(chili::ThreadPool);

impl Pool for Chili {
    type Context<'s> = chili::Scope<'s>;

    fn start(workers: usize) -> io::Result<Self> {
        let config =
            chili::Config { thread_count: NonZero::new(workers), ..chili::Config::default() };
        Ok(Chili(chili::ThreadPool::with_config(config)))
    }

    fn run<R: Send>(&self, work: impl FnOnce(&mut chili::Scope<'_>) -> R + Send) -> R {
        work(&mut self.0.scope())
    }

    #[inline]
    fn join<A, B, RA, RB>(scope: &mut chili::Scope<'_>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut chili::Scope<'_>) -> RA + Send,
        B: FnOnce(&mut chili::Scope<'_>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        scope.join(a, b)
    }
}

/// What a program pays if nothing is shared, nor offered.
pub struct Sequential;

impl Pool for Sequential {
    type Context<'s> = ();

    fn start(_: usize) -> io::Result<Self> {
        Ok(Sequential)
    }

    fn run<R: Send>(&self, work: impl FnOnce(&mut ()) -> R + Send) -> R {
        work(&mut ())
    }

    #[inline]
    fn join<A, B, RA, RB>((): &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        (a(&mut ()), b(&mut ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::thread::{self, ThreadId};

    /// Which threads have called the two closures, which wait for each other.
    fn both_at_once<P: Pool>(workers: usize) -> [ThreadId; 2] {
        let (barrier, pool) = (Barrier::new(2), P::start(workers).unwrap());
        let meet = || {
            barrier.wait();
            thread::current().id()
        };
        let (a, b) = pool.run(|context| P::join(context, |_| meet(), |_| meet()));
        [a, b]
    }

    #[test]
    fn pools_have_as_many_workers_as_they_were_told() {
        for [a, b] in [both_at_once::<Heist>(2), both_at_once::<Rayon>(2)] {
            assert_ne!(a, b);
        }
        assert_eq!(Heist::start(3).unwrap().run(|()| heist::current_num_workers()), 3);
        assert_eq!(Rayon::start(3).unwrap().run(|()| rayon::current_num_threads()), 3);
    }

    #[test]
    fn both_closures_are_called_and_told_apart() {
        fn check<P: Pool>() {
            let joined = P::start(1).unwrap().run(|context| P::join(context, |_| 1, |_| "b"));
            assert_eq!(joined, (1, "b"));
        }
        check::<Heist>();
        check::<Rayon>();
        check::<Chili>();
        check::<Sequential>();
    }
}
