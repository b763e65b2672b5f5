//! Measures benches, their sides interleaved.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::bench::{Bench, Fault, Pace, Row, Runtime, Sample, Setup, Subject};
use crate::calibrate;
use crate::error::Error;
use crate::order;
use crate::unit::Unit;
use heist_testing::stats::{Interval, Stats};

/// How a run samples, the same for all of its benches.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub setup: Setup,
    pub samples: usize,
    /// How long a sample of the fastest side should take.
    pub target: Duration,
}

/// What one row of a bench came to, in the order of the bench's sides.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The row's name.
    pub bench: &'static str,
    pub unit: Unit,
    pub sides: Vec<Side>,
}

/// What one side of a row came to.
#[derive(Debug, Clone, Copy)]
pub struct Side {
    pub runtime: Runtime,
    pub stats: Stats,
    /// Where the ratio to it lies, by the ratios of the rounds. None for heist itself, or of too
    /// few rounds.
    pub sure: Option<Interval>,
}

impl Measured {
    /// How many times faster heist is than `peer`; None for heist itself.
    pub fn ratio(&self, peer: Runtime) -> Option<f64> {
        let median = |wanted| {
            self.sides.iter().find(|side| side.runtime == wanted).map(|side| side.stats.median)
        };
        if peer == Runtime::Heist {
            return None;
        }
        self.unit.ratio(median(Runtime::Heist)?, median(peer)?)
    }
}

/// Samples each side of `bench` `plan.samples` times, one round of all sides after another;
/// returns what each of its rows came to.
///
/// `step` is called after each sample.
pub fn measure(bench: &Bench, plan: &Plan, mut step: impl FnMut()) -> Result<Vec<Measured>, Error> {
    let mut running = Running::start(bench, &plan.setup)?;
    let iterations = running.warm_up(plan.target)?;
    let units: Vec<_> = bench.rows.iter().map(|row| row.unit).collect();
    // By row and side.
    let mut samples =
        vec![vec![Vec::with_capacity(plan.samples); bench.sides.len()]; bench.rows.len()];
    for order in order::rounds(bench.sides.len()).take(plan.samples) {
        for side in order {
            let values = running.sample(side, iterations)?.in_units(&units);
            for (row, value) in samples.iter_mut().zip(values) {
                row[side].push(value);
            }
            step();
        }
    }
    let runtimes: Vec<_> = bench.runtimes().collect();
    let measured = |(row, samples): (&Row, Vec<Vec<f64>>)| Measured {
        bench: row.name,
        unit: row.unit,
        sides: sides(&runtimes, row.unit, &samples),
    };
    Ok(bench.rows.iter().zip(samples).map(measured).collect())
}

/// What the samples of each runtime came to, which belong together round by round: the machine is
/// in the same mood for all of one.
fn sides(runtimes: &[Runtime], unit: Unit, samples: &[Vec<f64>]) -> Vec<Side> {
    let heist = runtimes.iter().position(|runtime| *runtime == Runtime::Heist);
    let sure = |values: &[f64]| {
        let rounds = samples[heist?].iter().zip(values);
        let ratios: Option<Vec<f64>> =
            rounds.map(|(heist, peer)| unit.ratio(*heist, *peer)).collect();
        Interval::of_median(&ratios?)
    };
    let side = |(&runtime, values): (&Runtime, &Vec<f64>)| Side {
        runtime,
        stats: Stats::of(values),
        sure: sure(values).filter(|_| runtime != Runtime::Heist),
    };
    runtimes.iter().zip(samples).map(side).collect()
}

/// A bench with all of its sides set up.
struct Running<'a> {
    bench: &'a Bench,
    subjects: Vec<Subject>,
}

impl<'a> Running<'a> {
    fn start(bench: &'a Bench, setup: &Setup) -> Result<Self, Error> {
        let mut subjects = Vec::with_capacity(bench.sides.len());
        for side in &bench.sides {
            let subject = caught(|| side.start(setup)).map_err(|fault| Error::Bench {
                bench: bench.name(),
                runtime: side.runtime,
                fault,
            })?;
            subjects.push(subject);
        }
        Ok(Running { bench, subjects })
    }

    /// Runs each side at least once without keeping the result; returns the iterations that
    /// each sample is to do.
    fn warm_up(&mut self, target: Duration) -> Result<u64, Error> {
        let mut iterations = 1;
        loop {
            let mut took = Vec::with_capacity(self.subjects.len());
            for side in 0..self.subjects.len() {
                let start = Instant::now();
                self.sample(side, iterations)?;
                took.push(start.elapsed());
            }
            let more = match self.bench.pace {
                Pace::Once => None,
                Pace::Calibrated => calibrate::next(iterations, &took, target),
            };
            match more {
                Some(more) => iterations = more,
                None => return Ok(iterations),
            }
        }
    }

