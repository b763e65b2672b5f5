//! A bounded queue: first in, first out for its owner and for thieves.
//!
//! The [`Owner`] pushes at the tail and pops at the head. [`Stealer`]s take half of the items in
//! one claim. This is the queue for *tasks*: it is fair and of fixed size, and a push neither waits
//! for a thief nor retries because of one (Q3).
//!
//! The protocol and its proof are in `src/ring/README.md`.
//!
//! | operation | cost | atomic read-modify-writes |
//! |---|---|---|
//! | [`Owner::push`] | O(1) | none |
//! | [`Owner::push_batch`] | O(items) | none |
//! | [`Owner::pop`] | O(1) | 1 |
//! | [`Owner::drain_half`] | O(items) | 1 |
//! | [`Stealer::steal`] | O(1) | 2 |
//! | [`Stealer::steal_into`], [`Stealer::steal_half_into`] | O(items stolen) | 2 |
//! | `len`, `is_empty` | O(1) | none |
//!
//! ```
//! use heist_deque::ring::Owner;
//!
//! let mut victim = Owner::new();
//! for task in 0..5 {
//!     victim.push(task).unwrap();
//! }
//!
//! let mut thief = Owner::new();
//! // ceil(5 / 2) = 3 items move in one claim. The oldest is returned.
//! assert_eq!(victim.stealer().steal_into(&mut thief).success(), Some(0));
//! assert_eq!(thief.pop(), Some(1));
//! assert_eq!(thief.pop(), Some(2));
//! assert_eq!(victim.pop(), Some(3));
//! ```
//!
//! There is one owner, which the compiler checks:
//!
//! ```compile_fail,E0599
//! let owner = heist_deque::ring::Owner::<u32>::new();
//! let second = owner.clone();
//! ```
//!
//! ```compile_fail,E0499
//! let mut owner = heist_deque::ring::Owner::<u32>::new();
//! let (a, b) = (&mut owner, &mut owner);
//! a.push(1).unwrap();
//! b.push(2).unwrap();
//! ```
//!
//! ```compile_fail,E0599
//! heist_deque::ring::Owner::<u32>::new().stealer().push(1);
//! ```
//!
//! Items that must stay on their thread cannot leave it:
//!
//! ```compile_fail,E0277
//! let mut owner = heist_deque::ring::Owner::new();
//! owner.push(std::rc::Rc::new(1)).unwrap();
//! std::thread::spawn(move || owner.pop());
//! ```
//!
//! ```compile_fail,E0277
//! let stealer = heist_deque::ring::Owner::<std::rc::Rc<u32>>::new().stealer();
//! std::thread::spawn(move || stealer.steal());
//! ```
//!
//! Nothing can be pushed during a drain:
//!
//! ```compile_fail,E0499
//! let mut owner = heist_deque::ring::Owner::new();
//! let drain = owner.drain_half();
//! owner.push(1).unwrap();
//! drop(drain);
//! ```

mod drain;
mod head;
mod owner;
mod shared;
mod stealer;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod wrap_tests;

pub use drain::Drain;
pub use owner::{Full, Owner};
pub use stealer::Stealer;
