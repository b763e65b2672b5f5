//! What becomes of panics that nobody waits for.

use std::any::Any;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::process;

pub(crate) type PanicHandler = dyn Fn(Box<dyn Any + Send>) + Send + Sync;

/// Calls `f`, which must not unwind: its panic goes to the handler. Without one it ends the
/// process, as no one else will hear of it.
pub(crate) fn contain(handler: Option<&PanicHandler>, f: impl FnOnce()) {
    if let Err(panic) = panic::catch_unwind(AssertUnwindSafe(f)) {
        let abort = Abort;
        if let Some(handler) = handler {
            handler(panic);
            mem::forget(abort);
        }
    }
}

/// Ends the process when it is dropped: there is no handler, or it has panicked itself.
struct Abort;

impl Drop for Abort {
    fn drop(&mut self) {
        eprintln!(
            "rayon-core: a panic that nobody waits for, and no handler to take it; aborting. Give the pool one \
             with ThreadPoolBuilder::panic_handler"
        );
        process::abort();
    }
}
