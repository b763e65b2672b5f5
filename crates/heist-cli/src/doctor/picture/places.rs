//! Sums over all tasks that were spawned at the same line.

use super::Poll;
use super::lengths::Lengths;
use heist::trace::{Outcome, Resource, StringId, TaskId};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Programs have fewer lines that spawn. What comes after these is counted as one.
const PLACES: usize = 4096;
/// Polls as long as this are always timed, and longer than it takes to wake a thief. Guessed.
const LONG: Duration = Duration::from_micros(20);
/// The number of tasks of each line that are named.
const EXAMPLES: usize = 3;

/// A line that spawns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::doctor) struct PlaceId(u32);

impl PlaceId {
    /// The place of tasks whose spawn location is not in the trace.
    pub(in crate::doctor) const UNKNOWN: PlaceId = PlaceId(0);
}

#[derive(Debug, Clone, Default)]
pub(in crate::doctor) struct Place {
    pub(in crate::doctor) text: Option<StringId>,
    /// What became of its tasks since the records of all workers are complete.
    pub(in crate::doctor) spawned: u64,
    pub(in crate::doctor) spawns: Spread,
    pub(in crate::doctor) common_polls: u64,
    pub(in crate::doctor) done: u64,
    pub(in crate::doctor) woken: u64,
    /// Their polls, as far as the record of each worker goes back.
    pub(in crate::doctor) polls: u64,
    pub(in crate::doctor) lengths: Lengths,
    pub(in crate::doctor) busy: Duration,
    /// The part of this time in polls that were timed and are long enough to be worth stealing.
    pub(in crate::doctor) in_long: Duration,
    /// Polls cut short for want of budget, and what they wanted it for.
    pub(in crate::doctor) cuts: u64,
    pub(in crate::doctor) cuts_at: BTreeMap<Resource, u64>,
    pub(in crate::doctor) examples: Vec<TaskId>,
}

#[derive(Debug)]
pub(super) struct Places {
    all: Vec<Place>,
    by_text: HashMap<StringId, PlaceId>,
}

impl Default for Places {
    fn default() -> Self {
        Places { all: vec![Place::default()], by_text: HashMap::new() }
    }
}

impl Places {
    pub(super) fn find(&mut self, text: StringId) -> PlaceId {
        if let Some(&place) = self.by_text.get(&text) {
            return place;
        }
        if self.all.len() >= PLACES {
            return PlaceId::UNKNOWN;
        }
        let place = PlaceId(self.all.len() as u32);
        self.all.push(Place { text: Some(text), ..Place::default() });
        self.by_text.insert(text, place);
        place
    }

    pub(super) fn get(&self, id: PlaceId) -> &Place {
        &self.all[id.0 as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (PlaceId, &Place)> {
        self.all.iter().enumerate().map(|(number, place)| (PlaceId(number as u32), place))
    }

    /// `is_common`: all records are complete by now.
    pub(super) fn count(&mut self, poll: &Poll, is_common: bool) {
        let place = self.get_mut(poll.place);
        place.polls += 1;
        if is_common {
            place.common_polls += 1;
            place.done += u64::from(poll.outcome == Some(Outcome::Done));
        }
        place.lengths.add(poll.took);
        place.busy += poll.work();
        if poll.is_exact && poll.took >= LONG {
            place.in_long += poll.work();
        }
    }

    pub(super) fn count_spawn(&mut self, id: PlaceId, task: TaskId, now: Duration) {
        let place = self.get_mut(id);
        place.spawned += 1;
        place.spawns.add(now);
        if place.examples.len() < EXAMPLES {
            place.examples.push(task);
        }
    }

    pub(super) fn count_wake(&mut self, id: PlaceId) {
        self.get_mut(id).woken += 1;
    }

    pub(super) fn count_cut(&mut self, id: PlaceId, resource: Resource) {
        let place = self.get_mut(id);
        place.cuts += 1;
        *place.cuts_at.entry(resource).or_default() += 1;
    }

    fn get_mut(&mut self, id: PlaceId) -> &mut Place {
        &mut self.all[id.0 as usize]
    }
}

/// How something is spread over time, in a few numbers: a histogram whose columns grow wider as
/// time goes on.
#[derive(Debug, Clone)]
pub(in crate::doctor) struct Spread {
    columns: [u64; Spread::COLUMNS],
    width: Duration,
    origin: Option<Duration>,
}

impl Spread {
    const COLUMNS: usize = 16;

    fn add(&mut self, now: Duration) {
        let origin = *self.origin.get_or_insert(now);
        let since = now.saturating_sub(origin);
        while since >= self.width * Self::COLUMNS as u32 {
            self.widen();
        }
        self.columns[(since.as_nanos() / self.width.as_nanos()) as usize] += 1;
    }

    fn widen(&mut self) {
        for column in 0..Self::COLUMNS {
            let pair = self.columns.get(2 * column..2 * column + 2);
            self.columns[column] = pair.map_or(0, |pair| pair.iter().sum());
        }
        self.width *= 2;
    }

    /// The share of the time from the first event to `now` that lies in non-empty columns: 1 if it
    /// never paused.
    pub(in crate::doctor) fn steadiness(&self, now: Duration) -> f64 {
        let Some(origin) = self.origin else { return 0.0 };
        let columns = now.saturating_sub(origin).as_secs_f64() / self.width.as_secs_f64();
        let used = self.columns.iter().filter(|count| **count > 0).count();
        (used as f64 / columns.ceil().max(1.0)).min(1.0)
    }
}

impl Default for Spread {
    fn default() -> Self {
        Spread { columns: [0; Self::COLUMNS], width: Duration::from_millis(1), origin: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(times: impl IntoIterator<Item = u64>) -> Spread {
        let mut spread = Spread::default();
        times.into_iter().for_each(|ms| spread.add(Duration::from_millis(ms)));
        spread
    }

    #[test]
    fn what_goes_on_all_the_time_is_steady_and_a_burst_is_not() {
        let steady = spread((5..10_000).step_by(7));
        assert_eq!(steady.columns.iter().sum::<u64>(), 1428);
        assert!(steady.steadiness(Duration::from_secs(10)) > 0.95);
        let burst = spread(5..20);
        assert!(burst.steadiness(Duration::from_secs(10)) < 0.1);
    }
}
