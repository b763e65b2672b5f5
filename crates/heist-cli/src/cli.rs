//! The command line.

use crate::convert::TraceArgs;
use crate::style::unless_nobody_reads;
use crate::{bench, demo, doctor, top};
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

/// See what a heist runtime does, and why.
#[derive(Debug, Parser)]
#[command(name = "heist", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what the runtime does, on this machine, in a few seconds (also without any command).
    Demo(demo::Args),
    Top(top::Args),
    /// Say what is wrong with a program, why, and what to do.
    Doctor(doctor::Args),
    /// Work with traces.
    Trace(TraceArgs),
    Bench(bench::Args),
    /// Print the completions for a shell.
    Completions {
        /// For which shell.
        shell: Shell,
    },
}

impl Cli {
    /// Does what it was asked for.
    pub fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        match self.command.unwrap_or_else(|| Command::Demo(demo::Args::default())) {
            Command::Trace(arguments) => arguments.run(),
            Command::Demo(args) => demo::run(&args),
            Command::Doctor(args) => doctor::run(&args),
            Command::Top(args) => args.run(),
            Command::Bench(args) => args.run(),
            Command::Completions { shell } => {
                // First to memory: clap_complete panics where it cannot write.
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Cli::command(), "heist", &mut script);
                unless_nobody_reads(io::stdout().write_all(&script))?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}
