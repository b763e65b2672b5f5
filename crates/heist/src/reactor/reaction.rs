//! Reactions to events that are too small for a task.
//!
//! The reader of signals, and what waits for orphaned processes, must work in every runtime that
//! polls its reactors. A task would count as alive for as long as it waits, could be pinned to a
//! stuck worker, and would be dropped silently at shutdown.

use crate::task::coop;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// A future that is polled by the thread that wakes it; for a source of I/O, that is a worker, for
/// which the reactor leaves its waker (`scheduler/foreign.rs`). It must be short and must not
/// block. It lives as long as its waker, and is dropped when it completes.
pub(crate) struct Reaction(Mutex<ReactionState>);

enum ReactionState {
    /// No thread polls it.
    Waits(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// A thread polls it. It may have been woken meanwhile.
    Runs {
        is_woken: bool,
    },
    Ended,
}

impl Reaction {
    /// Polls `future` for the first time.
    pub(crate) fn start(future: impl Future<Output = ()> + Send + 'static) {
        Arc::new(Reaction(Mutex::new(ReactionState::Waits(Box::pin(future))))).wake();
    }

    fn change<R>(&self, change: impl FnOnce(&mut ReactionState) -> R) -> R {
        // The lock is held for assignments only, none of which panics.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the future in order to poll it.
    fn take(&self) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        self.change(|state| {
            match std::mem::replace(state, ReactionState::Runs { is_woken: true }) {
                ReactionState::Waits(future) => {
                    *state = ReactionState::Runs { is_woken: false };
                    Some(future)
                }
                ReactionState::Runs { .. } => None,
                ReactionState::Ended => {
                    *state = ReactionState::Ended;
                    None
                }
            }
        })
    }
}

impl Wake for Reaction {
    fn wake(self: Arc<Self>) {
        let Some(mut future) = self.take() else { return };
        let waker = Waker::from(Arc::clone(&self));
        loop {
            // Without a budget: this may be in the middle of a poll that has used its own up, and a
            // new one comes only when that has returned.
            let poll = || future.as_mut().poll(&mut Context::from_waker(&waker));
            if let Poll::Ready(()) = coop::with_no_budget(poll) {
                self.change(|state| *state = ReactionState::Ended);
                return;
            }
            // This thread handles wake-ups that came during the poll.
            let again = self.change(|state| match state {
                ReactionState::Runs { is_woken: true } => {
                    *state = ReactionState::Runs { is_woken: false };
                    Some(future)
                }
                _ => {
                    *state = ReactionState::Waits(future);
                    None
                }
            });
            match again {
                Some(woken) => future = woken,
                None => return,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts its polls, keeps its waker and ends when it is told to.
    #[derive(Default)]
    struct Spy {
        polls: AtomicUsize,
        drops: AtomicUsize,
        waker: Mutex<Option<Waker>>,
        ends_after: AtomicUsize,
    }

    struct CountDrop(Arc<Spy>);

    impl Drop for CountDrop {
        fn drop(&mut self) {
            self.0.drops.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn begin(spy: &Arc<Spy>, mut wakes_itself: usize) {
        let guard = CountDrop(Arc::clone(spy));
        Reaction::start(poll_fn(move |cx| {
            let spy = &guard.0;
            let polls = spy.polls.fetch_add(1, Ordering::Relaxed) + 1;
            *spy.waker.lock().unwrap() = Some(cx.waker().clone());
            if wakes_itself > 0 {
                wakes_itself -= 1;
                cx.waker().wake_by_ref();
            }
            match spy.ends_after.load(Ordering::Relaxed) {
                end if end != 0 && polls >= end => Poll::Ready(()),
                _ => Poll::Pending,
            }
        }));
    }

    #[test]
    fn each_wake_polls_it_there_and_then() {
        let spy = Arc::new(Spy::default());
        begin(&spy, 0);
        assert_eq!(spy.polls.load(Ordering::Relaxed), 1);
        let waker = spy.waker.lock().unwrap().clone().unwrap();
        waker.wake_by_ref();
        waker.wake_by_ref();
        assert_eq!(spy.polls.load(Ordering::Relaxed), 3);
        spy.ends_after.store(4, Ordering::Relaxed);
        waker.wake_by_ref();
        assert_eq!(spy.drops.load(Ordering::Relaxed), 1);
        waker.wake_by_ref();
        assert_eq!(spy.polls.load(Ordering::Relaxed), 4, "it has ended");
    }

    #[test]
    fn a_wake_during_a_poll_is_not_lost_and_does_not_nest() {
        let spy = Arc::new(Spy::default());
        begin(&spy, 5);
        assert_eq!(spy.polls.load(Ordering::Relaxed), 6);
    }

    #[test]
    fn it_is_dropped_with_its_last_waker() {
        let spy = Arc::new(Spy::default());
        begin(&spy, 0);
        assert_eq!(spy.drops.load(Ordering::Relaxed), 0);
        let waker = spy.waker.lock().unwrap().take();
        drop(waker);
        assert_eq!(spy.drops.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn threads_that_wake_it_at_once_lose_no_wake() {
        let (written, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (writes, sees) = (Arc::clone(&written), Arc::clone(&seen));
        let kept: Arc<Mutex<Option<Waker>>> = Arc::default();
        let keep = Arc::clone(&kept);
        Reaction::start(poll_fn(move |cx| {
            keep.lock().unwrap().get_or_insert_with(|| cx.waker().clone());
            sees.store(writes.load(Ordering::SeqCst), Ordering::SeqCst);
            Poll::Pending
        }));
        let waker = kept.lock().unwrap().clone().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        written.fetch_add(1, Ordering::SeqCst);
                        waker.wake_by_ref();
                    }
                });
            }
        });
        assert_eq!(seen.load(Ordering::SeqCst), 40_000, "the last poll began after the last wake");
    }
}
