//! Processes that live beside this one, and are asked for something now and then.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::bench::Fault;

/// It is to end when its standard input does; dropped, it has ended.
#[derive(Debug)]
pub struct Process {
    child: Child,
    said: Said,
}

/// How long it may take to end before it is killed.
const LAST_WORDS: Duration = Duration::from_secs(5);

impl Process {
    /// `name` is what messages call it.
    pub fn start(name: &'static str, mut command: Command) -> Result<Self, Fault> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(Fault::Setup)?;
        let said = Said::new(name, child.stdout.take().expect("is piped"));
        Ok(Process { child, said })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// If it has ended, the next line that it is to say will not come.
    pub fn tell(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("is piped, and taken by Drop alone");
        let _ = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
    }

    /// The next line that it says, without its end.
    pub fn line(&self, patience: Duration) -> Result<String, Fault> {
        self.said.line(patience)
    }

    /// Closes its standard input; returns the lines that it says before it ends.
    pub fn last_lines(&mut self, patience: Duration) -> Result<Vec<String>, Fault> {
        drop(self.child.stdin.take());
        self.said.rest(patience)
    }

    /// Interrupts it, as a user would at a terminal.
    pub fn interrupt(&self) {
        // It may have ended.
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
    }

    /// Whether it has not ended.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// What it has said is not what it should say.
    pub fn nonsense(&self, line: &str) -> Fault {
        Fault::Program { program: self.said.name, said: line.to_owned() }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let mut waited = Duration::ZERO;
        let step = Duration::from_millis(5);
        while waited < LAST_WORDS && self.is_running() {
            thread::sleep(step);
            waited += step;
        }
        // Nothing to do about errors: it has ended, or is not ours any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a process, read by a thread that ends with it.
#[derive(Debug)]
struct Said {
    name: &'static str,
    lines: Receiver<io::Result<String>>,
}

impl Said {
    fn new(name: &'static str, stdout: impl Read + Send + 'static) -> Self {
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            // Nobody may be listening any more; it goes on, so that the process can go on too.
            BufReader::new(stdout).lines().for_each(|line| drop(sender.send(line)));
        });
        Said { name, lines }
    }

    fn line(&self, patience: Duration) -> Result<String, Fault> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => line.map_err(Fault::Setup),
            Err(RecvTimeoutError::Timeout) => Err(Fault::Stuck { waited: patience }),
            Err(RecvTimeoutError::Disconnected) => Err(Fault::Program {
                program: self.name,
                said: "nothing, and ended; its standard error may say more".to_owned(),
            }),
        }
    }

    /// All lines until it ends, each of which may take this long.
    fn rest(&self, patience: Duration) -> Result<Vec<String>, Fault> {
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(patience) {
                Ok(line) => lines.push(line.map_err(Fault::Setup)?),
                Err(RecvTimeoutError::Timeout) => return Err(Fault::Stuck { waited: patience }),
                Err(RecvTimeoutError::Disconnected) => return Ok(lines),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benches::driver::GIVE_UP;

    #[test]
    fn it_answers_in_turns_until_it_is_dropped() {
        let mut process = Process::start("cat", Command::new("cat")).unwrap();
        for line in ["one", "two"] {
            process.tell(line);
            assert_eq!(process.line(GIVE_UP).unwrap(), line);
        }
        let fault = process.line(Duration::from_millis(1)).unwrap_err();
        assert!(matches!(fault, Fault::Stuck { .. }), "{fault}");
    }

    #[test]
    fn what_it_says_last_is_heard() {
        let mut process = Process::start("tac", Command::new("tac")).unwrap();
        ["one", "two"].iter().for_each(|line| process.tell(line));
        assert_eq!(process.last_lines(GIVE_UP).unwrap(), ["two", "one"]);
    }

    #[test]
    fn one_that_is_interrupted_ends() {
        let mut process = Process::start("cat", Command::new("cat")).unwrap();
        assert!(process.is_running());
        process.interrupt();
        process.line(GIVE_UP).unwrap_err();
        while process.is_running() {
            thread::yield_now();
        }
    }

    #[test]
    fn one_that_ends_without_a_word_is_a_fault() {
        let mut process = Process::start("true", Command::new("true")).unwrap();
        process.tell("one");
        let message = process.line(GIVE_UP).unwrap_err().to_string();
        assert!(message.starts_with("the program true failed: nothing, and ended"), "{message}");
    }

    #[test]
    fn one_that_does_not_end_is_ended() {
        let mut sleep = Command::new("sleep");
        sleep.arg("600");
        let process = Process::start("sleep", sleep).unwrap();
        let proc = format!("/proc/{}", process.id());
        assert!(std::fs::metadata(&proc).is_ok());
        drop(process);
        assert!(std::fs::metadata(&proc).is_err());
    }
}
