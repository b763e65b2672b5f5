//! Cooperative scheduling: a task whose operations are always ready still lets other tasks run
//! (W9).
//!
//! A worker polls one task at a time, so a task that never waits would keep its worker. Therefore
//! each poll has a budget of 128 units. Every operation of heist that completes takes one unit.
//! When the budget is used up, operations return `Pending` although they could complete, and wake
//! their task: it moves to the end of the queue and continues with a new budget.
//!
//! Channels and I/O helpers of the tokio crate do not take part; see [`sync`](crate::sync).
//!
//! Your own code can take part with [`consume_budget`], [`cooperative`] or [`poll_proceed`], and
//! opt out with [`unconstrained`].

use crate::metrics;
use crate::trace::{self, Resource};
use heist_sync::thread_local;
use pin_project_lite::pin_project;
use std::cell::Cell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The number of units that the current poll may still take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Budget(u8);

impl Budget {
    /// The budget at the beginning of a poll (W9).
    const FRESH: Budget = Budget(Budget::MOST);
    /// The protocol's number (W9).
    const MOST: u8 = 128;
    /// Outside of polls, and in `unconstrained`.
    const UNLIMITED: Budget = Budget(u8::MAX);
    /// Used up, and an operation has been told so: the poll is being cut short.
    const CUT_SHORT: Budget = Budget(u8::MAX - 1);
}

thread_local! {
    static BUDGET: Cell<Budget> = Cell::new(Budget::UNLIMITED);
}

fn get() -> Budget {
    BUDGET.with(Cell::get)
}

fn set(budget: Budget) {
    BUDGET.with(|now| now.set(budget));
}

/// Calls `poll` with a fresh budget (W9). Every poll of a task, and of the future of a `block_on`,
/// happens inside of this.
#[inline]
pub(crate) fn with_fresh_budget<R>(poll: impl FnOnce() -> R) -> R {
    with_budget(Budget::FRESH, poll)
}

/// Calls `f` without a budget: for code that may block, where yielding is of no use.
#[inline]
pub(crate) fn with_no_budget<R>(f: impl FnOnce() -> R) -> R {
    with_budget(Budget::UNLIMITED, f)
}

#[inline]
fn with_budget<R>(budget: Budget, f: impl FnOnce() -> R) -> R {
    struct Reset(Budget);
    impl Drop for Reset {
        fn drop(&mut self) {
            set(self.0);
        }
    }
    let _reset = Reset(BUDGET.with(|now| now.replace(budget)));
    f()
}

/// Returns whether the current task has budget left. Outside of tasks it returns `true`.
///
/// # Examples
///
/// ```
/// use heist::task::coop;
///
/// # #[heist::main]
/// # async fn main() {
/// heist::spawn(async {
///     assert!(coop::has_budget_remaining());
///     coop::consume_budget().await;
///     assert!(coop::has_budget_remaining());
/// })
/// .await
/// .unwrap();
/// # }
/// ```
#[inline]
pub fn has_budget_remaining() -> bool {
    !matches!(get(), Budget(0) | Budget::CUT_SHORT)
}

/// Takes one unit of the task's budget, and yields to other tasks if there is none left.
///
/// Call this in loops that compute and have no other reason to wait.
///
/// # Examples
///
/// ```
/// use heist::task::coop;
///
/// async fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
///     let mut sum = 0;
///     for number in numbers {
///         sum += number;
///         coop::consume_budget().await;
///     }
///     sum
/// }
///
/// # #[heist::main]
/// # async fn main() {
/// assert_eq!(heist::spawn(sum(0..1000)).await.unwrap(), 499_500);
/// # }
/// ```
///
/// # Cancel safety
///
/// This function is cancel safe.
pub async fn consume_budget() {
    poll_fn(|cx| {
        ready!(poll_proceed(cx)).made_progress();
        Poll::Ready(())
    })
    .await;
}

/// Takes one unit of the task's budget, in a `poll` function.
///
/// If no budget is left this returns `Pending` and wakes the task; return `Pending` then. The unit
/// is given back when the returned guard is dropped, unless
/// [`made_progress`](RestoreOnPending::made_progress) was called, so that waiting costs nothing.
/// The guard restores the budget from before the call; units taken in between are given back as
/// well.
///
/// # Examples
///
/// ```
/// use heist::task::coop;
/// use std::task::{Context, Poll, ready};
///
/// /// A source that is always ready, made cooperative.
/// struct Endless(u64);
///
/// impl Endless {
///     fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<u64> {
///         let progress = ready!(coop::poll_proceed(cx));
///         self.0 += 1;
///         progress.made_progress();
///         Poll::Ready(self.0)
///     }
/// }
///
/// # #[heist::main]
/// # async fn main() {
/// let mut endless = Endless(0);
/// let mut next = async || std::future::poll_fn(|cx| endless.poll_next(cx)).await;
/// assert_eq!((next().await, next().await), (1, 2));
/// # }
/// ```
#[inline]
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    poll_proceed_with(cx, || Resource::Other)
}

/// [`poll_proceed`] for an operation on `resource`, which is called and recorded in the trace if no
/// budget is left.
#[inline]
pub(crate) fn poll_proceed_with(
    cx: &mut Context<'_>,
    resource: impl FnOnce() -> Resource,
) -> Poll<RestoreOnPending> {
    let before = get();
    match before {
        Budget(units @ 1..=Budget::MOST) => set(Budget(units - 1)),
        Budget::UNLIMITED => {}
        _ => return cut_short(before, resource, cx),
    }
    Poll::Ready(RestoreOnPending { before: Cell::new(before), _thread: PhantomData })
}

