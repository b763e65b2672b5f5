//! Runs a program for a limited time.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, set_parent_process_death_signal};

/// How often the program is looked at. Guessed: short against starting a program.
const LOOK: Duration = Duration::from_millis(5);

/// What a program did.
#[derive(Debug)]
pub struct Finished {
    pub ending: Ending,
    pub stdout: String,
    pub stderr: String,
}

/// How a program came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Exit(i32),
    Signal(i32),
    /// It was still there when its time was over.
    Timeout,
}

/// Runs `command` and, when `limit` is over, ends it with all that it started. What it prints
/// goes to `log` with `.out` and `.err` after it: a pipe would stay open for as long as anything
/// that the program leaves behind.
pub fn run(command: &mut Command, limit: Duration, log: &Path) -> io::Result<Finished> {
    let (out, err) = (log.with_extension("out"), log.with_extension("err"));
    command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
    // SAFETY: (FFI) between fork and exec only calls that are safe in a signal handler are
    // allowed; this one is a system call and nothing else.
    unsafe { command.pre_exec(die_with_this_process) };
    let mut child = command.process_group(0).spawn()?;
    let ending = match wait(&mut child, limit)? {
        Some(status) => {
            status.code().map_or(Ending::Signal(status.signal().unwrap_or(0)), Ending::Exit)
        }
        None => Ending::Timeout,
    };
    end_group(&child);
    if ending == Ending::Timeout {
        child.wait()?;
    }
    let read = |path: &Path| -> io::Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
    };
    Ok(Finished { ending, stdout: read(&out)?, stderr: read(&err)? })
}

/// A program in a group of its own does not get the Ctrl-C of the terminal, and one that hangs
/// would stay for ever.
fn die_with_this_process() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            None if start.elapsed() < limit => thread::sleep(LOOK),
            ended_or_not => return Ok(ended_or_not),
        }
    }
}

/// The program leads a group of its own, and what it starts is in it. After a program that ended
/// by itself the group is mostly gone, which is no error.
fn end_group(child: &Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        kill_process_group(group, Signal::KILL).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str, limit: Duration, name: &str) -> Finished {
        let logs = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(&logs).unwrap();
        let mut command = Command::new("sh");
        let finished = run(command.args(["-c", script]), limit, &logs.join("log")).unwrap();
        fs::remove_dir_all(logs).unwrap();
        finished
    }

    #[test]
    fn output_and_ending_are_kept() {
        let finished = shell("echo a; echo b >&2; exit 7", LONG, "exit");
        assert_eq!(finished.ending, Ending::Exit(7));
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("a\n", "b\n"));
        assert_eq!(shell("kill -9 $$", LONG, "signal").ending, Ending::Signal(9));
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        // On a busy machine a shell may need any time to say something.
        let said = (0..10).any(|doubled| {
            let patience = Duration::from_millis(100) * (1 << doubled);
            let finished = shell("echo a; sleep 600 & sleep 600", patience, "long");
            assert_eq!(finished.ending, Ending::Timeout);
            finished.stdout == "a\n"
        });
        assert!(said, "what a program says before it is ended is kept");
    }

    #[test]
    fn what_a_program_leaves_behind_is_ended_and_not_waited_for() {
        let start = Instant::now();
        let finished = shell("sleep 600 & echo $!", LONG, "orphan");
        assert_eq!(finished.ending, Ending::Exit(0));
        assert!(start.elapsed() < LONG);
    }
}
