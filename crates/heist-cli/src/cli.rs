//! The command line.

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use std::error::Error;
use std::io;
use std::process::ExitCode;

use crate::bench;
use crate::top;

/// See what a heist runtime does, and why.
#[derive(Debug, Parser)]
#[command(name = "heist", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Top(top::Args),

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
        match self.command {
            Command::Top(args) => args.run(),
            Command::Bench(args) => args.run(),
            Command::Completions { shell } => {
                clap_complete::generate(shell, &mut Cli::command(), "heist", &mut io::stdout());
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}
