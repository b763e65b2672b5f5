//! Runtimes without companions.

use std::io;
use std::marker::PhantomData;

/// Whether a runtime has a companion, which is never the case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings;

impl Settings {
    pub(crate) fn enable(&mut self) {}

    pub(crate) fn grant(
        &self,
        _companion: &Companion,
        _on_thread_start: impl Fn() + Send + Sync + 'static,
    ) -> io::Result<OwnedCompanion> {
        Ok(OwnedCompanion)
    }
}

/// The companion that a runtime's threads enter.
#[derive(Debug, Default)]
pub(crate) struct Companion;

impl Companion {
    pub(crate) fn enter(&self) -> Guard<'_> {
        Guard(PhantomData)
    }
}

/// A guard: the thread is in the companion.
pub(crate) struct Guard<'a>(PhantomData<&'a Companion>);

/// Ends the companion when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct OwnedCompanion;
