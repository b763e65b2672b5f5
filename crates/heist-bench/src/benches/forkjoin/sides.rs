//! The pools, and plain calls in place of one.

use std::io;
use std::num::NonZero;

use super::Pool;
use super::mixed::Mixes;
use super::scope::Scopes;
use crate::benches::runtimes::AsyncRuntime;
use crate::benches::runtimes::sides::{self, Bound, Build, Default, HeistBuilt};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// heist with its drivers for I/O and time, as programs use it.
pub type Heist = HeistPool<Default>;

/// heist with each worker bound to a core of its own.
pub type HeistBound = HeistPool<Bound>;

pub struct HeistPool<How: Build>(HeistBuilt<How>);

impl<How: Build> Pool for HeistPool<How> {
    type Context<'s> = ();

    fn start(workers: usize) -> io::Result<Self> {
        HeistBuilt::start(workers).map(HeistPool)
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

pub type Rayon = RayonPool<false>;

/// rayon with each worker bound to a core, as a program would do it.
pub type RayonBound = RayonPool<true>;

pub struct RayonPool<const IS_BOUND: bool>(rayon::ThreadPool);

impl<const IS_BOUND: bool> Pool for RayonPool<IS_BOUND> {
    type Context<'s> = ();

    fn start(workers: usize) -> io::Result<Self> {
        let mut builder = rayon::ThreadPoolBuilder::new().num_threads(workers);
        if IS_BOUND {
            let cores = sched_getaffinity(None)?;
            builder = builder.start_handler(move |worker| bind(&cores, worker));
        }
        builder.build().map(RayonPool).map_err(io::Error::other)
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

fn bind(cores: &CpuSet, worker: usize) {
    let number = worker % cores.count() as usize;
    let core = (0..CpuSet::MAX_CPU).filter(|core| cores.is_set(*core)).nth(number);
    let mut bound = CpuSet::new();
    core.into_iter().for_each(|core| bound.set(core));
    sched_setaffinity(None, &bound).expect("a core that the process may use");
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
        for [a, b] in [both_at_once::<HeistBound>(2), both_at_once::<RayonBound>(2)] {
            assert_ne!(a, b);
        }
        assert_eq!(Heist::start(3).unwrap().run(|()| heist::current_num_workers()), 3);
        assert_eq!(Rayon::start(3).unwrap().run(|()| rayon::current_num_threads()), 3);
    }

    /// How many cores the first worker may use.
    fn cores_of_a_worker<P: Pool>() -> u32 {
        P::start(2).unwrap().run(|_| sched_getaffinity(None).unwrap().count())
    }

    #[test]
    fn workers_are_bound_or_not() {
        assert_eq!([cores_of_a_worker::<HeistBound>(), cores_of_a_worker::<RayonBound>()], [1, 1]);
        let all = sched_getaffinity(None).unwrap().count();
        assert_eq!([cores_of_a_worker::<Heist>(), cores_of_a_worker::<Rayon>()], [all, all]);
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
