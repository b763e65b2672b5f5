//! The same programs in other languages: processes of their own, which do one program each and are
//! asked for it in turns with the other sides.
//!
//! What a process says is a time and a digest of what came out. The inputs follow from the same
//! random numbers on all sides, so there is one right digest, and it is found here.

use std::time::Duration;

use super::{Work, expect};
use crate::bench::{Bench, Fault, Runtime, Sample, Setup};
use crate::benches::driver::GIVE_UP;
use crate::benches::foreign::language::Language;
use crate::benches::foreign::process::Process;
use crate::benches::foreign::program::{Program, Source};
use crate::unit::Unit;

/// A work that is also written in other languages.
pub trait Abroad: Work {
    fn problem(&self) -> Problem;
}

/// What such a program is told, and has to find.
#[derive(Debug)]
pub struct Problem {
    /// Its name and its sizes.
    pub words: String,
    pub digest: u64,
}

/// A digest of numbers, which depends on their order.
pub fn digest(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0_u64, |digest, number| digest.wrapping_mul(0x0100_0000_01B3).wrapping_add(number))
}

static TBB: Source = Source {
    name: "fork_join.cpp",
    text: include_str!("../../../peers/tbb/fork_join.cpp"),
    language: Language::Cpp,
};

static GO: Source = Source {
    name: "fork_join.go",
    text: include_str!("../../../peers/go/fork_join.go"),
    language: Language::Go,
};

static JAVA: Source = Source {
    name: "ForkJoin.java",
    text: include_str!("../../../peers/java/ForkJoin.java"),
    language: Language::Java,
};

/// The time after which Java has compiled the program. Guessed: half a second is enough for most of
/// it.
const WARM_UP: Duration = Duration::from_secs(3);

/// As `super::bench`, with the sides that are written in other languages.
pub fn bench<W, M>(name: &'static str, about: &'static str, unit: Unit, make: M) -> Bench
where
    W: Abroad,
    M: Fn(&Setup) -> W + Clone + Send + 'static,
{
    let mut bench = super::bench(name, about, unit, make.clone());
    for (runtime, source) in [(Runtime::Tbb, &TBB), (Runtime::Go, &GO), (Runtime::Java, &JAVA)] {
        let make = make.clone();
        bench = bench.side(runtime, move |setup| {
            let mut session = Session::start(source, setup, &make(setup))?;
            Ok(move |iterations| session.sample(iterations))
        });
    }
    bench
}

/// A process that does one program.
struct Session {
    process: Process,
    /// It is there as long as the process may need it.
    _program: Program,
    operations: u64,
    digest: u64,
}

impl Session {
    fn start<W: Abroad>(source: &'static Source, setup: &Setup, work: &W) -> Result<Self, Fault> {
        let Problem { words, digest } = work.problem();
        let program = Program::build(source)?;
        let mut command = program.command();
        let warm_up = if setup.quick { Duration::ZERO } else { WARM_UP };
        command.args([setup.workers.to_string(), warm_up.as_millis().to_string()]);
        command.args(words.split(' '));
        let process = Process::start(source.name, command)?;
        let line = process.line(GIVE_UP)?;
        if line != "ready" {
            return Err(process.nonsense(&line));
        }
        Ok(Session { process, _program: program, operations: work.operations(), digest })
    }

    fn sample(&mut self, iterations: u64) -> Result<Sample, Fault> {
        self.process.tell(&iterations.to_string());
        let line = self.process.line(GIVE_UP)?;
        let (elapsed, digests) = parse(&line).ok_or_else(|| self.process.nonsense(&line))?;
        expect("sum of the digests", self.digest.wrapping_mul(iterations), digests)?;
        Ok(Sample::Timed { elapsed, operations: self.operations * iterations })
    }
}

/// Nanoseconds, and the sum of the digests.
fn parse(line: &str) -> Option<(Duration, u64)> {
    let (nanoseconds, digests) = line.split_once(' ')?;
    Some((Duration::from_nanos(nanoseconds.parse().ok()?), digests.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::Pool;
    use super::*;
    use crate::benches::foreign::language;

    const QUICK: Setup = Setup { workers: 2, quick: true };

    /// A work whose problem is what the test says.
    struct Told {
        words: &'static str,
        digest: u64,
    }

    impl Work for Told {
        fn operations(&self) -> u64 {
            7
        }

        fn compute<P: Pool>(&mut self, _: &mut P::Context<'_>) {}

        fn check(&mut self) -> Result<(), Fault> {
            Ok(())
        }
    }

    impl Abroad for Told {
        fn problem(&self) -> Problem {
            Problem { words: self.words.to_owned(), digest: self.digest }
        }
    }

    /// Those whose tools are here; that there are none is no reason to fail.
    fn sources() -> impl Iterator<Item = &'static Source> {
        [(Runtime::Tbb, &TBB), (Runtime::Go, &GO), (Runtime::Java, &JAVA)].into_iter().filter_map(
            |(runtime, source)| match language::check(runtime) {
                Ok(()) => Some(source),
                Err(fault) => {
                    eprintln!("skipped: {runtime} is {fault}");
                    None
                }
            },
        )
    }

    #[test]
    fn it_is_asked_in_turns_and_each_result_counts() {
        for source in sources() {
            let work = Told { words: "fib 10", digest: 55 };
            let mut session = Session::start(source, &QUICK, &work).unwrap();
            for iterations in [1, 3] {
                let sample = session.sample(iterations).unwrap();
                let Sample::Timed { operations, .. } = sample else { panic!("{sample:?}") };
                assert_eq!(operations, 7 * iterations);
            }
        }
    }

    #[test]
    fn a_wrong_result_is_a_fault() {
        for source in sources() {
            let work = Told { words: "nqueens 8", digest: 91 };
            let mut session = Session::start(source, &QUICK, &work).unwrap();
            let message = session.sample(2).unwrap_err().to_string();
            assert_eq!(message, "sum of the digests: expected 182, found 184", "{}", source.name);
        }
    }

    #[test]
    fn a_program_that_does_not_know_its_problem_is_a_fault() {
        for source in sources() {
            let fault = Session::start(source, &QUICK, &Told { words: "rest 1", digest: 0 }).err();
            assert!(matches!(fault, Some(Fault::Program { .. })), "{}", source.name);
        }
    }

    #[test]
    fn a_time_and_a_digest_are_a_report_and_anything_else_is_not() {
        assert_eq!(parse("1500 77"), Some((Duration::from_nanos(1500), 77)));
        for line in ["", "ready", "1500", "1500 -1", "1.5 77", "1500 77 "] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    /// The numbers that the other programs must compute.
    #[test]
    fn digests_know_the_order() {
        assert_eq!(digest([1, 2].into_iter()), 0x0100_0000_01B5);
        assert_ne!(digest([1, 2].into_iter()), digest([2, 1].into_iter()));
    }
}
