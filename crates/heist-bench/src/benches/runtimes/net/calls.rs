//! How many system calls a server makes, and how many of them are `epoll_ctl`.
//!
//! A tool counts them that may or may not be there: `perf`, where it may use tracepoints, or else
//! `strace`. Both slow the server down, `strace` a hundred times, so they count in a short time of
//! its own in which nothing else is measured.

use std::process::{self, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::super::threads;
use crate::bench::Fault;
use crate::benches::driver::GIVE_UP;
use crate::benches::foreign::process::Process;

/// A tool that counts the system calls of another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Counter {
    Perf,
    Strace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calls {
    pub all: u64,
    pub epoll_ctl: u64,
}

/// Events of `perf`.
const ALL: &str = "raw_syscalls:sys_enter";
const EPOLL_CTL: &str = "syscalls:sys_enter_epoll_ctl";

impl Counter {
    /// The first that works here. It is tried once, on this process.
    pub fn here() -> Option<Self> {
        static HERE: OnceLock<Option<Counter>> = OnceLock::new();
        let counters = [Counter::Perf, Counter::Strace];
        *HERE.get_or_init(|| counters.into_iter().find(|counter| counter.works()))
    }

    /// Whether there is one.
    pub fn check() -> Result<(), Fault> {
        let what = "tool that can count system calls";
        let install = "perf, and run this as root, or strace";
        Counter::here().map(drop).ok_or(Fault::Missing { what, install })
    }

    fn works(self) -> bool {
        const CALLS: u64 = 100;
        let count = || {
            let counting = Counting::start(self, process::id(), Stdio::null())?;
            for _ in 0..CALLS {
                let _ = rustix::process::getppid();
            }
            counting.end()
        };
        count().is_ok_and(|calls: Calls| calls.all >= CALLS)
    }

    pub fn name(self) -> &'static str {
        match self {
            Counter::Perf => "perf",
            Counter::Strace => "strace",
        }
    }

    fn command(self, process: u32) -> Command {
        let mut command = Command::new(self.name());
        match self {
            // It counts from before `cat` starts until `cat` ends.
            Counter::Perf => command
                .args(["stat", "--log-fd", "1", "-x,", "-e", &format!("{ALL},{EPOLL_CTL}")])
                .args(["-p", &process.to_string(), "--", "cat"]),
            Counter::Strace => {
                command.args(["-qfc", "-o", "/dev/stdout", "-p", &process.to_string()])
            }
        };
        command
    }

    fn parse(self, lines: &[String]) -> Option<Calls> {
        match self {
            Counter::Perf => parse_perf(lines),
            Counter::Strace => parse_strace(lines),
        }
    }
}

/// A tool that is counting.
pub struct Counting {
    counter: Counter,
    tool: Process,
}

impl Counting {
    /// Returns when the tool sees all threads of `process`.
    pub fn start(counter: Counter, process: u32, errors: Stdio) -> Result<Self, Fault> {
        let mut command = counter.command(process);
        command.stderr(errors);
        let mut tool = Process::start(counter.name(), command)?;
        match counter {
            Counter::Perf => {
                tool.tell(BEGIN);
                let line = tool.line(GIVE_UP)?;
                if line != BEGIN {
                    return Err(tool.nonsense(&line));
                }
            }
            Counter::Strace => wait_for_tracer(process, &mut tool)?,
        }
        Ok(Counting { counter, tool })
    }

    /// The calls since the start.
    pub fn end(mut self) -> Result<Calls, Fault> {
        if self.counter == Counter::Strace {
            self.tool.interrupt();
        }
        let lines = self.tool.last_lines(GIVE_UP)?;
        self.counter.parse(&lines).ok_or_else(|| self.tool.nonsense(&lines.join("\n")))
    }
}

/// `cat` repeats it.
const BEGIN: &str = "begin";

/// Until the system says that `tool` traces each thread of `process`.
fn wait_for_tracer(process: u32, tool: &mut Process) -> Result<(), Fault> {
    let start = Instant::now();
    while threads::tracers_of(process).map_err(Fault::Setup)?.iter().any(|it| *it != tool.id()) {
        if !tool.is_running() {
            return Err(tool.nonsense("that it may not trace other processes"));
        }
        if start.elapsed() >= GIVE_UP {
            return Err(Fault::Stuck { waited: GIVE_UP });
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Lines such as `123,,raw_syscalls:sys_enter,1000,100.00,,`.
fn parse_perf(lines: &[String]) -> Option<Calls> {
    let count = |event: &str| {
        lines.iter().find_map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            (*fields.get(2)? == event).then(|| fields[0].parse().ok())?
        })
    };
    Some(Calls { all: count(ALL)?, epoll_ctl: count(EPOLL_CTL)? })
}

/// A table with a line for each system call: the fourth column is the number of calls, the last the
/// name.
fn parse_strace(lines: &[String]) -> Option<Calls> {
    let mut calls = Calls { all: 0, epoll_ctl: 0 };
    for line in lines {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let &[_, _, _, count, .., name] = &fields[..] else { continue };
        let Ok(count) = count.parse::<u64>() else { continue };
        match name {
            "total" => return Some(calls),
            "epoll_ctl" => calls.epoll_ctl += count,
            _ => (),
        }
        calls.all += count;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn perf_is_understood() {
        let text = "\n1234,,raw_syscalls:sys_enter,500,100.00,,\n\
                    7,,syscalls:sys_enter_epoll_ctl,500,100.00,,\n";
        assert_eq!(parse_perf(&lines(text)), Some(Calls { all: 1234, epoll_ctl: 7 }));
        let text = text.replace("7,,", "<not counted>,,");
        assert_eq!(parse_perf(&lines(&text)), None);
    }

    #[test]
    fn strace_is_understood() {
        let text = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 63.46    0.004107           1      3056           sendto
 31.03    0.002008           1      1528        12 epoll_ctl
------ ----------- ----------- --------- --------- ----------------
100.00    0.006115           1      4584        12 total
";
        let calls = Calls { all: 4584, epoll_ctl: 1528 };
        assert_eq!(parse_strace(&lines(text)), Some(calls));
        assert_eq!(parse_strace(&lines("strace: no such process")), None);
        // Older ones have no mean in the last line.
        let text = text.replace("0.006115           1 ", "0.006115             ");
        assert_eq!(parse_strace(&lines(&text)), Some(calls));
    }

    /// Counts the calls of a process that makes them if it is told to.
    #[test]
    fn tools_that_are_there_count() {
        for counter in [Counter::Perf, Counter::Strace] {
            if !counter.works() {
                println!("skipped: no {} here", counter.name());
                continue;
            }
            let mut cat = Process::start("cat", Command::new("cat")).unwrap();
            let counting = Counting::start(counter, cat.id(), Stdio::inherit()).unwrap();
            for _ in 0..100 {
                cat.tell("");
                cat.line(GIVE_UP).unwrap();
            }
            let calls = counting.end().unwrap();
            // A read and a write each time.
            assert!((198..=210).contains(&calls.all), "{counter:?}: {calls:?}");
            assert_eq!(calls.epoll_ctl, 0, "{counter:?}");
        }
    }

    #[test]
    fn a_tool_that_ends_early_is_a_fault() {
        for counter in [Counter::Perf, Counter::Strace] {
            let counting = Counting::start(counter, u32::MAX, Stdio::null());
            assert!(counting.is_err(), "{counter:?}");
        }
    }
}