    fn sample(&mut self, side: usize, iterations: u64) -> Result<Sample, Error> {
        caught(|| (self.subjects[side])(iterations)).map_err(|fault| Error::Bench {
            bench: self.bench.name(),
            runtime: self.bench.sides[side].runtime,
            fault,
        })
    }
}

/// A panic of one side ends the run like any other fault, so that what was measured before it
/// is still written.
fn caught<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .map(|message| (*message).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "without a message".to_owned());
        Err(Fault::Panicked(message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    fn plan(samples: usize) -> Plan {
        let setup = Setup { workers: 1, quick: true };
        Plan { setup, samples, target: Duration::from_micros(1) }
    }

    fn bench() -> Bench {
        Bench::new("test", "", Unit::Ns, Pace::Once)
    }

    #[test]
    fn sides_are_sampled_in_rounds_after_one_warm_up_each() {
        let turns = Rc::new(RefCell::new(String::new()));
        let side = |name: char| {
            let turns = Rc::clone(&turns);
            move |_: &Setup| {
                let turns = Rc::clone(&turns);
                Ok(move |_| {
                    turns.borrow_mut().push(name);
                    Ok(Sample::Value(1.0))
                })
            }
        };
        let bench = bench().side(Runtime::Heist, side('h')).side(Runtime::St3, side('s'));
        let mut steps = 0;
        measure(&bench, &plan(5), || steps += 1).unwrap();
        assert_eq!(steps, 10);
        let turns = turns.borrow();
        assert_eq!(turns.len(), 12);
        for round in turns.as_bytes().chunks(2) {
            assert_ne!(round[0], round[1], "{turns}");
        }
    }

    #[test]
    fn all_sides_do_the_same_number_of_iterations() {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let side = |ns: u64| {
            let seen = Rc::clone(&seen);
            move |_: &Setup| {
                let seen = Rc::clone(&seen);
                Ok(move |iterations| {
                    seen.borrow_mut().push(iterations);
                    std::thread::sleep(Duration::from_nanos(ns * iterations));
                    Ok(Sample::Value(1.0))
                })
            }
        };
        let mut bench = bench().side(Runtime::Heist, side(10)).side(Runtime::St3, side(1000));
        bench.pace = Pace::Calibrated;
        measure(&bench, &plan(3), || ()).unwrap();
        let seen = seen.borrow();
        let sampled = &seen[seen.len() - 6..];
        assert!(sampled.iter().all(|iterations| *iterations == sampled[0]), "{seen:?}");
    }

    #[test]
    fn each_row_has_the_statistics_of_its_own_values() {
        let side = |factor: f64| {
            move |_: &Setup| Ok(move |_| Ok(Sample::Values(vec![2.0 * factor, 3.0 * factor])))
        };
        let bench = bench()
            .row("test_p99", "", Unit::Us)
            .side(Runtime::Heist, side(1.0))
            .side(Runtime::St3, side(10.0));
        let measured = measure(&bench, &plan(3), || ()).unwrap();
        let found: Vec<_> = measured
            .iter()
            .map(|row| (row.bench, row.unit, row.sides[0].stats.median, row.sides[1].stats.median))
            .collect();
        assert_eq!(found, [("test", Unit::Ns, 2.0, 20.0), ("test_p99", Unit::Us, 3.0, 30.0)]);
    }

    #[test]
    fn a_panic_is_a_fault_with_its_message() {
        let bench = bench().side(Runtime::St3, |_: &Setup| {
            Ok(|_| -> Result<Sample, Fault> { std::panic::panic_any("lost my way") })
        });
        let error = measure(&bench, &plan(1), || ()).unwrap_err();
        assert_eq!(error.to_string(), "bench test, runtime st3: panicked: lost my way");
    }

    #[test]
    fn ratios_compare_medians() {
        let sides = sides(&[Runtime::Heist, Runtime::St3], Unit::Ns, &[vec![2.0], vec![3.0]]);
        let measured = Measured { bench: "test", unit: Unit::Ns, sides };
        assert_eq!(measured.ratio(Runtime::St3), Some(1.5));
        assert_eq!(measured.ratio(Runtime::Heist), None);
        assert_eq!(measured.ratio(Runtime::Crossbeam), None);
    }

    /// A machine that is three times as slow in some rounds shows in the spread of each side, and
    /// not in that of the ratios.
    #[test]
    fn the_interval_of_a_ratio_comes_from_rounds() {
        let heist: Vec<f64> = (0..20).map(|round| f64::from(1 + round % 3)).collect();
        let peer: Vec<f64> = heist.iter().map(|time| time * 1.5).collect();
        let runtimes = [Runtime::Crossbeam, Runtime::Heist];
        let found = sides(&runtimes, Unit::Ns, &[peer.clone(), heist.clone()]);
        assert_eq!(found[0].sure, Some(Interval { low: 1.5, high: 1.5 }));
        assert_eq!(found[1].sure, None);
        let few = sides(&runtimes, Unit::Ns, &[peer[..5].to_vec(), heist[..5].to_vec()]);
        assert_eq!(few[0].sure, None);
    }
}
