//! The threads of a process, and how often they were switched, from `/proc`.

use std::fmt::Display;
use std::fs;
use std::io::{self, ErrorKind};
use std::str::FromStr;

use rustix::io::Errno;

/// A thread's number, as the system has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tid(pub u32);

/// All threads that this process has now.
pub fn all() -> io::Result<Vec<Tid>> {
    all_of(THIS)
}

const THIS: &str = "self";

fn all_of(process: impl Display) -> io::Result<Vec<Tid>> {
    let mut threads = Vec::new();
    for entry in fs::read_dir(format!("/proc/{process}/task"))? {
        threads.extend(entry?.file_name().to_str().and_then(|name| name.parse().ok()).map(Tid));
    }
    Ok(threads)
}

/// Those that have come since `before`.
pub fn since(before: &[Tid]) -> io::Result<Vec<Tid>> {
    let mut threads = all()?;
    threads.retain(|thread| !before.contains(thread));
    Ok(threads)
}

/// How often a thread was switched so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// It went to sleep.
    pub voluntary: u64,
    /// The system took the core from it.
    pub involuntary: u64,
}

/// Sum over these threads of this process. One that has ended counts nothing.
pub fn switches(threads: &[Tid]) -> io::Result<Switches> {
    let mut sum = Switches { voluntary: 0, involuntary: 0 };
    for thread in threads {
        if let Some(status) = status(THIS, *thread)? {
            let Switches { voluntary, involuntary } = parse(&status)?;
            sum.voluntary += voluntary;
            sum.involuntary += involuntary;
        }
    }
    Ok(sum)
}

/// Those of each thread that a process has now.
pub fn switches_of(process: u32) -> io::Result<Vec<(Tid, Switches)>> {
    let mut found = Vec::new();
    for thread in all_of(process)? {
        if let Some(status) = status(process, thread)? {
            found.push((thread, parse(&status)?));
        }
    }
    Ok(found)
}

/// The process that traces each thread of a process; 0 if none does.
pub fn tracers_of(process: u32) -> io::Result<Vec<u32>> {
    let mut tracers = Vec::new();
    for thread in all_of(process)? {
        if let Some(status) = status(process, thread)? {
            tracers.push(value(&status, "TracerPid")?);
        }
    }
    Ok(tracers)
}

/// What the system says of a thread; `None` if it has ended.
fn status(process: impl Display, thread: Tid) -> io::Result<Option<String>> {
    match fs::read_to_string(format!("/proc/{process}/task/{}/status", thread.0)) {
        Ok(status) => Ok(Some(status)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        // A thread that ends while its file is being read is ESRCH, which has no kind.
        Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse(status: &str) -> io::Result<Switches> {
    let voluntary = value(status, "voluntary_ctxt_switches")?;
    Ok(Switches { voluntary, involuntary: value(status, "nonvoluntary_ctxt_switches")? })
}

fn value<T: FromStr>(status: &str, name: &str) -> io::Result<T> {
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.and_then(|value| value.trim().parse().ok()).ok_or_else(|| {
        let message = format!("a thread's status has no {name}");
        io::Error::new(ErrorKind::InvalidData, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn both_kinds_of_switches_are_read() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(parse(status).unwrap(), Switches { voluntary: 12, involuntary: 3 });
        let message = parse("Name:\tx\n").unwrap_err().to_string();
        assert_eq!(message, "a thread's status has no voluntary_ctxt_switches");
    }

    #[test]
    fn a_thread_that_wakes_up_is_seen_and_one_that_has_ended_is_no_error() {
        let before = all().unwrap();
        assert!(!before.is_empty());
        let (stop, stopped) = mpsc::channel::<()>();
        let naps =
            thread::spawn(move || while stopped.recv_timeout(Duration::from_millis(1)).is_err() {});
        // Other tests start threads too: there may be more than ours.
        let new = since(&before).unwrap();
        let start = switches(&new).unwrap().voluntary;
        thread::sleep(Duration::from_millis(50));
        assert!(switches(&new).unwrap().voluntary > start);
        stop.send(()).unwrap();
        naps.join().unwrap();
        switches(&new).unwrap();
    }
}
