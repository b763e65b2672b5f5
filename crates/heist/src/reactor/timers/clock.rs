//! The clock of a runtime. With the feature `test-util` a program may stop it, and move it on.

#[cfg_attr(feature = "test-util", path = "clock/virtual_hands.rs")]
#[cfg_attr(not(feature = "test-util"), path = "clock/real_hands.rs")]
mod hands;

use super::Time;
use hands::Hands;
use std::time::Instant;

pub(crate) struct Clock(Hands);

impl Clock {
    /// One that goes, unless it `is_stopped`.
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

    /// Whether it stands still. Then time passes in jumps: when nobody has anything to do, to the next timer.
    #[inline]
    pub(crate) fn is_stopped(&self) -> bool {
        self.0.are_stopped()
    }

    /// Moves it on to `time`, if it stands still and shows an earlier one.
    pub(crate) fn jump(&self, time: Time) {
        self.0.jump(time);
    }

    /// Whether any clock of the process was ever stopped. If not, there is no need to ask which one counts.
    #[inline]
    pub(crate) fn was_any_stopped() -> bool {
        hands::were_any_stopped()
    }
}
