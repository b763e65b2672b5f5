//! The identity of a runtime.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// The id of a runtime. No other runtime of the process has or had the same id.
///
/// # Examples
///
/// ```
/// use heist::runtime::{Builder, Handle};
///
/// let rt = Builder::new_current_thread().build().unwrap();
/// let id = rt.block_on(async { Handle::current().id() });
/// assert_eq!(id, rt.handle().id());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id(NonZeroU64);

impl Id {
    /// An id that was never given out before.
    pub(crate) fn next() -> Id {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: uniqueness is all that is asked of it.
        Id(NonZeroU64::MIN.saturating_add(NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    pub(crate) fn number(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Id").field(&self.0).finish()
    }
}

/// Which runtime it is, to programs and to people.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) id: Id,
    pub(crate) name: Option<Box<str>>,
}
