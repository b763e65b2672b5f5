//! The events of all lanes, in the order of time.

use super::super::error::ReadError;
use super::super::event::Event;
use super::lane::LaneReader;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::iter::FusedIterator;

/// Events in the order of time; see [`Trace::events`](super::Trace::events). One chunk of each
/// lane is in memory.
#[derive(Debug)]
pub struct Events<'a> {
    heads: BinaryHeap<Head<'a>>,
    /// Comes next, and nothing after it.
    failed: Option<ReadError>,
}

/// The next event of a lane, and what comes behind it.
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
        Ok(Events { heads, failed: None })
    }
}

impl Iterator for Events<'_> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            self.heads.clear();
            return Some(Err(error));
        }
        let mut head = self.heads.peek_mut()?;
        let event = head.event;
        match head.rest.next() {
            Ok(Some(next)) => head.event = next,
            Ok(None) => {
                PeekMut::pop(head);
            }
            Err(error) => self.failed = Some(error),
        }
        Some(Ok(event))
    }
}

impl FusedIterator for Events<'_> {}

/// The heap gives out its greatest: the earliest event, and of those the first lane's.
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
