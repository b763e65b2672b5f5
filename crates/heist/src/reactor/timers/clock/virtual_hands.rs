//! The hands of a clock that can be stopped and moved.

use super::{Clock, Time};
use crate::reactor::timers::time::{Millis, ORIGIN};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Saves programs that stop no clocks the lookup of the runtime's clock.
static WERE_ANY_STOPPED: AtomicBool = AtomicBool::new(false);

#[inline]
pub(super) fn were_any_stopped() -> bool {
    // Relaxed: a thread that stops a clock while others read it cannot know what they see.
    WERE_ANY_STOPPED.load(Ordering::Relaxed)
}

pub(super) struct Hands {
    /// Whether they were ever stopped. Until then they show the system's time.
    were_stopped: AtomicBool,
    position: Mutex<Position>,
}

#[derive(Clone, Copy)]
struct Position {
    /// The time that they show while stopped, or showed when they were started.
    shown: Instant,
    moving_since: Option<Instant>,
}

impl Position {
    fn now(self) -> Instant {
        self.shown + self.moving_since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl Hands {
    pub(super) fn new(is_stopped: bool) -> Self {
        let now = Instant::now();
        let position = Mutex::new(Position { shown: now, moving_since: Some(now) });
        let hands = Hands { were_stopped: AtomicBool::new(false), position };
        if is_stopped {
            hands.stop();
        }
        hands
    }

    #[inline]
    pub(super) fn show(&self) -> Instant {
        if self.were_stopped.load(Ordering::Relaxed) { self.lock().now() } else { Instant::now() }
    }

    #[inline]
    pub(super) fn are_stopped(&self) -> bool {
        self.were_stopped.load(Ordering::Relaxed) && self.lock().moving_since.is_none()
    }

    pub(super) fn jump(&self, time: Time) {
        let mut position = self.lock();
        if position.moving_since.is_none() {
            position.shown = position.shown.max(instant(time));
        }
    }

    /// Stops at the next whole millisecond, so that timers of whole milliseconds fire at exactly
    /// the same time in each run of a test.
    fn stop(&self) -> bool {
        let mut position = self.lock();
        if position.moving_since.is_none() {
            return false;
        }
        let shown = instant(Millis::after(Time::of(position.now())).time());
        *position = Position { shown, moving_since: None };
        self.were_stopped.store(true, Ordering::Relaxed);
        WERE_ANY_STOPPED.store(true, Ordering::Relaxed);
        true
    }

    fn lock(&self) -> MutexGuard<'_, Position> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn instant(time: Time) -> Instant {
    *ORIGIN + Duration::from_nanos(time.as_nanos())
}

/// For `time::pause`, `resume` and `advance`. They return `false` if the clock was not in the
/// required state.
impl Clock {
    #[must_use]
    pub(crate) fn stop(&self) -> bool {
        self.0.stop()
    }

    #[must_use]
    pub(crate) fn go_on(&self) -> bool {
        let mut position = self.0.lock();
        let was_stopped = position.moving_since.is_none();
        position.moving_since.get_or_insert_with(Instant::now);
        was_stopped
    }

    #[must_use]
    pub(crate) fn push(&self, by: Duration) -> bool {
        let mut position = self.0.lock();
        let is_stopped = position.moving_since.is_none();
        if is_stopped {
            position.shown += by;
        }
        is_stopped
    }
}
