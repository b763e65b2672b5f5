//! Time passes by itself.

use std::time::Instant;

pub(super) struct Hands;

impl Hands {
    pub(super) fn new(_now: Instant) -> Self {
        Hands
    }

    #[inline]
    pub(super) fn show(&self) -> Instant {
        Instant::now()
    }
}
