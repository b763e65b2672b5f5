//! The registry: one module a group of benches.

pub mod driver;
pub mod foreign;
pub mod forkjoin;
pub mod queues;
pub mod runtimes;
pub mod spin;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::bench::Bench;

/// All benches, in the order in which they run.
pub fn all() -> Vec<Bench> {
    let mut benches = queues::benches();
    benches.extend(runtimes::benches());
    benches.extend(forkjoin::benches());
    benches
}

/// The CPU time of all threads of this process; those of the other sides sleep.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Runtime;
    use crate::unit::Unit;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_plain() {
        let mut seen = HashSet::new();
        for name in all().iter().flat_map(|bench| &bench.rows).map(|row| row.name) {
            assert!(seen.insert(name), "{name} twice");
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(name.chars().all(plain), "{name}");
        }
    }

    #[test]
    fn heist_comes_first_and_each_side_once() {
        for bench in all() {
            assert_eq!(bench.runtimes().next(), Some(Runtime::Heist), "{}", bench.name());
            let mut seen = Vec::new();
            for runtime in bench.runtimes() {
                assert!(!seen.contains(&runtime), "{}: {runtime} twice", bench.name());
                seen.push(runtime);
            }
        }
    }

    #[test]
    fn descriptions_are_one_line_and_rates_are_named_as_such() {
        for row in all().iter().flat_map(|bench| &bench.rows) {
            assert!(!row.about.is_empty() && !row.about.contains('\n'), "{}", row.name);
            if let Unit::Rate(name) = row.unit {
                assert!(name.ends_with("/s"), "{}: {name}", row.name);
            }
        }
    }
}
