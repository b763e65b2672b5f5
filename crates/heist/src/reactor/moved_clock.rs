//! Firing timers after a stopped clock was moved.

use super::{HARVEST, Reactors, wake};

impl Reactors {
    /// Fires all timers that are due.
    pub(crate) fn fire_timers(&self) {
        let now = self.clock.now();
        let mut wakers = Vec::new();
        for reactor in &self.reactors {
            while reactor.timers.advance(now, HARVEST, &mut wakers) {}
        }
        wakers.into_iter().for_each(wake);
    }
}