/// Takes one more unit of the task's budget for an operation that has a result already, and could
/// go on. Returns `false` if there is none left.
pub(crate) fn take_another() -> bool {
    match get() {
        Budget(units @ 1..=Budget::MOST) => set(Budget(units - 1)),
        Budget::UNLIMITED => {}
        _ => return false,
    }
    true
}

/// Counts a poll that is cut short once (M1), even if several of its operations are.
#[cold]
fn cut_short(
    before: Budget,
    resource: impl FnOnce() -> Resource,
    cx: &mut Context<'_>,
) -> Poll<RestoreOnPending> {
    if before != Budget::CUT_SHORT {
        set(Budget::CUT_SHORT);
        metrics::budget_forced_yield();
        if trace::is_recording() {
            let task = super::try_id().map(|task| task.number().get());
            trace::budget_exhausted(task, resource());
        }
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// A unit of budget taken by [`poll_proceed`], given back on drop unless progress was made.
///
/// # Examples
///
/// ```
/// use heist::task::coop::{self, RestoreOnPending};
/// use std::task::{Context, Poll, ready};
///
/// /// Takes a value if there is one, and a unit of budget only then.
/// fn poll_take(value: &mut Option<u32>, cx: &mut Context<'_>) -> Poll<u32> {
///     let unit: RestoreOnPending = ready!(coop::poll_proceed(cx));
///     match value.take() {
///         Some(value) => {
///             unit.made_progress();
///             Poll::Ready(value)
///         }
///         None => Poll::Pending, // The unit is given back. Real code leaves its waker.
///     }
/// }
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut value = Some(5);
/// assert_eq!(std::future::poll_fn(|cx| poll_take(&mut value, cx)).await, 5);
/// # }
/// ```
#[must_use = "the unit is given back when this is dropped; call made_progress to spend it"]
pub struct RestoreOnPending {
    /// `UNLIMITED` if there is nothing to give back.
    before: Cell<Budget>,
    /// The budget belongs to this thread.
    _thread: PhantomData<*mut ()>,
}

impl RestoreOnPending {
    /// Reports that the operation has completed: the unit is not given back.
    #[inline]
    pub fn made_progress(&self) {
        self.before.set(Budget::UNLIMITED);
    }
}

impl Drop for RestoreOnPending {
    #[inline]
    fn drop(&mut self) {
        let before = self.before.get();
        if before != Budget::UNLIMITED {
            set(before);
        }
    }
}

impl fmt::Debug for RestoreOnPending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RestoreOnPending").finish_non_exhaustive()
    }
}

/// Makes a future take a unit of budget when it completes, and yield while there is none left.
///
/// # Examples
///
/// ```
/// use heist::task::coop;
///
/// # #[heist::main]
/// # async fn main() {
/// let mut sum = 0;
/// for n in 0..1000 {
///     // Always ready, but other tasks still run in between.
///     sum += coop::cooperative(std::future::ready(n)).await;
/// }
/// assert_eq!(sum, 499_500);
/// # }
/// ```
#[inline]
pub fn cooperative<F: Future>(fut: F) -> Coop<F> {
    Coop { fut }
}

pin_project! {
    /// The future returned by [`cooperative`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::task::coop::{Coop, cooperative};
    /// use std::future::{Ready, ready};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let limited: Coop<Ready<i32>> = cooperative(ready(7));
    /// assert_eq!(limited.await, 7);
    /// # }
    /// ```
    #[derive(Debug)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct Coop<F: Future> {
        #[pin]
        fut: F,
    }
}

impl<F: Future> Future for Coop<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let progress = ready!(poll_proceed(cx));
        let output = ready!(self.project().fut.poll(cx));
        progress.made_progress();
        Poll::Ready(output)
    }
}

/// Removes the budget from a future: its operations never yield to other tasks.
///
/// The future may then keep its worker as long as its operations are ready. Use this where yielding
/// would be wrong, not where it is merely slow.
///
/// # Examples
///
/// ```
/// use heist::task::coop;
///
/// # #[heist::main]
/// # async fn main() {
/// let left = coop::unconstrained(async {
///     for _ in 0..1000 {
///         coop::consume_budget().await; // never yields here
///     }
///     coop::has_budget_remaining()
/// });
/// assert!(left.await);
/// # }
/// ```
#[inline]
pub fn unconstrained<F>(inner: F) -> Unconstrained<F> {
    Unconstrained { inner }
}

pin_project! {
    /// The future returned by [`unconstrained`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::task::coop::{Unconstrained, unconstrained};
    /// use std::future::{Ready, ready};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let unlimited: Unconstrained<Ready<i32>> = unconstrained(ready(7));
    /// assert_eq!(unlimited.await, 7);
    /// # }
    /// ```
    #[derive(Debug)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct Unconstrained<F> {
        #[pin]
        inner: F,
    }
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        with_no_budget(|| self.project().inner.poll(cx))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_nested_poll_has_a_budget_of_its_own() {
        with_fresh_budget(|| {
            set(Budget(5));
            with_fresh_budget(|| assert_eq!(get(), Budget(128)));
            assert_eq!(get(), Budget(5));
            with_no_budget(|| assert_eq!(get(), Budget::UNLIMITED));
            assert_eq!(get(), Budget(5));
        });
        assert_eq!(get(), Budget::UNLIMITED);
    }

    #[test]
    fn a_panic_leaves_no_budget_behind() {
        let panicked = catch_unwind(AssertUnwindSafe(|| with_fresh_budget(|| panic!("boom"))));
        assert!(panicked.is_err());
        assert_eq!(get(), Budget::UNLIMITED);
    }
}
