//! Deliberate mistakes, for the model checker to find.
//!
//! A loom suite that passes proves nothing until it has been seen to fail. Each canary names
//! one ordering or one step of a protocol; a loom test that switches it on must fail. Outside
//! loom a canary is a constant `false`: nothing of it reaches the compiled code.

use crate::Ordering;

/// One mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canary(&'static str);

#[cfg(loom)]
std::thread_local! {
    static ACTIVE: std::cell::Cell<Option<Canary>> = const { std::cell::Cell::new(None) };
}

impl Canary {
    /// A mistake of this name, which must be unlike those of other mistakes.
    pub const fn new(name: &'static str) -> Self {
        Canary(name)
    }

    /// Whether this mistake is being made.
    #[inline(always)]
    pub fn sings(self) -> bool {
        #[cfg(loom)]
        return ACTIVE.get() == Some(self);
        #[cfg(not(loom))]
        false
    }

    /// `right`, or `Relaxed` while this mistake is being made.
    #[inline(always)]
    pub fn weakens(self, right: Ordering) -> Ordering {
        if self.sings() { Ordering::Relaxed } else { right }
    }

    /// Runs a loom model with this mistake in it. The model must panic; the caller says with
    /// `#[should_panic(expected = …)]` how. Loom runs all threads of a model on the calling OS thread, so a
    /// thread-local reaches all of them and no other test.
    #[cfg(loom)]
    pub fn model(self, body: impl Fn() + Sync + Send + 'static) {
        self.model_with(&loom::model::Builder::new(), body);
    }

    /// As [`model`](Self::model), with bounds of the model's own.
    #[cfg(loom)]
    pub fn model_with(self, model: &loom::model::Builder, body: impl Fn() + Sync + Send + 'static) {
        struct Silence;
        impl Drop for Silence {
            fn drop(&mut self) {
                ACTIVE.set(None);
            }
        }
        let _silence = Silence;
        ACTIVE.set(Some(self));
        model.check(body);
    }
}
