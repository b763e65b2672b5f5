//! Dumps at the exit of the process, of runtimes that still exist then: the global runtime, and any
//! other runtime if `std::process::exit` is called.

use super::{Handle, dump};
use std::mem;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Registers a runtime to be dumped at the exit of the process, until this is dropped.
#[derive(Debug)]
pub(super) struct AtExit {
    number: u64,
}

static LIVING: Mutex<Living> = Mutex::new(Living { runtimes: Vec::new(), next_number: 0 });

struct Living {
    runtimes: Vec<(u64, Handle, PathBuf)>,
    next_number: u64,
}

impl AtExit {
    pub(super) fn dump(handle: Handle, file: PathBuf) -> Self {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(|| {
            // If registration fails, runtimes that are not shut down leave no file.
            // SAFETY: (FFI) dump_all() does not unwind, and exists until the process has ended.
            let _ = unsafe { libc::atexit(dump_all) };
        });
        let mut living = living();
        let number = living.next_number;
        living.next_number += 1;
        living.runtimes.push((number, handle, file));
        AtExit { number }
    }
}

impl Drop for AtExit {
    fn drop(&mut self) {
        let mut living = living();
        let place = living.runtimes.iter().position(|(number, ..)| *number == self.number);
        let runtime = place.map(|place| living.runtimes.swap_remove(place));
        drop(living);
        // Outside of the lock: this may be the last handle.
        drop(runtime);
    }
}

/// Dumps all registered runtimes, whose threads continue meanwhile.
extern "C" fn dump_all() {
    let runtimes = mem::take(&mut living().runtimes);
    runtimes.iter().for_each(|(_, handle, file)| dump(handle, file));
    // The process ends, so nothing needs to be shut down.
    mem::forget(runtimes);
}

fn living() -> MutexGuard<'static, Living> {
    // Nothing panics with the lock held.
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}
