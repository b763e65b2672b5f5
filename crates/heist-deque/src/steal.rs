//! The result of a steal.

/// The result of one attempt to steal.
///
/// A thief that loses a race gets [`Retry`](Steal::Retry): another thread has made progress, and
/// there may still be something to take (Q6). [`Empty`](Steal::Empty) means that there was nothing
/// to take at some moment of the call.
///
/// # Examples
///
/// ```
/// use heist_deque::{Steal, deque::Owner};
///
/// let mut owner = Owner::new();
/// owner.push("job");
/// match owner.stealer().steal() {
///     Steal::Success(job) => assert_eq!(job, "job"),
///     Steal::Retry => { /* try again, here or elsewhere */ }
///     Steal::Empty => unreachable!("no other thread takes it"),
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a stolen item is lost when it is dropped, and Retry asks for another attempt"]
pub enum Steal<T> {
    /// There was nothing to steal.
    Empty,
    /// An item was stolen.
    Success(T),
    /// Another thread has interfered. Another attempt may succeed.
    Retry,
}

impl<T> Steal<T> {
    /// Returns whether there was nothing to steal.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_deque::Steal;
    ///
    /// assert!(Steal::<u32>::Empty.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        matches!(self, Steal::Empty)
    }

    /// Returns whether something was stolen.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_deque::Steal;
    ///
    /// assert!(Steal::Success(1).is_success());
    /// ```
    pub fn is_success(&self) -> bool {
        matches!(self, Steal::Success(_))
    }

    /// Returns whether another attempt may succeed.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_deque::Steal;
    ///
    /// assert!(Steal::<u32>::Retry.is_retry());
    /// ```
    pub fn is_retry(&self) -> bool {
        matches!(self, Steal::Retry)
    }

    /// Returns the stolen item, if there is one.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_deque::Steal;
    ///
    /// assert_eq!(Steal::Success(1).success(), Some(1));
    /// assert_eq!(Steal::<u32>::Retry.success(), None);
    /// ```
    pub fn success(self) -> Option<T> {
        match self {
            Steal::Success(item) => Some(item),
            Steal::Empty | Steal::Retry => None,
        }
    }

    /// Applies `f` to the stolen item.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_deque::Steal;
    ///
    /// assert_eq!(Steal::Success(1).map(|item| item + 1), Steal::Success(2));
    /// ```
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Steal<U> {
        match self {
            Steal::Empty => Steal::Empty,
            Steal::Success(item) => Steal::Success(f(item)),
            Steal::Retry => Steal::Retry,
        }
    }
}
