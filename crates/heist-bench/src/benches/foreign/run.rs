//! Programs that take part in a bench: run, waited for, and asked what they have to say.

use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::Fault;

/// How often it is asked whether a program has ended: seldom, as it is being measured.
const POLL: Duration = Duration::from_millis(20);

/// Like `Command::output`, for a program that may not end and that says little.
pub fn output_within(command: &mut Command, patience: Duration) -> Result<Output, Fault> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Fault::Setup)?;
    let start = Instant::now();
    while child.try_wait().map_err(Fault::Setup)?.is_none() {
        if start.elapsed() >= patience {
            // It may have ended just now; there is nothing to do about it in either case.
            let _ = child.kill();
            let _ = child.wait();
            return Err(Fault::Stuck { waited: patience });
        }
        thread::sleep(POLL);
    }
    child.wait_with_output().map_err(Fault::Setup)
}

/// What a program that did well has said on its standard output.
pub fn said(program: &'static str, output: &Output) -> Result<String, Fault> {
    let text = |bytes| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let said = format!("{}: {}", output.status, text(&output.stderr));
    Err(Fault::Program { program, said })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_given_up() {
        let mut endless = Command::new("sleep");
        let fault = output_within(endless.arg("600"), Duration::from_millis(1)).unwrap_err();
        assert!(matches!(fault, Fault::Stuck { .. }), "{fault}");
    }
}
