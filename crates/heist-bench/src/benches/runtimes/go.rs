//! The Go side: programs of its own, as no other process has a Go runtime.

use std::time::Duration;

use super::blockade::Hold;
use super::stall::Gaps;
use crate::bench::Fault;
use crate::benches::driver::GIVE_UP;
use crate::benches::foreign::language::Language;
use crate::benches::foreign::program::{Program, Source};
use crate::benches::foreign::run::{output_within, said};

pub static STALL: Source = Source {
    name: "stall.go",
    text: include_str!("../../../peers/go/stall.go"),
    language: Language::Go,
};

pub static SERVE: Source = Source {
    name: "serve.go",
    text: include_str!("../../../peers/go/serve.go"),
    language: Language::Go,
};

/// Runs `STALL` once.
pub fn stall(program: &Program, workers: usize, hold: Hold, time: Duration) -> Result<Gaps, Fault> {
    let hold = match hold {
        Hold::Block => "block",
        Hold::Burn => "burn",
    };
    let mut command = program.command();
    command.args([&workers.to_string(), &time.as_millis().to_string(), hold]);
    let output = output_within(&mut command, GIVE_UP)?;
    parse(&said(program.source.name, &output)?)
}

fn parse(line: &str) -> Result<Gaps, Fault> {
    let numbers: Option<Vec<f64>> =
        line.split_whitespace().map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[longest, p99]) if 0.0 <= p99 && p99 <= longest => Ok(Gaps { longest, p99 }),
        _ => Err(Fault::Program { program: STALL.name, said: line.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `true` builds nothing.
    #[test]
    fn a_program_that_cannot_be_started_is_a_fault() {
        let program = Program::build_with("true", &STALL).unwrap();
        let fault = stall(&program, 1, Hold::Block, Duration::from_millis(1)).unwrap_err();
        assert!(matches!(fault, Fault::Setup(_)), "{fault}");
    }

    #[test]
    fn two_numbers_are_the_gaps_and_anything_else_is_a_fault() {
        assert_eq!(parse("20.5 1.25").unwrap(), Gaps { longest: 20.5, p99: 1.25 });
        for line in ["", "1", "1 2", "1 -1", "NaN NaN", "2 1 1", "2 one"] {
            let message = parse(line).unwrap_err().to_string();
            assert_eq!(message, format!("the program stall.go failed: {line}"));
        }
    }
}
