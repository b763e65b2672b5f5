//! The events of all lanes, in the order of time.

use super::super::error::ReadError;
use super::super::event::Event;
use super::lane::LaneReader;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::iter::FusedIterator;
use std::mem;

/// An iterator over events in the order of time; see [`Trace::events`](super::Trace::events).
///
/// One chunk of each lane is in memory.
///
/// # Examples
///
/// ```
/// use heist::trace::{Config, Event, Trace};
///
/// let rt = heist::runtime::Builder::new_multi_thread().trace(Config::new()).build()?;
/// rt.block_on(rt.spawn(async {}))?;
/// let mut bytes = Vec::new();
/// rt.handle().dump_trace_to(&mut bytes)?;
///
/// let trace = Trace::from_bytes(bytes)?;
/// let events: Vec<Event> = trace.events()?.collect::<Result<_, _>>()?;
/// assert!(events.is_sorted_by_key(|event| event.at));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Events<'a> {
    /// The lane with the next event. It often remains the same for a while.
    first: Option<Head<'a>>,
    others: BinaryHeap<Head<'a>>,
    /// The next and last item.
    failed: Option<ReadError>,
}

/// The next event of a lane, and those after it.
#[derive(Debug)]
struct Head<'a> {
    event: Event,
    rest: Box<LaneReader<'a>>,
}

impl<'a> Events<'a> {
    pub(super) fn new(lanes: impl IntoIterator<Item = LaneReader<'a>>) -> Result<Self, ReadError> {
        let mut heads = BinaryHeap::new();
        for mut lane in lanes {
            if let Some(event) = lane.next()? {
                heads.push(Head { event, rest: Box::new(lane) });
            }
        }
        Ok(Events { first: heads.pop(), others: heads, failed: None })
    }
}

impl Iterator for Events<'_> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            self.first = None;
            return Some(Err(error));
        }
        let first = self.first.as_mut()?;
        let event = first.event;
        match first.rest.next() {
            Ok(Some(next)) => {
                first.event = next;
                if let Some(mut other) = self.others.peek_mut() {
                    if *first < *other {
                        mem::swap(first, &mut *other);
                    }
                }
            }
            Ok(None) => self.first = self.others.pop(),
            Err(error) => self.failed = Some(error),
        }
        Some(Ok(event))
    }
}

impl FusedIterator for Events<'_> {}

/// The heap returns the greatest element: the earliest event and, among equals, the first lane's.
impl Ord for Head<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |head: &Self| (head.event.at, head.event.lane);
        key(other).cmp(&key(self))
    }
}

impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head<'_> {}
