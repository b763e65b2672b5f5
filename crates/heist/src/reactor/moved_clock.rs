//! Firing timers after a stopped clock was moved.

use super::{HARVEST, Reactors};
use crate::env::quietly;

impl Reactors {
    /// Fires all timers that are due.
    pub(crate) fn fire_timers(&self) {
        let now = self.clock.now();
        let mut wakers = Vec::new();
        for reactor in &self.reactors {
            while reactor.timers.advance(now, HARVEST, &mut wakers) {}
        }
        wakers.into_iter().for_each(|waker| quietly(|| waker.wake()));
    }
}
