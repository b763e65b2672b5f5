//! How many iterations one sample does.
//!
//! One number per bench, the same for all sides, so that all do the same work: the same number
//! of trips around a ring, the same share of fixed costs. The fastest side decides, because
//! its samples are the shortest and would drown in the clock's own noise first.

use std::time::Duration;

/// A side so slow that its samples take this many times the target ends the search: else one
/// very slow peer would make the bench run for hours.
const SLOWEST: u32 = 100;

/// The next number of iterations to try, or None if `iterations` are enough.
pub fn next(iterations: u64, sides: &[Duration], target: Duration) -> Option<u64> {
    let fastest = sides.iter().min()?;
    let slowest = sides.iter().max()?;
    if *fastest >= target || *slowest >= target * SLOWEST {
        return None;
    }
    // A tenth more than it seems to take, as the next try must not fall short by a hair; at
    // most a hundred times, as the first tries are all cold caches and page faults.
    let factor = 1.1 * target.as_secs_f64() / fastest.as_secs_f64().max(1e-9);
    let room = (SLOWEST as f64 * target.as_secs_f64() / slowest.as_secs_f64().max(1e-9)).max(1.1);
    Some((iterations as f64 * factor.clamp(1.1, 100.0).min(room)).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Duration = Duration::from_millis(10);

    /// Calibrates sides whose iterations take these times, in ns.
    fn settle(ns: &[u64]) -> u64 {
        let mut iterations = 1;
        for _ in 0..100 {
            let sides: Vec<_> = ns.iter().map(|ns| Duration::from_nanos(ns * iterations)).collect();
            match next(iterations, &sides, TARGET) {
                Some(more) => iterations = more,
                None => return iterations,
            }
        }
        panic!("did not settle");
    }

    #[test]
    fn the_fastest_side_reaches_the_target_and_little_more() {
        for sides in [&[10, 50][..], &[50, 10], &[10]] {
            let iterations = settle(sides);
            assert!((1_000_000..2_000_000).contains(&iterations), "{iterations}");
        }
    }

    #[test]
    fn long_work_is_done_once() {
        assert_eq!(settle(&[20_000_000, 30_000_000]), 1);
    }

    #[test]
    fn a_very_slow_side_bounds_the_work() {
        let iterations = settle(&[10, 1_000_000]);
        assert!((900..=2200).contains(&iterations), "{iterations}");
    }

    #[test]
    fn a_clock_that_shows_nothing_still_makes_progress() {
        assert_eq!(next(1, &[Duration::ZERO], TARGET), Some(100));
    }
}
