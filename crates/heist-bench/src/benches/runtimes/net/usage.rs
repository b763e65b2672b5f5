//! What a server uses: CPU time and context switches, of all its threads. Unlike its rate they do
//! not depend on how fast the load is.

use std::fs;
use std::io::{self, ErrorKind};
use std::time::Duration;

use nix::time::ClockId;
use nix::unistd::Pid;
use rustix::io::Errno;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    pub cpu: Duration,
    /// How often its threads have gone to sleep.
    pub switches: u64,
}

impl Usage {
    /// What this process has used so far. The switches are of the threads that it has now: servers
    /// keep theirs.
    pub fn of(process: u32) -> io::Result<Usage> {
        let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(process as i32))?;
        let cpu = Duration::from(clock.now()?);
        let mut switches = 0;
        for thread in fs::read_dir(format!("/proc/{process}/task"))? {
            match fs::read_to_string(thread?.path().join("status")) {
                Ok(status) => switches += switches_in(&status).ok_or(ErrorKind::InvalidData)?,
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Usage { cpu, switches })
    }

    pub fn since(self, earlier: Usage) -> Usage {
        Usage {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            switches: self.switches.saturating_sub(earlier.switches),
        }
    }
}

/// Whether a thread has ended.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

fn switches_in(status: &str) -> Option<u64> {
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    count.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn only_switches_to_sleep_count() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t9\n";
        assert_eq!(switches_in(status), Some(7));
        assert_eq!(switches_in("Name:\tx\n"), None);
    }

    #[test]
    fn all_threads_count() {
        let this = std::process::id();
        let before = Usage::of(this).unwrap();
        let (asks, asked) = mpsc::channel::<mpsc::Sender<()>>();
        let other = thread::spawn(move || asked.iter().for_each(|asker| asker.send(()).unwrap()));
        // One of the two sleeps each time, unless the other is so fast that it need not.
        while Usage::of(this).unwrap().since(before).switches < 10 {
            let (answer, answered) = mpsc::channel();
            asks.send(answer).unwrap();
            answered.recv().unwrap();
        }
        let used = Usage::of(this).unwrap().since(before);
        assert!(used.cpu > Duration::ZERO);
        drop(asks);
        other.join().unwrap();
    }
}
