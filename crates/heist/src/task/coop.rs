//! Cooperative scheduling: a task that always finds something ready lets others go first (W9).
//!
//! A worker polls one task at a time, and a task that never waits would keep its worker. So each
//! poll begins with a budget of 128 units. Every operation of heist that completes takes one. When
//! none are left, operations return `Pending` though they could go on, and wake their task at
//! once: it goes to the end of the queue, and comes back with a new budget.
//!
//! Channels and I/O helpers from the tokio crate do not take part; see [`sync`](crate::sync).
//!
//! Code of your own takes part with [`consume_budget`], [`cooperative`] or [`poll_proceed`], and
//! gets out of it with [`unconstrained`].

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

/// How many units a poll may still take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Budget(u8);

impl Budget {
    /// What a poll begins with (W9).
    const FRESH: Budget = Budget(128);
    /// Outside of polls, and where nobody counts.
    const UNLIMITED: Budget = Budget(u8::MAX);
    /// None is left, and the poll has been told so: it is being cut short.
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

/// Calls `poll` with the whole budget of a poll (W9). Goes around every poll of a task, and of
/// the future of a `block_on`.
#[inline]
pub(crate) fn with_fresh_budget<R>(poll: impl FnOnce() -> R) -> R {
    with_budget(Budget::FRESH, poll)
}

/// Calls `f` without a budget: for code that may wait in place, so that yielding is no use.
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

/// Whether the running task has budget left. `true` outside of tasks.
///
/// ```
/// use heist::task::coop;
///
/// # heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap().block_on(async {
/// # heist::spawn(async {
/// assert!(coop::has_budget_remaining());
/// coop::consume_budget().await;
/// assert!(coop::has_budget_remaining());
/// # }).await.unwrap();
/// # });
/// ```
#[inline]
pub fn has_budget_remaining() -> bool {
    !matches!(get(), Budget(0) | Budget::CUT_SHORT)
}

/// Takes one unit of the running task's budget; if there is none left, lets others go first.
///
/// For loops that compute and have no other reason to wait.
///
/// ```
/// # use heist::task::coop;
/// async fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
///     let mut sum = 0;
///     for number in numbers {
///         sum += number;
///         coop::consume_budget().await;
///     }
///     sum
/// }
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// # assert_eq!(rt.block_on(rt.spawn(sum(0..1000))).unwrap(), 499_500);
/// ```
pub async fn consume_budget() {
    poll_fn(|cx| {
        ready!(poll_proceed(cx)).made_progress();
        Poll::Ready(())
    })
    .await;
}

/// Takes one unit of the running task's budget. If there is none left the task is woken, and is
/// to return `Pending`: it will be polled again with a new budget.
///
/// The unit is given back when what is returned here is dropped, unless
/// [`made_progress`](RestoreOnPending::made_progress) was called: waiting costs nothing. The
/// budget is put back to what it was before the call; what was taken in between is forgotten.
///
/// ```
/// use heist::task::coop;
/// use std::task::{Context, Poll, ready};
///
/// /// A source that would never let go of its worker, made cooperative.
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
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// # let mut endless = Endless(0);
/// # let third = async move {
/// #     for _ in 0..2 { std::future::poll_fn(|cx| endless.poll_next(cx)).await; }
/// #     std::future::poll_fn(|cx| endless.poll_next(cx)).await
/// # };
/// # assert_eq!(rt.block_on(rt.spawn(third)).unwrap(), 3);
/// ```
#[inline]
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    poll_proceed_with(cx, || Resource::Other)
}

/// As [`poll_proceed`]. If there is no budget left, the trace says what the unit was wanted for;
/// `resource` is called only then.
#[inline]
pub(crate) fn poll_proceed_with(
    cx: &mut Context<'_>,
    resource: impl FnOnce() -> Resource,
) -> Poll<RestoreOnPending> {
    let before = get();
    match before {
        Budget::UNLIMITED => {}
        Budget(0) | Budget::CUT_SHORT => return cut_short(before, resource, cx),
        Budget(units) => set(Budget(units - 1)),
    }
    Poll::Ready(RestoreOnPending { before: Cell::new(before), _thread: PhantomData })
}

/// A poll that is cut short counts once (M1), however many of its operations are.
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

/// A unit of budget that was taken by [`poll_proceed`], and goes back unless it was put to use.
#[must_use = "the unit is given back when this is dropped; call made_progress to spend it"]
pub struct RestoreOnPending {
    /// UNLIMITED if there is nothing to give back.
    before: Cell<Budget>,
    /// The budget is its thread's.
    _thread: PhantomData<*mut ()>,
}

impl RestoreOnPending {
    /// The operation has completed: the unit is spent.
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

/// Makes a future take a unit of budget when it completes, and yield when there is none left.
///
/// ```
/// use heist::task::coop;
///
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// # rt.block_on(rt.spawn(async {
/// for _ in 0..1000 {
///     // Ready at once, a thousand times; the others still get their turn.
///     coop::cooperative(std::future::ready(())).await;
/// }
/// # })).unwrap();
/// ```
#[inline]
pub fn cooperative<F: Future>(fut: F) -> Coop<F> {
    Coop { fut }
}

pin_project! {
    /// The future that [`cooperative`] makes.
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

/// Takes the budget off a future: what it does is never cut short to let others go first.
///
/// It may then keep its worker for as long as it finds something ready. Use it where yielding
/// would be wrong, not where it is slow.
///
/// ```
/// use heist::task::coop;
///
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// # rt.block_on(rt.spawn(async {
/// coop::unconstrained(async {
///     for _ in 0..1000 {
///         coop::consume_budget().await; // never yields here
///     }
/// })
/// .await;
/// # })).unwrap();
/// ```
#[inline]
pub fn unconstrained<F>(inner: F) -> Unconstrained<F> {
    Unconstrained { inner }
}

pin_project! {
    /// The future that [`unconstrained`] makes.
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
