//! `heist bench`: heist beside its peers, as a table and as plots.
//!
//! heist-bench, a program of its own, measures. It is built with all peers, which users of `heist`
//! should not have to compile. This module finds and runs it, and turns its results into a report.

mod error;
mod markdown;
mod origin;
mod page;
mod plot;
mod program;
mod report;
mod results;

use std::error::Error as StdError;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::error::Error;
use self::origin::Origin;
use self::program::Program;
use self::results::Results;
use crate::style::unless_nobody_reads;

const EXAMPLES: &str = "\
Examples:
  heist bench                            everything; takes a while
  heist bench spawn_local yield_many     two benches
  heist bench echo_tcp --peers tokio     all whose name contains it, against one peer
  heist bench --list                     what there is
  heist bench --from results.json        the report of an earlier run, nothing is run";

/// Measure heist beside its peers: tables and plots.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The bench of this name, else all whose name contains it; without any, all
    #[arg(value_name = "BENCH")]
    benches: Vec<String>,

    /// Compare with these peers only
    #[arg(long, value_delimiter = ',', value_name = "A,B,…")]
    peers: Vec<String>,

    /// Worker threads per runtime [default: the machine's parallelism]
    #[arg(long, value_name = "N")]
    workers: Option<u16>,

    /// Samples per side [default: 21]
    #[arg(long, value_name = "N")]
    samples: Option<u32>,

    /// Where the report goes
    #[arg(short, long, value_name = "DIR", default_value = "heist-bench-report")]
    out: PathBuf,

    /// Run nothing: report what heist-bench has written to this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["benches", "peers", "workers", "samples"])]
    from: Option<PathBuf>,

    /// The heist-bench to run [default: of the repository around, beside this program, in the PATH]
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    program: Option<PathBuf>,

    /// Show the benches and their runtimes, and run none
    #[arg(long, conflicts_with = "from")]
    list: bool,
}

impl Args {
    /// Does what it was asked for.
    pub fn run(self) -> Result<ExitCode, Box<dyn StdError>> {
        if self.list {
            Program::find(self.program.as_deref())?.list(&self.benches)?;
            return Ok(ExitCode::SUCCESS);
        }
        let (results, origin, complete) = match &self.from {
            Some(file) => (Results::read(file)?, Origin::File(file.clone()), Ok(())),
            None => self.measure()?,
        };
        let written = report::write(&self.out, &results, &origin)?;
        unless_nobody_reads(writeln!(io::stdout(), "{written}"))?;
        complete?;
        Ok(ExitCode::SUCCESS)
    }

    /// What was measured; the last of the three is what went wrong after that.
    fn measure(&self) -> Result<(Results, Origin, Result<(), Error>), Error> {
        let program = Program::find(self.program.as_deref())?;
        create(&self.out)?;
        // Not the file of the last run: if this one is interrupted, its results are not taken for
        // new.
        let unfinished = self.out.join("results.json.part");
        remove(&unfinished)?;
        let outcome = program.measure(&unfinished, &self.options());
        let results = match (Results::read(&unfinished), outcome) {
            (Ok(results), outcome) => (results, Origin::here(), outcome),
            (Err(_), Err(error)) | (Err(error), Ok(())) => return Err(error),
        };
        let finished = self.out.join("results.json");
        fs::rename(&unfinished, &finished).map_err(Error::write(&finished))?;
        Ok(results)
    }

    fn options(&self) -> Vec<String> {
        let mut options = self.benches.clone();
        let mut add = |name: &str, value: Option<String>| {
            options.extend(value.map(|value| format!("--{name}={value}")));
        };
        add("peers", (!self.peers.is_empty()).then(|| self.peers.join(",")));
        add("workers", self.workers.map(|workers| workers.to_string()));
        add("samples", self.samples.map(|samples| samples.to_string()));
        options
    }
}

fn create(directory: &Path) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(Error::write(directory))
}

fn remove(file: &Path) -> Result<(), Error> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::write(file)(error)),
        _ => Ok(()),
    }
}
