//! Deliberate mistakes that the model checker must find.
//!
//! A loom suite that passes proves nothing until it has been seen to fail. Each canary names one
//! ordering or one step of a protocol, and a loom test that switches it on must fail. Outside loom
//! a canary is the constant `false`, of which nothing is compiled.

use crate::Ordering;

/// A deliberate mistake in a protocol.
///
/// # Examples
///
/// ```
/// use heist_sync::{AtomicU64, Canary, Ordering};
///
/// const PUBLISH_RELAXED: Canary = Canary::new("publish relaxed");
///
/// fn publish(tail: &AtomicU64) {
///     tail.store(1, PUBLISH_RELAXED.weakens(Ordering::Release));
/// }
///
/// publish(&AtomicU64::new(0));
/// assert!(!PUBLISH_RELAXED.sings(), "only a loom test switches it on");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canary(&'static str);

#[cfg(loom)]
std::thread_local! {
    static ACTIVE: std::cell::Cell<Option<Canary>> = const { std::cell::Cell::new(None) };
}

impl Canary {
    /// Creates a canary. Its name is unique in its crate.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::Canary;
    ///
    /// const NO_SECOND_CHECK: Canary = Canary::new("no second check");
    /// assert_ne!(NO_SECOND_CHECK, Canary::new("publish relaxed"));
    /// ```
    pub const fn new(name: &'static str) -> Self {
        Canary(name)
    }

    /// Returns whether this canary is switched on.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::Canary;
    ///
    /// const NO_SECOND_CHECK: Canary = Canary::new("no second check");
    ///
    /// /// The second check is left out only in a test that must then fail.
    /// fn is_over(check: impl Fn() -> bool) -> bool {
    ///     check() || (!NO_SECOND_CHECK.sings() && check())
    /// }
    /// assert!(is_over(|| true));
    /// ```
    #[inline(always)]
    pub fn sings(self) -> bool {
        #[cfg(loom)]
        return ACTIVE.get() == Some(self);
        #[cfg(not(loom))]
        false
    }

    /// Returns `right`, or `Relaxed` if this canary is switched on.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{Canary, Ordering};
    ///
    /// const PUBLISH_RELAXED: Canary = Canary::new("publish relaxed");
    /// assert_eq!(PUBLISH_RELAXED.weakens(Ordering::Release), Ordering::Release);
    /// ```
    #[inline(always)]
    pub fn weakens(self, right: Ordering) -> Ordering {
        if self.sings() { Ordering::Relaxed } else { right }
    }

    /// Runs a loom model with this canary switched on. The model must panic, in the way that the
    /// test expects with `#[should_panic(expected = …)]`. Loom runs all threads of a model on the
    /// calling OS thread, so a thread-local reaches all of them and no other test.
    #[cfg(loom)]
    pub fn model(self, body: impl Fn() + Sync + Send + 'static) {
        self.model_with(&loom::model::Builder::new(), body);
    }

    /// As [`model`](Self::model), with the bounds of this builder.
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
