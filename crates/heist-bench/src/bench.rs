//! What a bench is made of.

use std::fmt;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::received::Mismatch;
use crate::unit::Unit;

/// Everything that takes part in some bench. A new peer is a new variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Runtime {
    Heist,
    Crossbeam,
    St3,
    Tokio,
    Smol,
    Nio,
    Rayon,
    Chili,
    /// Tasks on one, jobs on the other.
    TokioRayon,
    /// Plain calls, one after another.
    Sequential,
    /// Heist once more: how far from 1 the ratio of equals is.
    HeistAgain,
    /// Heist with one worker, however many the others have.
    HeistOne,
    /// Heist without worker threads.
    HeistAlone,
    /// Tokio without worker threads.
    TokioAlone,
    /// Heist that watches no worker for stalls: what is lost against it, the watching costs.
    HeistUnwatched,
    /// Heist that records what its workers do: what it loses, the recording costs.
    HeistTraced,
    /// oneTBB, in a process of its own.
    Tbb,
    /// The Go runtime, in a process of its own.
    Go,
    /// Java's ForkJoinPool, in a process of its own.
    Java,
    /// Threads with an epoll each, and no runtime: what the system leaves to one.
    Bare,
    /// One such thread, however many workers the others have.
    BareOne,
}

impl Runtime {
    /// Runs only if the command line names it: no peer, but another heist, or one that needs
    /// what cargo does not bring along.
    pub fn is_on_demand(self) -> bool {
        let others = [Runtime::HeistAgain, Runtime::HeistUnwatched, Runtime::HeistTraced];
        let small = [Runtime::HeistOne, Runtime::HeistAlone, Runtime::TokioAlone];
        let bare = [Runtime::Bare, Runtime::BareOne];
        let abroad = [Runtime::Tbb, Runtime::Go, Runtime::Java];
        [&others[..], &small, &bare, &abroad].iter().any(|group| group.contains(&self))
    }

    /// The name of this side on the command line, in the table and in the JSON.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Heist => "heist",
            Runtime::Crossbeam => "crossbeam",
            Runtime::St3 => "st3",
            Runtime::Tokio => "tokio",
            Runtime::Smol => "smol",
            Runtime::Nio => "nio",
            Runtime::Rayon => "rayon",
            Runtime::Chili => "chili",
            Runtime::TokioRayon => "tokio-rayon",
            Runtime::Sequential => "sequential",
            Runtime::HeistAgain => "heist-again",
            Runtime::HeistOne => "heist-one",
            Runtime::HeistAlone => "heist-alone",
            Runtime::TokioAlone => "tokio-alone",
            Runtime::HeistUnwatched => "heist-unwatched",
            Runtime::HeistTraced => "heist-traced",
            Runtime::Tbb => "tbb",
            Runtime::Go => "go",
            Runtime::Java => "java",
            Runtime::Bare => "bare",
            Runtime::BareOne => "bare-one",
        }
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One workload, and one side per runtime that does it.
pub struct Bench {
    /// The results of a sample, at least one, in this order. The first has the bench's name.
    pub rows: Vec<Row>,
    pub pace: Pace,
    pub sides: Vec<Side>,
}

/// A result of a sample, with its name and unit in the report.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub name: &'static str,
    /// One line; says what one operation is.
    pub about: &'static str,
    pub unit: Unit,
}

/// How much work one sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Enough iterations for a sample to be long enough to time: for operations of a few ns.
    Calibrated,
    /// One iteration: for workloads whose size is part of what the bench says.
    Once,
}

/// One runtime's part in a bench.
pub struct Side {
    pub runtime: Runtime,
    start: Rc<Start>,
}

type Start = dyn Fn(&Setup) -> Result<Subject, Fault>;

/// A side that is set up and can be sampled: does as many iterations as it is told, and checks
/// what came out.
///
/// It lives as long as its bench runs, next to the subjects of the other sides.
pub type Subject = Box<dyn FnMut(u64) -> Result<Sample, Fault>>;

impl Bench {
    pub fn new(name: &'static str, about: &'static str, unit: Unit, pace: Pace) -> Self {
        Bench { rows: vec![Row { name, about, unit }], pace, sides: Vec::new() }
    }

    /// Adds another result of each sample, such as a percentile beside a rate. Both come from one
    /// measurement.
    #[must_use]
    pub fn row(mut self, name: &'static str, about: &'static str, unit: Unit) -> Self {
        self.rows.push(Row { name, about, unit });
        self
    }

    /// `start` sets the side up, outside of anything that is timed.
    #[must_use]
    pub fn side<F, S>(mut self, runtime: Runtime, start: F) -> Self
    where
        F: Fn(&Setup) -> Result<S, Fault> + 'static,
        S: FnMut(u64) -> Result<Sample, Fault> + 'static,
    {
        let start = move |setup: &Setup| start(setup).map(|subject| Box::new(subject) as Subject);
        self.sides.push(Side { runtime, start: Rc::new(start) });
        self
    }

    /// Heist's side, a second time.
    pub fn repeat_heist(&mut self) {
        let heist = self.sides.iter().find(|side| side.runtime == Runtime::Heist);
        let again = heist.map(|side| Rc::clone(&side.start));
        self.sides.extend(again.map(|start| Side { runtime: Runtime::HeistAgain, start }));
    }

