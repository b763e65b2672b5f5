//! A hand where there is no owner.

use super::hand::Hand;
#[cfg(not(loom))]
use super::own::Own;
#[cfg(loom)]
use std::marker::PhantomData;

/// The owner that there is where there is none: at its [hand](Self::hand) nothing can be pushed. So who has either finds out by the push, and need not look before.
///
/// In a model its hand must not be used: atomics of a model are no statics.
pub struct Nobody<T> {
    #[cfg(not(loom))]
    own: Own<T>,
    #[cfg(loom)]
    own: PhantomData<fn(T)>,
}

// SAFETY: (type) there is nothing in it, and nothing is ever written.
unsafe impl<T> Sync for Nobody<T> {}

#[cfg(not(loom))]
impl<T> Nobody<T> {
    /// For a static.
    #[expect(clippy::new_without_default, reason = "one is enough for a program")]
    pub const fn new() -> Self {
        Nobody { own: Own::nobodys() }
    }

    /// Its hand. Any number of threads may use it at once: each push comes to [`Pushed::Not`](super::Pushed::Not).
    pub const fn hand(&'static self) -> Hand<T> {
        Hand::of(&self.own)
    }
}

#[cfg(loom)]
#[expect(missing_docs, reason = "as above")]
impl<T> Nobody<T> {
    #[expect(clippy::new_without_default, reason = "as above")]
    pub const fn new() -> Self {
        Nobody { own: PhantomData }
    }

    pub const fn hand(&'static self) -> Hand<T> {
        Hand::dangling()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::deque::Pushed;

    #[test]
    fn at_nobodys_hand_nothing_can_be_pushed() {
        static NOBODY: Nobody<Box<u32>> = Nobody::new();
        let hand = NOBODY.hand();
        for number in 0..3 {
            // SAFETY: (Q2) it is nobody's.
            let mark = unsafe { hand.mark() };
            // SAFETY: (Q2) as above, and that is what it says.
            let pushed = unsafe { hand.push_lazily(mark, Box::new(number)) };
            assert!(matches!(pushed, Pushed::Not(item) if *item == number));
            // SAFETY: (Q2) as above.
            assert!(!unsafe { hand.take_back(mark) });
        }
    }
}
