//! An unbounded queue, last in first out for its owner, first in first out for its thieves.
//!
//! The [`Owner`] works at the bottom like on a stack; thieves take the oldest item at the top.
//! It is the queue for *jobs* of a fork-join computation: the owner's push and pop run without
//! an atomic read-modify-write and without a fence unless a thief is near, yet everything that
//! was pushed can be stolen, also while the owner does something else for a long time. (Where the
//! kernel has no process-wide barrier, a pop does run one fence.)
//!
//! The protocol, with its proof, is told in `src/deque/README.md`.
//!
//! | operation | cost | atomic read-modify-writes |
//! |---|---|---|
//! | [`Owner::push`] | O(1), amortised over growth | none; 3 when somebody has asked |
//! | [`Owner::pop`] | O(1) | none; 3 when somebody has asked, 2 to take back from the public part |
//! | [`Stealer::steal`] | O(1) | 1, and 1 more for the last that is public; up to 5 and one process-wide barrier when nothing is public |
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
//! There is one owner, and the type says so:
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
mod calm;
mod hand;
mod own;
mod owner;
mod shared;
mod split;
mod stealer;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod wrap_tests;

pub use hand::{Hand, Mark, Pushed};
pub use owner::Owner;
pub use stealer::Stealer;
