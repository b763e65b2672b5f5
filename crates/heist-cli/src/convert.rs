//! `heist trace convert`: a trace for people to look at.
//!
//! | module | what |
//! |---|---|
//! | `book` | a first reading: from when to when, how much of what, where tasks were spawned |
//! | `follow` | a second one: what began and ended, and what came of which wake |
//! | `perfetto` | what was followed as Chrome's JSON, which Perfetto opens |
//! | `html` | the same as one page that needs nothing else |
//! | `output` | the file, which appears when it is whole |

mod book;
mod follow;
mod html;
mod output;
mod perfetto;

use book::Book;
use clap::{Args, Subcommand, ValueEnum};
use heist::trace::{ReadError, Trace};
use output::Output;
use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Work with traces.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, Subcommand)]
enum TraceCommand {
    /// Make a page or a Perfetto trace of a trace.
    #[command(after_help = "\
Examples:
  HEIST_TRACE=run.trace my-program
  heist trace convert run.trace --to html          # open run.trace.html in a browser
  heist trace convert run.trace --to perfetto      # open run.trace.json in https://ui.perfetto.dev
  heist trace convert run.trace --to html --from 1.5s --until 1520ms -o part.html")]
    Convert(ConvertArgs),
}

#[derive(Debug, Args)]
struct ConvertArgs {
    /// The trace: what HEIST_TRACE=FILE or Handle::dump_trace wrote.
    file: PathBuf,
    /// What to make of it.
    #[arg(long, value_enum)]
    to: Format,
    /// Where to; `-` is standard output [default: FILE with .html or .json behind it].
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Leave out what happened before, as in 1.5s, 20ms, 300us.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    from: Option<Duration>,
    /// Leave out what happened after.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Duration>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// JSON for https://ui.perfetto.dev and chrome://tracing.
    Perfetto,
    /// One page with a timeline and charts, which works offline.
    Html,
}

/// The part of a trace that is wanted, in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Window {
    from: u64,
    until: u64,
}

/// Why nothing came of a conversion.
#[derive(Debug)]
enum ConvertError {
    /// The part that was asked for is no part of the trace, which goes from the one to the other of
    /// these.
    Outside(PathBuf, Duration, Duration),
    /// The output would take the place of the trace.
    Itself(PathBuf),
    Read(PathBuf, ReadError),
    Write(PathBuf, io::Error),
}

impl TraceArgs {
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let TraceCommand::Convert(arguments) = self.command;
        Ok(arguments.run()?)
    }
}

impl ConvertArgs {
    fn run(self) -> Result<ExitCode, ConvertError> {
        let read_error = |error| ConvertError::Read(self.file.clone(), error);
        let window = Window {
            from: nanos(self.from.unwrap_or(Duration::ZERO)),
            until: nanos(self.until.unwrap_or(Duration::MAX)),
        };
        let trace = Trace::open(&self.file).map_err(read_error)?;
        let book = Book::read(&trace, window).map_err(read_error)?;
        let (first, last) = book.whole;
        let is_empty = window.from > window.until;
        if is_empty || window.from > nanos(last) || window.until < nanos(first) {
            return Err(ConvertError::Outside(self.file, first, last));
        }
        let path = self.output_path();
        if is_same(&self.file, &path) {
            return Err(ConvertError::Itself(path));
        }
        let write_error = |error| ConvertError::Write(path.clone(), error);
        let mut output = Output::create(&path).map_err(write_error)?;
        let result = match self.to {
            Format::Perfetto => perfetto::write(&trace, &book, window, &mut output),
            Format::Html => html::write(&trace, &book, window, &mut output),
        };
        match result {
            Ok(()) => {}
            Err(WriteError::Read(error)) => return Err(read_error(error)),
            Err(WriteError::Write(error)) if is_broken_pipe(&error, &path) => {
                return Ok(ExitCode::SUCCESS);
            }
            Err(WriteError::Write(error)) => return Err(write_error(error)),
        }
        let bytes = match output.finish() {
            Err(error) if is_broken_pipe(&error, &path) => return Ok(ExitCode::SUCCESS),
            result => result.map_err(write_error)?,
        };
        if path.as_os_str() != "-" {
            let size = bytes as f64 / 1e6;
            eprintln!("{}: {size:.1} MB; {}", path.display(), self.to.what_next());
        }
        Ok(ExitCode::SUCCESS)
    }

    fn output_path(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| {
            let mut path = self.file.clone().into_os_string();
            path.push(self.to.suffix());
            path.into()
        })
    }
}

impl Format {
    fn suffix(self) -> &'static str {
        match self {
            Format::Perfetto => ".json",
            Format::Html => ".html",
        }
    }

    fn what_next(self) -> &'static str {
        match self {
            Format::Perfetto => "open it in https://ui.perfetto.dev",
            Format::Html => "open it in a browser",
        }
    }
}

/// What can go wrong while both files are open.
#[derive(Debug)]
enum WriteError {
    Read(ReadError),
    Write(io::Error),
}

impl From<ReadError> for WriteError {
    fn from(error: ReadError) -> Self {
        WriteError::Read(error)
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        WriteError::Write(error)
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConvertError::Outside(path, first, last) => write!(
                f,
                "{}: --from and --until leave nothing of the trace, which goes from {first:.1?} to {last:.1?}",
                path.display()
            ),
            ConvertError::Itself(path) => write!(
                f,
                "{} is the trace itself, which would be lost; give the output another name",
                path.display()
            ),
            ConvertError::Read(path, error) => write!(f, "{}: {error}", path.display()),
            ConvertError::Write(path, error) => {
                write!(f, "{} cannot be written: {error}", path.display())
            }
        }
    }
}

impl Error for ConvertError {}

/// Whether both are the same file, by whatever names.
fn is_same(a: &Path, b: &Path) -> bool {
    let file = |path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((file(a), file(b)), (Ok(a), Ok(b)) if a == b)
}

/// Whether the reader of standard output has closed the pipe.
fn is_broken_pipe(error: &io::Error, path: &Path) -> bool {
    path.as_os_str() == "-" && error.kind() == io::ErrorKind::BrokenPipe
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time; write it as 1.5s, 20ms, 300us or 70ns");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" => 1e-6,
        "ns" => 1e-9,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * unit).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(parse_time("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_time("20ms"), Ok(Duration::from_millis(20)));
        assert_eq!(parse_time("300us"), Ok(Duration::from_micros(300)));
        assert_eq!(parse_time("70ns"), Ok(Duration::from_nanos(70)));
        for wrong in
            ["", "5", "s", "1.2.3s", "5 min", "-1s", "1e99s", "NaNs", "99999999999999999999s"]
        {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }
}
