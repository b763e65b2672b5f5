//! What a server uses: CPU time and context switches, of all its threads. Unlike its rate they do
//! not depend on how fast the load is.

use std::io;
use std::time::Duration;

use nix::time::ClockId;
use nix::unistd::Pid;

use super::super::threads::{self, Switches, Tid};

/// What a process has used so far.
#[derive(Debug)]
pub struct Total {
    /// CPU time, also of threads that have ended.
    cpu: Duration,
    /// How often each of the threads that it has now went to sleep.
    sleeps: Vec<(Tid, u64)>,
}

/// What a process used in a while.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    pub cpu: Duration,
    /// How often its threads went to sleep.
    pub sleeps: u64,
}

impl Total {
    pub fn of(process: u32) -> io::Result<Self> {
        // The system's own count in nanoseconds; `stat` has ticks of 10 ms.
        let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(process as i32))?;
        let cpu = Duration::from(clock.now()?);
        let sleeps = |(thread, Switches { voluntary, .. })| (thread, voluntary);
        let sleeps = threads::switches_of(process)?.into_iter().map(sleeps).collect();
        Ok(Total { cpu, sleeps })
    }

    /// A thread that has ended since takes with it how often it slept, and nothing else.
    pub fn since(self, earlier: &Total) -> Usage {
        let before = |thread: Tid| {
            let known = earlier.sleeps.iter().find(|(known, _)| *known == thread);
            known.map_or(0, |(_, sleeps)| *sleeps)
        };
        let new = |&(thread, sleeps): &(Tid, u64)| sleeps.saturating_sub(before(thread));
        Usage {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            sleeps: self.sleeps.iter().map(new).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benches::spin::Spin;
    use std::process;
    use std::sync::mpsc;
    use std::thread;

    fn used(earlier: &Total) -> Usage {
        Total::of(process::id()).unwrap().since(earlier)
    }

    #[test]
    fn all_threads_count() {
        let before = Total::of(process::id()).unwrap();
        let (asks, asked) = mpsc::channel::<mpsc::Sender<()>>();
        let other = thread::spawn(move || asked.iter().for_each(|asker| asker.send(()).unwrap()));
        // One of the two sleeps each time, unless the other is so fast that it need not.
        while used(&before).sleeps < 10 {
            let (answer, answered) = mpsc::channel();
            asks.send(answer).unwrap();
            answered.recv().unwrap();
        }
        assert!(used(&before).cpu > Duration::ZERO);
        drop(asks);
        other.join().unwrap();
    }

    /// Its time is there in full, though it is a fraction of a tick.
    #[test]
    fn the_cpu_time_of_a_thread_that_has_ended_counts() {
        let before = Total::of(process::id()).unwrap();
        let work = || {
            Spin::microsecond().times(1000).burn();
            Duration::from(ClockId::CLOCK_THREAD_CPUTIME_ID.now().unwrap())
        };
        let burnt = thread::spawn(work).join().unwrap();
        assert!(used(&before).cpu >= burnt);
    }

    #[test]
    fn a_thread_that_has_ended_takes_away_only_its_own_sleeps() {
        let [first, second] = [1, 2].map(Tid);
        let total = |sleeps| Total { cpu: Duration::ZERO, sleeps };
        let before = total(vec![(first, 1_000), (second, 7)]);
        assert_eq!(total(vec![(second, 9)]).since(&before).sleeps, 2);
        assert_eq!(total(vec![(second, 9)]).since(&total(vec![(first, 5)])).sleeps, 9);
    }
}
