//! The most recent stalls.

use crate::env::Clock;
use crate::stall::{StallConfig, StallReport};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of stalls that are kept. Guessed.
const KEPT: usize = 32;

#[derive(Default)]
pub(super) struct RecentStalls(Mutex<VecDeque<(Clock, StallReport)>>);

impl RecentStalls {
    /// Registers for all stalls, before the user's hook, which may panic.
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

    /// The stalls and when each was reported, newest last.
    pub(super) fn all(&self) -> Vec<(Clock, StallReport)> {
        self.lock().iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Clock, StallReport)>> {
        // Nothing panics with the lock held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::stall::a_stall;
    use std::sync::mpsc;

    #[test]
    fn the_last_ones_are_kept() {
        let stalls = RecentStalls::default();
        for worker in 0..KEPT + 5 {
            stalls.keep(&StallReport { worker, ..a_stall() });
        }
        let workers: Vec<_> = stalls.all().iter().map(|(_, stall)| stall.worker()).collect();
        assert!(workers.into_iter().eq(5..KEPT + 5));
    }

    #[test]
    fn the_hook_of_the_user_is_told_too() {
        let (tell, told) = mpsc::channel();
        let hook = move |stall: &StallReport| tell.send(stall.worker()).unwrap();
        let mut config = StallConfig { on_stall: Some(Arc::new(hook)), ..StallConfig::default() };
        let stalls = Arc::new(RecentStalls::default());
        stalls.listen(&mut config);
        config.report(&StallReport { worker: 3, ..a_stall() });
        assert_eq!(stalls.all().len(), 1);
        assert_eq!(told.try_recv(), Ok(3));
    }
}
