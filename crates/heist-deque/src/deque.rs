//! An unbounded queue: last in, first out for its owner, first in, first out for thieves.
//!
//! The [`Owner`] uses the bottom like a stack. [`Stealer`]s take the oldest item, at the top. This
//! is the queue for *jobs* of a fork-join computation: push and pop run without an atomic
//! read-modify-write and without a fence unless a thief interferes, and yet thieves can take every
//! item at any time, even while the owner does something else for long. (Where the kernel has no
//! process-wide barrier, a pop runs one fence.)
//!
//! The protocol and its proof are in `src/deque/README.md`.
//!
//! | operation | cost | atomic read-modify-writes |
//! |---|---|---|
//! | [`Owner::push`] | O(1), amortised over growth | none; 3 after a thief has asked |
//! | [`Owner::pop`] | O(1) | none; 3 after a thief has asked, 2 to take back public items |
//! | [`Stealer::steal`] | O(1) | 1, and 1 more for the last public item; up to 5 and one process-wide barrier if no item is public |
//! | [`Stealer::steal_batch_into`] | O(items stolen) | as `steal` |
//! | `len`, `is_empty` | O(1) | none |
//!
//! ```
//! use heist_deque::deque::Owner;
//!
//! let mut owner = Owner::new();
//! owner.push("oldest");
//! owner.push("middle");
//! owner.push("newest");
//!
//! let thief = owner.stealer();
//! std::thread::spawn(move || assert_eq!(thief.steal().success(), Some("oldest"))).join().unwrap();
//! assert_eq!(owner.pop(), Some("newest"));
//! assert_eq!(owner.pop(), Some("middle"));
//! assert_eq!(owner.pop(), None);
//! ```
//!
//! There is one owner, which the compiler checks:
//!
//! ```compile_fail,E0599
//! let owner = heist_deque::deque::Owner::<u32>::new();
//! let second = owner.clone();
//! ```
//!
//! ```compile_fail,E0499
//! let mut owner = heist_deque::deque::Owner::<u32>::new();
//! let (a, b) = (&mut owner, &mut owner);
//! a.push(1);
//! b.pop();
//! ```
//!
//! ```compile_fail,E0599
//! heist_deque::deque::Owner::<u32>::new().stealer().pop();
//! ```
//!
//! ```compile_fail,E0596
//! let owner = std::sync::Arc::new(heist_deque::deque::Owner::<u32>::new());
//! owner.push(1);
//! ```
//!
//! Items that must stay on their thread cannot leave it:
//!
//! ```compile_fail,E0277
//! let mut owner = heist_deque::deque::Owner::new();
//! owner.push(std::rc::Rc::new(1));
//! std::thread::spawn(move || owner.pop());
//! ```
//!
//! ```compile_fail,E0277
//! let stealer = heist_deque::deque::Owner::<std::rc::Rc<u32>>::new().stealer();
//! std::thread::spawn(move || stealer.steal());
//! ```

mod buffer;
mod internal;
mod owner;
mod owner_side;
mod shared;
mod split;
mod stealer;
mod threshold;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod wrap_tests;

#[doc(hidden)]
pub use internal::{Mark, OwnerPtr, Pushed};
pub use owner::Owner;
pub use stealer::Stealer;