    pub fn name(&self) -> &'static str {
        self.rows[0].name
    }

    pub fn runtimes(&self) -> impl Iterator<Item = Runtime> {
        self.sides.iter().map(|side| side.runtime)
    }
}

impl Side {
    pub fn start(&self, setup: &Setup) -> Result<Subject, Fault> {
        (self.start)(setup)
    }
}

/// What a side may want to know when it is set up.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// Worker threads per runtime; the queues alone have none.
    pub workers: usize,
    /// Shrink the work: the numbers are worthless, the checks are not.
    pub quick: bool,
}

impl Setup {
    /// The size of a workload: `full`, or a hundredth of it in a quick run.
    pub fn scaled(&self, full: u64) -> u64 {
        if self.quick { (full / 100).max(1) } else { full }
    }
}

/// What one sample of one side came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Sample {
    Timed {
        elapsed: Duration,
        operations: u64,
    },
    /// A value in the unit of the bench, such as a size in memory.
    Value(f64),
    /// A value for each row of the bench, in its unit.
    Values(Vec<f64>),
}

impl Sample {
    /// Times all of `work`, which does `operations`.
    #[inline]
    pub fn time<T>(operations: u64, work: impl FnOnce() -> T) -> (Self, T) {
        let start = Instant::now();
        let result = work();
        (Sample::Timed { elapsed: start.elapsed(), operations }, result)
    }

    /// The sum over all iterations so far. Values do not add up; they come from benches with one
    /// iteration.
    #[must_use]
    pub fn sum(total: Option<Self>, sample: Self) -> Self {
        match (total, sample) {
            (
                Some(Sample::Timed { elapsed, operations }),
                Sample::Timed { elapsed: e, operations: o },
            ) => Sample::Timed { elapsed: elapsed + e, operations: operations + o },
            (_, sample) => sample,
        }
    }

    /// A value a unit: those of the rows of its bench.
    ///
    /// # Panics
    ///
    /// If it has another number of them.
    pub fn in_units(self, units: &[Unit]) -> Vec<f64> {
        let values = match self {
            Sample::Timed { elapsed, operations } => vec![units[0].of_time(elapsed, operations)],
            Sample::Value(value) => vec![value],
            Sample::Values(values) => values,
        };
        assert_eq!(values.len(), units.len(), "Sample::in_units: one value a row of the bench");
        values
    }
}

/// Why a side's sample does not count. Any of them fails the run.
#[derive(Debug)]
pub enum Fault {
    /// Items lost or doubled.
    Items(Mismatch),
    /// A number that has only one right value.
    Wrong { what: &'static str, expected: u64, found: u64 },
    /// Items that never came out, however long we waited.
    Stuck { waited: Duration },
    /// The side panicked; the message.
    Panicked(String),
    /// The system refused what the side needs to start, such as a thread.
    Setup(io::Error),
    /// The side is not available without something that cargo does not bring along.
    Missing { what: &'static str, install: &'static str },
    /// A program that the side runs did not do its part; what it said.
    Program { program: &'static str, said: String },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Items(mismatch) => write!(f, "{mismatch}"),
            Fault::Wrong { what, expected, found } => {
                write!(f, "{what}: expected {expected}, found {found}")
            }
            Fault::Stuck { waited } => write!(f, "made no progress for {} s", waited.as_secs()),
            Fault::Panicked(message) => write!(f, "panicked: {message}"),
            Fault::Setup(error) => write!(f, "could not be set up: {error}"),
            Fault::Missing { what, install } => {
                write!(f, "not available, as there is no {what} here: install {install}")
            }
            Fault::Program { program, said } => write!(f, "the program {program} failed: {said}"),
        }
    }
}

impl From<Mismatch> for Fault {
    fn from(mismatch: Mismatch) -> Self {
        Fault::Items(mismatch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_spells_runtimes_as_the_report_does() {
        for runtime in Runtime::value_variants() {
            let value = runtime.to_possible_value().expect("no runtime is hidden");
            assert_eq!(value.get_name(), runtime.name());
        }
    }

    #[test]
    fn values_are_taken_as_they_are_and_times_in_their_unit() {
        assert_eq!(Sample::Value(12.5).in_units(&[Unit::MiB]), [12.5]);
        let units = [Unit::Rate("items/s"), Unit::Us];
        assert_eq!(Sample::Values(vec![7.0, 0.5]).in_units(&units), [7.0, 0.5]);
        let timed = Sample::Timed { elapsed: Duration::from_millis(3), operations: 2 };
        assert_eq!(timed.in_units(&[Unit::Us]), [1500.0]);
    }

    #[test]
    fn times_of_iterations_add_up() {
        let timed =
            |ms, operations| Sample::Timed { elapsed: Duration::from_millis(ms), operations };
        let total = [timed(3, 10), timed(4, 20)]
            .into_iter()
            .fold(None, |total, sample| Some(Sample::sum(total, sample)));
        assert_eq!(total, Some(timed(7, 30)));
    }

    #[test]
    #[should_panic(expected = "one value a row")]
    fn a_row_without_a_value_is_refused() {
        Sample::Value(1.0).in_units(&[Unit::Us, Unit::Us]);
    }

    #[test]
    fn quick_work_is_small_but_never_nothing() {
        let quick = Setup { workers: 1, quick: true };
        assert_eq!(quick.scaled(200_000), 2000);
        assert_eq!(quick.scaled(1), 1);
        assert_eq!(Setup { quick: false, ..quick }.scaled(200_000), 200_000);
    }
}
