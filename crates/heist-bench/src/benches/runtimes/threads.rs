//! The threads of this process, and how often they were switched, from `/proc`.

use std::fs;
use std::io;

/// A thread's number, as the system has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tid(u32);

/// All threads that there are now.
pub fn all() -> io::Result<Vec<Tid>> {
    let mut threads = Vec::new();
    for entry in fs::read_dir("/proc/self/task")? {
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

/// Context switches of these threads so far, voluntary or not. One that has ended counts
/// nothing.
pub fn switches(threads: &[Tid]) -> io::Result<u64> {
    let mut sum = 0;
    for Tid(number) in threads {
        match fs::read_to_string(format!("/proc/self/task/{number}/status")) {
            Ok(status) => sum += parse(&status)?,
            // A thread that ends while its file is being read is ESRCH, which has no kind.
            Err(error) if error.kind() == io::ErrorKind::NotFound => (),
            Err(error) if error.raw_os_error() == Some(ESRCH) => (),
            Err(error) => return Err(error),
        }
    }
    Ok(sum)
}

const ESRCH: i32 = 3;

fn parse(status: &str) -> io::Result<u64> {
    let counts: Vec<u64> = status
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.ends_with("voluntary_ctxt_switches"))
        .filter_map(|(_, count)| count.trim().parse().ok())
        .collect();
    match counts[..] {
        [voluntary, involuntary] => Ok(voluntary + involuntary),
        _ => {
            let message = "a thread's status does not say how often it was switched";
            Err(io::Error::new(io::ErrorKind::InvalidData, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn both_kinds_of_switches_count() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(parse(status).unwrap(), 15);
        assert!(parse("Name:\tx\n").is_err());
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
        let start = switches(&new).unwrap();
        thread::sleep(Duration::from_millis(50));
        assert!(switches(&new).unwrap() > start);
        stop.send(()).unwrap();
        naps.join().unwrap();
        switches(&new).unwrap();
    }
}
