//! An input that all sides of a bench work on, one after another: large ones are there once, and no
//! side has better luck with its memory than another.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Made by the side that is set up first, gone when the last side is.
pub struct Shared<T>(Arc<Mutex<Weak<T>>>);

impl<T> Shared<T> {
    pub fn new() -> Self {
        Shared(Arc::new(Mutex::new(Weak::new())))
    }

    pub fn get(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut weak = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        weak.upgrade().unwrap_or_else(|| {
            let made = Arc::new(make());
            *weak = Arc::downgrade(&made);
            made
        })
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_once_and_only_as_long_as_it_is_used() {
        let shared = Shared::new();
        let first = shared.get(|| 1);
        assert!(Arc::ptr_eq(&first, &shared.clone().get(|| 2)));
        drop(first);
        assert_eq!(*shared.get(|| 3), 3);
    }
}
