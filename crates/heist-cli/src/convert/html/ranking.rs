//! Tasks, and the places where they were spawned, by the time that their polls took.

use super::page::{self, Row};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// The maximum size of all titles in bytes. Further tasks are named by their numbers.
const TITLE_BYTES: usize = 1 << 19;

/// What polls took, by key. Memory is bounded: when there are too many keys, the half that took
/// least is forgotten.
#[derive(Debug)]
pub(super) struct Ranking<K> {
    entries: HashMap<K, Entry>,
    limit: usize,
    is_partial: bool,
}

#[derive(Debug, Default, Clone, Copy)]
struct Entry {
    polls: u64,
    busy: u64,
    longest: u64,
    delays: u64,
    delay: u64,
    longest_delay: u64,
}

impl<K: Hash + Eq + Clone + Ord> Ranking<K> {
    pub(super) fn new(limit: usize) -> Self {
        Ranking { entries: HashMap::new(), limit, is_partial: false }
    }

    pub(super) fn add<Q>(&mut self, key: &Q, time: u64, delay: Option<u64>)
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(entry) = self.entries.get_mut(key) {
            return entry.add(time, delay);
        }
        if self.entries.len() >= self.limit {
            self.forget_half();
        }
        self.entries.entry(key.to_owned()).or_default().add(time, delay);
    }

    fn forget_half(&mut self) {
        let mut times: Vec<u64> = self.entries.values().map(|entry| entry.busy).collect();
        let middle = times.len() / 2;
        let (_, median, _) = times.select_nth_unstable(middle);
        let median = *median;
        self.entries.retain(|_, entry| entry.busy > median);
        self.is_partial = true;
    }

    /// Whether some entries were dropped.
    pub(super) fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// The rows of those that took most; `describe` gives a title, and a place if that is not the
    /// title.
    pub(super) fn top(
        &self,
        count: usize,
        describe: impl Fn(&K) -> (String, Option<String>),
    ) -> Vec<Row> {
        let mut entries: Vec<(&K, &Entry)> = self.entries.iter().collect();
        entries.sort_unstable_by(|a, b| b.1.busy.cmp(&a.1.busy).then_with(|| a.0.cmp(b.0)));
        let row = |(key, entry): &(&K, &Entry)| {
            let (title, place) = describe(key);
            Row {
                title: page::cut(&title).to_owned(),
                place: place.map(|place| page::cut(&place).to_owned()),
                polls: entry.polls,
                busy: entry.busy,
                longest: entry.longest,
                mean_delay: entry.delay / entry.delays.max(1),
                longest_delay: entry.longest_delay,
            }
        };
        entries.iter().take(count).map(row).collect()
    }
}

impl Entry {
    fn add(&mut self, time: u64, delay: Option<u64>) {
        self.polls += 1;
        self.busy += time;
        self.longest = self.longest.max(time);
        if let Some(delay) = delay {
            self.delays += 1;
            self.delay = self.delay.saturating_add(delay);
            self.longest_delay = self.longest_delay.max(delay);
        }
    }
}

/// The texts that spans are called by. Number 0 is none: the task's number will do.
#[derive(Debug, Default)]
pub(super) struct Titles {
    numbers: HashMap<String, usize>,
    texts: Vec<String>,
    bytes: usize,
}

impl Titles {
    pub(super) fn number(&mut self, title: &str) -> usize {
        let title = page::cut(title);
        if let Some(number) = self.numbers.get(title) {
            return *number;
        }
        if self.bytes + title.len() > TITLE_BYTES {
            return 0;
        }
        self.bytes += title.len();
        self.texts.push(title.to_owned());
        self.numbers.insert(title.to_owned(), self.texts.len());
        self.texts.len()
    }

    /// The first has number 1.
    pub(super) fn into_texts(self) -> Vec<String> {
        self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_took_most_come_first_and_are_not_forgotten() {
        let mut ranking: Ranking<u64> = Ranking::new(100);
        for key in 0..1000 {
            ranking.add(&7, 50, Some(10));
            ranking.add(&(key + 10), 1, None);
        }
        assert!(ranking.entries.len() <= 100 && ranking.is_partial());
        let top = ranking.top(3, |key| (key.to_string(), None));
        assert_eq!(top.len(), 3);
        assert_eq!((top[0].title.as_str(), top[0].polls, top[0].busy), ("7", 1000, 50_000));
        assert_eq!((top[0].mean_delay, top[0].longest_delay), (10, 10));
    }

    #[test]
    fn titles_beyond_the_limit_have_number_0() {
        let mut titles = Titles::default();
        assert_eq!(titles.number("one"), 1);
        assert_eq!(titles.number("two"), 2);
        assert_eq!(titles.number("one"), 1);
        let zeros = (0..20_000).filter(|n| titles.number(&format!("{n:0100}")) == 0).count();
        assert!(zeros > 10_000, "{zeros}");
        assert!(titles.into_texts().concat().len() <= TITLE_BYTES);
    }
}
