//! The guard: who waits in the place of those that have left their seats.
//!
//! A worker that steps aside, or is robbed, leaves a seat behind on which nobody sits until there is
//! work; and work is what its reactor may bring (L3). So the reactors of such seats are looked at by
//! sysmon, which sleeps in a poller of pollers.

use super::poller::{Events, Poller};
use super::{Reactor, Reactors};
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(super) struct Guard {
    poller: Poller,
    events: Mutex<Events>,
}

/// What a reactor is to the guard.
#[derive(Default)]
pub(super) struct Post {
    /// Set before its seat is given up, cleared when it has been taken. It may be set though somebody sits
    /// there: then somebody looks who need not.
    is_left: AtomicBool,
    is_watched: AtomicBool,
}

impl Guard {
    pub(super) fn new<'a>(reactors: impl Iterator<Item = &'a Reactor>) -> io::Result<Self> {
        let poller = Poller::new()?;
        for (seat, reactor) in reactors.enumerate() {
            poller.add_other(&reactor.poller, seat as u64)?;
        }
        Ok(Guard { poller, events: Mutex::new(Events::new()) })
    }
}

impl Reactors {
    /// Whoever sits on this seat is about to leave it.
    pub(crate) fn leave(&self, seat: usize) {
        self[seat].post.is_left.store(true, Ordering::Relaxed);
    }

    /// Behind a heavy barrier after [`leave`](Self::leave): if anybody waits there, the guard watches.
    pub(crate) fn entrust(&self, seat: usize) {
        let reactor = &self[seat];
        if reactor.post.is_left.load(Ordering::Relaxed) && reactor.is_in_use() {
            self.watch(seat);
        }
    }

    /// Somebody sits on this seat now.
    pub(crate) fn attend(&self, seat: usize) {
        let post = &self[seat].post;
        post.is_left.store(false, Ordering::Relaxed);
        if post.is_watched.swap(false, Ordering::Relaxed) {
            if let Some(guard) = &self.guard {
                guard.poller.ignore_other(&self[seat].poller, seat as u64);
            }
        }
    }

    /// Somebody has begun to wait for something at this reactor.
    pub(super) fn registered(&self, seat: usize) {
        // Pairs with the heavy barrier before entrust(): one of us sees what the other did.
        self.barrier.light();
        if self[seat].post.is_left.load(Ordering::Relaxed) {
            self.watch(seat);
            // It has to find out until when it may sleep. Its own bell: what the reactor's brings may be heard by
            // somebody else, who looks.
            self.rouse_guard();
        }
    }

    fn watch(&self, seat: usize) {
        if let Some(guard) = &self.guard {
            self[seat].post.is_watched.store(true, Ordering::Relaxed);
            guard.poller.watch_other(&self[seat].poller, seat as u64);
        }
    }

    /// Looks at those whose seats are vacant, and at those that nobody has looked at for so long.
    pub(crate) fn turn_neglected(&self, limit: Duration, is_vacant: impl Fn(usize) -> bool) {
        let is_neglected = |seat: &usize| is_vacant(*seat) || self[*seat].is_stale(limit);
        (0..self.len()).filter(is_neglected).for_each(|seat| _ = self[seat].turn());
    }

    /// Sysmon sleeps until something comes to a reactor whose seat is vacant, it is roused, or so much
    /// time has passed. It may wake up for nothing. Who gives up a seat from now on sees to it itself.
    pub(crate) fn stand_guard(&self, limit: Option<Duration>, is_vacant: impl Fn(usize) -> bool) {
        let Some(guard) = &self.guard else { unreachable!("sysmon comes with a guard") };
        let vacant = (0..self.len()).filter(|seat| is_vacant(*seat) && self[*seat].is_in_use());
        let limits = vacant.filter_map(|seat| {
            self.watch(seat);
            self[seat].until_next_timer()
        });
        let limit = limits.chain(limit).min();
        let events = &mut *guard.events.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        _ = guard.poller.wait(events, limit);
    }

    /// Ends that sleep, or the next.
    pub(crate) fn rouse_guard(&self) {
        self.guard.iter().for_each(|guard| guard.poller.wake());
    }
}
