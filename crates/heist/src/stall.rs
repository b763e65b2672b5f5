//! Stalls: the reports about tasks that keep their worker for too long.

mod report;

#[cfg(feature = "tracing")]
mod event;
#[cfg(not(feature = "tracing"))]
#[path = "stall/no_event.rs"]
mod event;

pub(crate) use report::StuckTask;
pub use report::{StallCause, StallReport, Waiting};

use crate::env::quietly;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

type OnStall = Arc<dyn Fn(&StallReport) + Send + Sync>;

/// The user's settings for stalls.
#[derive(Clone)]
pub(crate) struct StallConfig {
    /// How long a worker may be in one poll while work waits (L2). With `None` nothing is watched.
    pub(crate) threshold: Option<Duration>,
    pub(crate) on_stall: Option<OnStall>,
}

impl Default for StallConfig {
    fn default() -> Self {
        StallConfig { threshold: Some(Duration::from_millis(10)), on_stall: None }
    }
}

impl StallConfig {
    /// Reports a stall to the log and to the hook. Both are foreign code, whose panics stay here
    /// (T7).
    pub(crate) fn report(&self, stall: &StallReport) {
        quietly(|| event::warn_stall(stall));
        if let Some(on_stall) = &self.on_stall {
            quietly(|| on_stall(stall));
        }
    }
}

impl fmt::Debug for StallConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StallConfig").field("threshold", &self.threshold).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
pub(crate) use report::tests::stall as a_stall;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// T7: what is called may panic, and is called again the next time.
    #[test]
    fn t7_a_panic_of_the_hook_goes_no_further() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let hook = {
            let seen = Arc::clone(&seen);
            move |stall: &StallReport| {
                seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(stall.worker());
                panic!("on purpose");
            }
        };
        let config = StallConfig { on_stall: Some(Arc::new(hook)), ..StallConfig::default() };
        for worker in [3, 4] {
            config.report(&StallReport { worker, ..report::tests::stall() });
        }
        assert_eq!(*seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner()), [3, 4]);
    }

    #[test]
    fn without_a_hook_nothing_happens() {
        StallConfig::default().report(&report::tests::stall());
    }
}
