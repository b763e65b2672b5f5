//! The clock of a runtime. With the feature `test-util` a program may stop it, and move it on.

#[cfg_attr(feature = "test-util", path = "clock/virtual_hands.rs")]
#[cfg_attr(not(feature = "test-util"), path = "clock/real_hands.rs")]
mod hands;

use super::Time;
use hands::Hands;
use std::time::Instant;

pub(crate) struct Clock {
    /// What times are counted from.
    origin: Instant,
    hands: Hands,
}

impl Clock {
    pub(crate) fn new() -> Self {
        let origin = Instant::now();
        Clock { origin, hands: Hands::new(origin) }
    }

    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.time_of(self.instant())
    }

    /// What it shows, as an instant.
    #[inline]
    pub(crate) fn instant(&self) -> Instant {
        self.hands.show()
    }

    #[inline]
    pub(crate) fn time_of(&self, instant: Instant) -> Time {
        Time::between(self.origin, instant)
    }
}
