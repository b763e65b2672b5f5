//! What the machine does beside these tests: with cores that others use, a program behaves in
//! another way, and doctor says so.

use std::fs;
use std::ops::ControlFlow;

/// How often a program is examined on a busy machine.
const ATTEMPTS: usize = 3;

/// Examines a program until it is judged right, or was judged wrong while nobody else used the
/// cores, or there were too many attempts: then it is not judged.
pub fn judge_undisturbed<E>(name: &str, judge: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    judge_with(Used::so_far, name, judge)
}

fn judge_with<E>(
    mut used: impl FnMut() -> Option<Used>,
    name: &str,
    mut judge: impl FnMut() -> Result<(), E>,
) -> Result<(), E> {
    let attempt = |_| {
        let before = used();
        match judge() {
            Ok(()) => ControlFlow::Break(Ok(())),
            Err(_) if is_disturbed(before, used()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    };
    (0..ATTEMPTS).try_for_each(attempt).break_value().unwrap_or_else(|| {
        println!("{name} is not judged: others use the cores");
        Ok(())
    })
}

/// CPU time of the machine, in the system's unit.
#[derive(Debug, Clone, Copy)]
struct Used {
    /// By other processes.
    others: u64,
    /// That has passed, on all cores.
    all: u64,
    cores: u64,
}

impl Used {
    /// `None` if the system does not say.
    fn so_far() -> Option<Used> {
        let machine = fs::read_to_string("/proc/stat").ok()?;
        let process = fs::read_to_string("/proc/self/stat").ok()?;
        Used::from(&machine, &process)
    }

    /// Reads `/proc/stat`, and `/proc/self/stat` of this process.
    fn from(machine: &str, process: &str) -> Option<Used> {
        let parsed = |number: &str| number.parse::<u64>().ok();
        let of_all: Vec<u64> =
            machine.strip_prefix("cpu ")?.split_whitespace().map_while(parsed).collect();
        let &[user, nice, system, _idle, _iowait, _irq, _softirq, steal, ..] = &*of_all else {
            return None;
        };
        // The name of the program may contain anything. After it come the state, ten numbers, and
        // four CPU times: of this process, in its own code and in the system, and the same of the
        // children that it has waited for.
        let (_, after_name) = process.rsplit_once(')')?;
        let own: u64 = after_name.split_whitespace().skip(11).take(4).filter_map(parsed).sum();
        Some(Used {
            others: (user + nice + system + steal).saturating_sub(own),
            all: of_all.iter().take(8).sum(),
            cores: machine.lines().filter(|line| line.starts_with("cpu")).count() as u64 - 1,
        })
    }
}

/// Whether others have used more than a tenth of a core.
fn is_disturbed(before: Option<Used>, after: Option<Used>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return false };
    let others = after.others.saturating_sub(before.others);
    others * 10 > (after.all - before.all) / after.cores
}

#[test]
fn what_others_use_is_what_is_left() {
    let machine = "cpu  70 10 20 1000 1 2 3 5 0 0\ncpu0 1 2\ncpu1 3 4\nintr 5\n";
    let process = "18823 (a b) c) R 18820 18820 1228 0 -1 4194304 103 0 0 0 20 10 4 1 20 0 1\n";
    let used = Used::from(machine, process).unwrap();
    assert_eq!((used.others, used.all, used.cores), (105 - 35, 1111, 2));
    let later =
        |others: u64, all: u64| Some(Used { others: 70 + others, all: 1111 + all, cores: 2 });
    assert!(!is_disturbed(Some(used), later(10, 200)));
    assert!(is_disturbed(Some(used), later(11, 200)));
    assert!(!is_disturbed(None, later(11, 200)));
}

#[test]
fn what_is_wrong_undisturbed_is_wrong() {
    // How often a program is run that is right at this attempt, while others use so much.
    let runs = |right_at: usize, others_use: u64| {
        let (mut time, mut runs) = (0, 0);
        let used = || {
            time += 1;
            Some(Used { others: time * others_use, all: time * 200, cores: 2 })
        };
        let judge = || {
            runs += 1;
            if runs == right_at { Ok(()) } else { Err(()) }
        };
        (judge_with(used, "a program", judge), runs)
    };
    assert_eq!(runs(1, 0), (Ok(()), 1));
    assert_eq!(runs(2, 0), (Err(()), 1));
    assert_eq!(runs(2, 100), (Ok(()), 2));
    assert_eq!(runs(ATTEMPTS + 1, 100), (Ok(()), ATTEMPTS), "it is not judged");
}
