//! The command line.

use std::io::{self, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::bench::{Bench, Runtime, Setup};
use crate::benches::foreign::language;
use crate::benches::runtimes::net::calls::Counter;
use crate::error::Error;
use crate::progress::Progress;
use crate::report::json::JsonFile;
use crate::report::table::{self, Table};
use crate::run::{self, Measured, Plan};
use crate::select;

/// Odd, so that the median is a sample. Guessed: p10 and p90 stand on two samples each.
const SAMPLES: usize = 21;

/// Long against the clock's resolution and a timer interrupt, short enough for a sample to
/// often miss the scheduler's other ideas. Guessed.
const TARGET: Duration = Duration::from_millis(10);

/// Runs heist and its peers side by side.
#[derive(Debug, Parser)]
#[command(name = "heist-bench", version)]
pub struct Args {
    /// The bench of this name, else all whose name contains it
    #[arg(value_name = "BENCH")]
    pub filters: Vec<String>,

    /// Compare with these peers only; heist itself always runs
    ///
    /// Some run only if they are named here: heist in another way, threads without a runtime, and
    /// those that are written in another language. These are built when the run begins, and left
    /// out, with a message, where what they need is missing: go needs Go; tbb g++ and oneTBB; java
    /// a JDK.
    #[arg(long, value_delimiter = ',', value_name = "A,B,…")]
    pub peers: Vec<Runtime>,

    /// Worker threads per runtime [default: the machine's parallelism]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: Option<u16>,

    /// Samples per side [default: 21]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub samples: Option<u32>,

    /// Write the results to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Show the benches and their runtimes, and run none
    #[arg(long)]
    pub list: bool,

    /// Next to no work: checks that the benches run, measures nothing
    #[arg(long, hide = true)]
    pub quick: bool,
}

impl Args {
    fn plan(&self) -> Plan {
        let parallelism = || std::thread::available_parallelism().map_or(1, NonZero::get);
        let samples = if self.quick { 2 } else { SAMPLES };
        Plan {
            setup: Setup {
                workers: self.workers.map_or_else(parallelism, usize::from),
                quick: self.quick,
            },
            samples: self.samples.map_or(samples, |samples| samples as usize),
            target: if self.quick { Duration::from_micros(100) } else { TARGET },
        }
    }
}

/// Does what the command line asks for; says on the standard error what went wrong.
pub fn main(benches: Vec<Bench>, args: &Args) -> ExitCode {
    match execute(benches, args, &mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// Whatever goes wrong in a bench, the results of those before it are written first.
pub fn execute(benches: Vec<Bench>, args: &Args, out: &mut dyn Write) -> Result<(), Error> {
    let mut benches = select::by_filters(benches, &args.filters)?;
    select::by_peers(&mut benches, &args.peers);
    if args.list {
        return table::list(out, &benches).map_err(Error::Output);
    }
    for (runtime, fault) in select::by_what_is_there(&mut benches, language::check) {
        eprintln!("{runtime} is left out: {fault}");
    }
    if let Err(fault) = select::by_what_counts(&mut benches, Counter::check) {
        eprintln!("the rows of system calls are left out: {fault}");
    }
    let json = args.json.as_deref().map(JsonFile::open).transpose()?;
    let plan = args.plan();
    let mut results = Vec::new();
    let outcome = run_all(&benches, &plan, &mut results, out);
    let written = json.map_or(Ok(()), |file| file.write(&results, plan.setup.workers));
    outcome.and(written)
}

fn run_all(
    benches: &[Bench],
    plan: &Plan,
    results: &mut Vec<Measured>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let table = Table::new(benches);
    table.header(out, plan).map_err(Error::Output)?;
    let sides: usize = benches.iter().map(|bench| bench.sides.len()).sum();
    let mut progress = Progress::new(benches.len(), sides * plan.samples);
    for bench in benches {
        progress.begin(bench.name());
        let measured = run::measure(bench, plan, || progress.step())?;
        let mut rows = measured.iter();
        let printed = progress.pause(|| rows.try_for_each(|row| table.rows(out, row)));
        results.extend(measured);
        printed.map_err(Error::Output)?;
    }
    drop(progress);
    table.summary(out, results).map_err(Error::Output)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from(std::iter::once(&"heist-bench").chain(args))
    }

    #[test]
    fn peers_are_a_list_of_known_names() {
        let args = parse(&["--peers", "st3,crossbeam"]).unwrap();
        assert_eq!(args.peers, [Runtime::St3, Runtime::Crossbeam]);
        let message = parse(&["--peers", "st4"]).unwrap_err().to_string();
        assert!(message.contains("st4") && message.contains("crossbeam, st3"), "{message}");
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for (flag, value) in [
            ("--samples", "0"),
            ("--samples", "1000000000"),
            ("--workers", "0"),
            ("--workers", "100000"),
            ("--workers", "two"),
        ] {
            let message = parse(&[flag, value]).unwrap_err().to_string();
            assert!(message.contains(flag) && message.contains(value), "{message}");
        }
    }

    #[test]
    fn samples_and_workers_reach_the_plan() {
        let plan = parse(&["--samples", "5", "--workers", "3"]).unwrap().plan();
        assert_eq!((plan.samples, plan.setup.workers), (5, 3));
        assert_eq!(parse(&[]).unwrap().plan().samples, SAMPLES);
    }
}
