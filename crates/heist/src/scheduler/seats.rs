//! Seats: the right to run.
//!
//! A runtime has as many seats as it was asked for workers, and a worker runs tasks only while it
//! sits on one. It sleeps there, too: whoever wakes a seat wakes the worker that sits on it. So the
//! idle protocol is about seats, not about workers or threads.
//!
//! Seat i is the home of worker i. Its queues are the worker's and stay with it: others take from
//! them whoever sits where. (Lending a stuck worker's seat to a spare one is not built yet, so every
//! worker sits at home.)

use crate::env::Parker;

pub(super) struct Seat {
    parker: Parker,
}

impl Seat {
    pub(super) fn new() -> Self {
        Seat { parker: Parker::new() }
    }

    /// The worker that sits here sleeps until the seat is woken.
    pub(super) fn sleep(&self) {
        self.parker.park();
    }

    /// Wakes the worker that sleeps here, or the next one to try.
    pub(super) fn wake(&self) {
        self.parker.unpark();
    }
}

/// For workers without threads, which only seem to sleep.
#[cfg(all(test, not(loom)))]
impl Seat {
    pub(super) fn is_woken(&self) -> bool {
        self.parker.is_notified()
    }

    pub(super) fn try_sleep(&self) -> bool {
        self.parker.try_park()
    }
}
