//! Letting other jobs run.

use crate::{global, member};
use heist::runtime::Handle;

/// What came of [`yield_now`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yield {
    /// A job was run.
    Executed,
    /// There was none.
    Idle,
}

/// Runs one job that waits, in the middle of what the calling thread does: for loops that wait for
/// something. `None` if it is no thread of a pool.
pub fn yield_now() -> Option<Yield> {
    yield_on(&here()?, heist::Yield::Any)
}

/// Like [`yield_now`], but one that the calling thread has itself.
pub fn yield_local() -> Option<Yield> {
    yield_on(&here()?, heist::Yield::Own)
}

/// The runtime that the calling thread is a worker of.
pub(crate) fn here() -> Option<Handle> {
    if let Some(pool) = member::pool() {
        return Some(pool.handle.clone());
    }
    let is_worker = !global::is_built() && heist::current_thread_index().is_some();
    is_worker.then(|| Handle::try_current().ok()).flatten()
}

pub(crate) fn yield_on(handle: &Handle, which: heist::Yield) -> Option<Yield> {
    let has_run = handle.yield_job(which)?;
    Some(if has_run { Yield::Executed } else { Yield::Idle })
}
