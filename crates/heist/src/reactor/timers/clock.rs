//! The clock of a runtime. With the feature `test-util`, a program may stop and move it.

#[cfg_attr(feature = "test-util", path = "clock/virtual_hands.rs")]
#[cfg_attr(not(feature = "test-util"), path = "clock/real_hands.rs")]
mod hands;

use super::Time;
use hands::Hands;
use std::time::Instant;

pub(crate) struct Clock(Hands);

impl Clock {
    /// Creates a clock that runs, unless it `is_stopped`.
    pub(crate) fn new(is_stopped: bool) -> Self {
        Clock(Hands::new(is_stopped))
    }

    #[inline]
    pub(crate) fn now(&self) -> Time {
        Time::of(self.instant())
    }

    #[inline]
    pub(crate) fn instant(&self) -> Instant {
        self.0.show()
    }

    /// Whether it is stopped. Time then jumps to the next timer when there is nothing to do.
    #[inline]
    pub(crate) fn is_stopped(&self) -> bool {
        self.0.are_stopped()
    }

    /// Moves it to `time`, if it is stopped at an earlier time.
    pub(crate) fn jump(&self, time: Time) {
        self.0.jump(time);
    }

    /// Whether any clock of the process was ever stopped. If not, all clocks show the same time.
    #[inline]
    pub(crate) fn was_any_stopped() -> bool {
        hands::were_any_stopped()
    }
}
