//! What Linux reports about a thread.

use super::{SystemCall, ThreadState, Times};
use rustix::thread::{Pid, gettid};
use std::fs::File;
use std::io::Read;
use std::time::Duration;

#[derive(Clone)]
pub(super) struct Thread(Pid);

impl Thread {
    pub(super) fn this() -> Thread {
        Thread(gettid())
    }

    pub(super) fn state(&self) -> Option<ThreadState> {
        parse_state(&self.read("stat")?)
    }

    pub(super) fn times(&self) -> Option<Times> {
        parse_times(&self.read("schedstat")?)
    }

    pub(super) fn system_call(&self) -> Option<SystemCall> {
        parse_system_call(&self.read("syscall")?)
    }

    /// One call reads the whole file, or its beginning, which contains what is needed. A thread's
    /// name has at most 15 bytes, and its last character may be cut off, so the text may not be
    /// UTF-8.
    fn read(&self, file: &str) -> Option<String> {
        let path = format!("/proc/self/task/{}/{file}", self.0.as_raw_nonzero());
        let mut bytes = [0; 512];
        let len = File::open(path).ok()?.read(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes[..len]).into_owned())
    }
}

/// `stat`: `id (name) letter numbers…`. The name may contain anything, even text that looks like
/// the rest of the line, but no parentheses follow it.
pub(super) fn parse_state(stat: &str) -> Option<ThreadState> {
    let (_, rest) = stat.rsplit_once(')')?;
    let (letter, _) = rest.strip_prefix(' ')?.split_once(' ')?;
    match letter {
        "R" => Some(ThreadState::Runnable),
        "S" | "D" => Some(ThreadState::Asleep),
        _ if letter.len() == 1 && letter.bytes().all(|b| b.is_ascii_alphabetic()) => {
            Some(ThreadState::Other)
        }
        _ => None,
    }
}

/// `schedstat`: nanoseconds on a CPU, nanoseconds waiting for one, and the number of time slices. A
/// kernel without these statistics reports 0 for all of them.
pub(super) fn parse_times(schedstat: &str) -> Option<Times> {
    let mut words = schedstat.split_ascii_whitespace();
    let mut number = || words.next()?.parse::<u64>().ok();
    let (on_cpu, waiting, slices) = (number()?, number()?, number()?);
    let is_counted = (on_cpu, waiting, slices) != (0, 0, 0);
    is_counted.then_some(Times {
        on_cpu: Duration::from_nanos(on_cpu),
        waiting: Duration::from_nanos(waiting),
    })
}

/// `syscall`: `running`, or a number and the registers. The number is -1 if the thread sleeps
/// outside of a system call, waiting for a page of its memory.
pub(super) fn parse_system_call(syscall: &str) -> Option<SystemCall> {
    let (number, _registers) = syscall.split_once(' ')?;
    number.parse().ok().map(SystemCall::new)
}
