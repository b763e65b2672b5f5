//! The registry: one module a group of benches.

pub mod queues;
pub mod runtimes;

use crate::bench::Bench;

/// All benches, in the order in which they run.
pub fn all() -> Vec<Bench> {
    let mut benches = queues::benches();
    benches.extend(runtimes::benches());
    benches
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
        for bench in all() {
            assert!(seen.insert(bench.name), "{} twice", bench.name);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(bench.name.chars().all(plain), "{}", bench.name);
        }
    }

    #[test]
    fn heist_comes_first_and_each_side_once() {
        for bench in all() {
            assert_eq!(bench.runtimes().next(), Some(Runtime::Heist), "{}", bench.name);
            let mut seen = Vec::new();
            for runtime in bench.runtimes() {
                assert!(!seen.contains(&runtime), "{}: {runtime} twice", bench.name);
                seen.push(runtime);
            }
        }
    }

    #[test]
    fn descriptions_are_one_line_and_rates_are_named_as_such() {
        for bench in all() {
            assert!(!bench.about.is_empty() && !bench.about.contains('\n'), "{}", bench.name);
            if let Unit::Rate(name) = bench.unit {
                assert!(name.ends_with("/s"), "{}: {name}", bench.name);
            }
        }
    }
}
