//! The last stalls, for those who ask later.

use crate::env::Clock;
use crate::stall::{StallConfig, StallReport};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many are kept. Guessed: who has more has seen enough.
const KEPT: usize = 32;

#[derive(Default)]
pub(super) struct RecentStalls(Mutex<VecDeque<(Clock, StallReport)>>);

impl RecentStalls {
    /// Hears of every stall from now on, before the user's hook does, which may panic.
    pub(super) fn listen(self: &Arc<Self>, config: &mut StallConfig) {
        let (stalls, next) = (Arc::clone(self), config.on_stall.take());
        config.on_stall = Some(Arc::new(move |stall| {
            stalls.keep(stall);
            next.iter().for_each(|next| next(stall));
        }));
    }

    fn keep(&self, stall: &StallReport) {
        let mut stalls = self.lock();
        if stalls.len() == KEPT {
            stalls.pop_front();
        }
        stalls.push_back((Clock::now(), stall.clone()));
    }

    /// The newest last, and when each was reported.
    pub(super) fn all(&self) -> Vec<(Clock, StallReport)> {
        self.lock().iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Clock, StallReport)>> {
        // Nothing panics with the lock held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
