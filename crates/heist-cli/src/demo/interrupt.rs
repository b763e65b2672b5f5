//! Ctrl-C: the phase that is being shown ends soon, the cursor comes back, and nothing else is
//! shown.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

#[derive(Debug, Clone)]
pub(super) struct Interrupt {
    is_there: Arc<AtomicBool>,
}

impl Interrupt {
    /// Keeps Ctrl-C from ending the process. The thread that waits for it lives as long as the
    /// process.
    pub(super) fn new() -> io::Result<Self> {
        let interrupt = Interrupt { is_there: Arc::new(AtomicBool::new(false)) };
        let raised = interrupt.clone();
        let runtime = heist::runtime::Builder::new_current_thread().enable_all().build()?;
        let wait = move || {
            if runtime.block_on(heist::signal::ctrl_c()).is_ok() {
                raised.raise();
            }
        };
        thread::Builder::new().name("ctrl-c".to_owned()).spawn(wait)?;
        Ok(interrupt)
    }

    pub(super) fn raise(&self) {
        // Relaxed: a flag, and nothing else is read because of it.
        self.is_there.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_there(&self) -> bool {
        // Relaxed: as above.
        self.is_there.load(Ordering::Relaxed)
    }
}
