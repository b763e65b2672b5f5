//! Jobs of a scope, each in a block of memory of its own.

use super::sides::{Heist, Rayon};
use super::{Pool, driven, expect};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::unit::Unit;

const JOBS: u64 = 1_000_000;

/// A pool with scopes.
pub trait Scopes: Pool {
    type Scope<'scope>;

    /// Opens a scope. May be called only where the pool's closures can join.
    fn scope<'scope>(f: impl FnOnce(&Self::Scope<'scope>) + Send);

    fn spawn<'scope, F>(scope: &Self::Scope<'scope>, job: F)
    where
        F: FnOnce(&Self::Scope<'scope>) + Send + 'scope;
}

pub fn benches() -> Vec<Bench> {
    vec![
        bench(
            "scope_spawn",
            "a scope spawns 1 000 000 jobs that do next to nothing; per job",
            false,
        ),
        bench("scope_tree", "the same number, each job spawns the next two; per job", true),
    ]
}

fn bench(name: &'static str, about: &'static str, is_tree: bool) -> Bench {
    Bench::new(name, about, Unit::Ns, Pace::Calibrated)
        .side(Runtime::Heist, move |setup| side::<Heist>(setup, is_tree))
        .side(Runtime::Rayon, move |setup| side::<Rayon>(setup, is_tree))
}

fn side<P: Scopes>(
    setup: &Setup,
    is_tree: bool,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<P>, Fault> {
    driven(setup, move |setup| {
        let pool = P::start(setup.workers).map_err(Fault::Setup)?;
        let mut slots = vec![0; setup.scaled(JOBS) as usize];
        Ok(move |iterations| {
            let mut total = None;
            for _ in 0..iterations {
                total = Some(Sample::sum(total, once(&pool, &mut slots, is_tree)?));
            }
            Ok(total.expect("a sample has iterations"))
        })
    })
}

fn once<P: Scopes>(pool: &P, slots: &mut [u8], is_tree: bool) -> Result<Sample, Fault> {
    slots.fill(0);
    let jobs = slots.len() as u64;
    let (sample, ()) = Sample::time(jobs, || {
        pool.run(|_| if is_tree { tree::<P>(slots) } else { flat::<P>(slots) });
    });
    // One job too many in one slot does not make up for one too few in another.
    let once = slots.iter().filter(|runs| **runs == 1).count();
    expect("jobs that ran once", jobs, once as u64)?;
    Ok(sample)
}

fn flat<P: Scopes>(slots: &mut [u8]) {
    P::scope(|scope| {
        for slot in slots {
            P::spawn(scope, move |_| *slot = slot.wrapping_add(1));
        }
    });
}

fn tree<P: Scopes>(slots: &mut [u8]) {
    P::scope(|scope| branch::<P>(scope, slots));
}

/// A job a slot.
fn branch<'scope, P: Scopes>(scope: &P::Scope<'scope>, slots: &'scope mut [u8]) {
    let Some((slot, rest)) = slots.split_first_mut() else { return };
    P::spawn(scope, move |scope| {
        *slot = slot.wrapping_add(1);
        let (left, right) = rest.split_at_mut(rest.len() / 2);
        branch::<P>(scope, left);
        branch::<P>(scope, right);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loses a job.
    struct Careless;

    impl Pool for Careless {
        type Context<'s> = ();

        fn start(_: usize) -> std::io::Result<Self> {
            Ok(Careless)
        }

        fn run<R: Send>(&self, work: impl FnOnce(&mut ()) -> R + Send) -> R {
            work(&mut ())
        }

        fn join<A, B, RA, RB>(_: &mut (), _: A, _: B) -> (RA, RB) {
            unreachable!("scopes only")
        }
    }

    impl Scopes for Careless {
        type Scope<'scope> = std::cell::Cell<u64>;

        fn scope<'scope>(f: impl FnOnce(&Self::Scope<'scope>) + Send) {
            f(&std::cell::Cell::new(0));
        }

        fn spawn<'scope, F>(scope: &Self::Scope<'scope>, job: F)
        where
            F: FnOnce(&Self::Scope<'scope>) + Send + 'scope,
        {
            scope.set(scope.get() + 1);
            if scope.get() != 50 {
                job(scope);
            }
        }
    }

    #[test]
    fn a_lost_job_is_a_fault() {
        for is_tree in [false, true] {
            let rayon = Rayon::start(2).unwrap();
            once(&rayon, &mut [0; 100], is_tree).unwrap();
        }
        let message = once(&Careless, &mut [0; 100], false).unwrap_err().to_string();
        assert_eq!(message, "jobs that ran once: expected 100, found 99");
    }
}
