//! Something that minds its thread.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

/// How many residents there have been, and where they ended.
#[derive(Clone, Default)]
pub struct Register(Arc<[AtomicUsize; 3]>);

impl Register {
    pub fn made(&self) -> usize {
        self.0[0].load(Ordering::SeqCst)
    }

    pub fn dropped_at_home(&self) -> usize {
        self.0[1].load(Ordering::SeqCst)
    }

    pub fn dropped_elsewhere(&self) -> usize {
        self.0[2].load(Ordering::SeqCst)
    }

    /// All that were made are gone, each where it was made (T6).
    #[track_caller]
    pub fn check(&self) {
        assert_eq!(self.dropped_elsewhere(), 0);
        assert_eq!(self.dropped_at_home(), self.made());
    }
}

/// A value that is not `Send` and registers where it is dropped.
pub struct Resident {
    home: ThreadId,
    register: Register,
    _not_send: Rc<()>,
}

impl Resident {
    pub fn new(register: &Register) -> Self {
        register.0[0].fetch_add(1, Ordering::SeqCst);
        let register = register.clone();
        Resident { home: thread::current().id(), register, _not_send: Rc::new(()) }
    }

    #[track_caller]
    pub fn check(&self) {
        assert_eq!(self.home, thread::current().id(), "polled on another thread");
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        let place = if self.home == thread::current().id() { 1 } else { 2 };
        self.register.0[place].fetch_add(1, Ordering::SeqCst);
    }
}
