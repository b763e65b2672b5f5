//! Processes whose `Child` was dropped before they exited. They must be waited for, or they remain
//! as zombies.
//!
//! The runtime in which a process was started waits for it, with a [`Reaction`]. If that runtime is
//! shut down, the process becomes an orphan, and the next runtime that starts a process adopts it.

use super::reaper::{Reaper, Waited};
use crate::reactor::{Reaction, Reactors};
use std::future::poll_fn;
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};

/// Processes for which no runtime waits.
static FOUNDLINGS: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Waits for a process in the background.
pub(super) fn adopt(reaper: Reaper) {
    let mut ward = Ward(Some(reaper));
    Reaction::start(async move {
        let waited = match &mut ward.0 {
            Some(reaper) => poll_fn(|cx| reaper.poll_wait(cx)).await,
            None => return,
        };
        // If the status is lost, there is no zombie either.
        if let Waited::Exited(_) | Waited::Lost(_) = waited {
            drop(ward.0.take());
        }
    });
}

/// Leaves a process to the next runtime that starts one.
pub(super) fn abandon(child: Child) {
    FOUNDLINGS.lock().unwrap_or_else(PoisonError::into_inner).push(child);
}

/// Has the runtime of `reactors` wait for all orphans.
pub(super) fn take_in(reactors: &Arc<Reactors>) {
    let foundlings =
        std::mem::take(&mut *FOUNDLINGS.lock().unwrap_or_else(PoisonError::into_inner));
    for mut child in foundlings {
        if let Ok(None) = child.try_wait() {
            match Reaper::new(child, reactors) {
                Ok(reaper) => adopt(reaper),
                Err((child, _)) => abandon(child),
            }
        }
    }
}

/// Becomes an orphan again if it is dropped.
struct Ward(Option<Reaper>);

impl Drop for Ward {
    fn drop(&mut self) {
        if let Some(reaper) = self.0.take() {
            abandon(reaper.into_child());
        }
    }
}
