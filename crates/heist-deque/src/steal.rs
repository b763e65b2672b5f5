//! What a thief gets.

/// The outcome of one attempt to steal.
///
/// A thief that loses a race is told so (Q6): [`Retry`](Steal::Retry) means that somebody else
/// made progress and that there may still be something to take, [`Empty`](Steal::Empty) that
/// there was nothing to take at one instant of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a stolen item is lost when it is dropped, and Retry asks for another attempt"]
pub enum Steal<T> {
    /// There was nothing to steal.
    Empty,
    /// This was stolen.
    Success(T),
    /// Another thread got in between; trying again may succeed.
    Retry,
}

impl<T> Steal<T> {
    /// Whether there was nothing to steal.
    pub fn is_empty(&self) -> bool {
        matches!(self, Steal::Empty)
    }

    /// Whether something was stolen.
    pub fn is_success(&self) -> bool {
        matches!(self, Steal::Success(_))
    }

    /// Whether another attempt may succeed.
    pub fn is_retry(&self) -> bool {
        matches!(self, Steal::Retry)
    }

    /// What was stolen, if anything was.
    pub fn success(self) -> Option<T> {
        match self {
            Steal::Success(item) => Some(item),
            Steal::Empty | Steal::Retry => None,
        }
    }

    /// Applies `f` to what was stolen.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Steal<U> {
        match self {
            Steal::Empty => Steal::Empty,
            Steal::Success(item) => Steal::Success(f(item)),
            Steal::Retry => Steal::Retry,
        }
    }
}
