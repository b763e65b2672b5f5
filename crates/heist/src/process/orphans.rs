//! Processes whose `Child` was dropped before they exited: somebody has to wait for them, else they
//! stay as zombies.
//!
//! The runtime where a process was started does, by an errand a process. If it is shut down the
//! process becomes a foundling, and the next runtime that starts a process takes it in.

use super::reaper::{Reaper, Waited};
use crate::reactor::{Errand, Reactors};
use std::future::poll_fn;
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};

/// Those whom no runtime waits for.
static FOUNDLINGS: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Waits for a process in the background.
pub(super) fn adopt(reaper: Reaper) {
    let mut ward = Ward(Some(reaper));
    Errand::begin(async move {
        let waited = match &mut ward.0 {
            Some(reaper) => poll_fn(|cx| reaper.poll_wait(cx)).await,
            None => return,
        };
        // Where the status cannot be known there is no zombie either.
        if let Waited::Exited(_) | Waited::Lost(_) = waited {
            drop(ward.0.take());
        }
    });
}

/// For a process that nobody can be told about.
pub(super) fn abandon(child: Child) {
    FOUNDLINGS.lock().unwrap_or_else(PoisonError::into_inner).push(child);
}

/// The runtime of `reactors` takes in those whom none waits for.
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

/// Becomes a foundling if nobody waits any more.
struct Ward(Option<Reaper>);

impl Drop for Ward {
    fn drop(&mut self) {
        if let Some(reaper) = self.0.take() {
            abandon(reaper.into_child());
        }
    }
}
