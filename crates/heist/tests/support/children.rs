//! Looking at child processes from the outside.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::Duration;

/// How the system sees a child of ours: `None` if there is no such child any more.
pub fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may have anything in it.
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent: u32 = fields.next()?.parse().ok()?;
    (parent == std::process::id()).then_some(state)
}

/// All that there are now.
pub fn all() -> BTreeSet<u32> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok());
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|pid| state(*pid).is_some()).collect()
}

/// It has exited, and nobody has waited for it.
pub fn is_zombie(pid: u32) -> bool {
    state(pid) == Some('Z')
}

/// Waits until it has exited; does not wait *for* it.
pub fn wait_until_exited(pid: u32) {
    wait_until(|| matches!(state(pid), None | Some('Z')));
}

/// Waits until somebody has waited for it.
pub fn wait_until_reaped(pid: u32) {
    wait_until(|| state(pid).is_none());
}

pub fn wait_until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// All the file descriptors of this process.
pub fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}
