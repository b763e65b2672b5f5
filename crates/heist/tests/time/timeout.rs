//! Timeouts: a future gets its time and no more.

use crate::support::runtime;
use heist::task::{coop, yield_now};
use heist::time::error::{Elapsed, Error};
use heist::time::{Duration, Instant, timeout, timeout_at};
use std::error::Error as _;
use std::future::{Future, pending, poll_fn, ready};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn what_is_ready_in_time_comes_through() {
    let rt = runtime(1);
    let task = rt.spawn(async {
        assert_eq!(timeout(HOUR, ready(1)).await, Ok(1));
        assert_eq!(timeout(HOUR, async { yield_now().await }).await, Ok(()));
        // Polled first, however little time there is.
        assert_eq!(timeout(Duration::ZERO, ready(2)).await, Ok(2));
        assert_eq!(timeout_at(Instant::now() - MS, ready(3)).await, Ok(3));
        // Without a limit.
        assert_eq!(timeout(Duration::MAX, async { yield_now().await }).await, Ok(()));
    });
    rt.block_on(task).unwrap();
}

#[test]
fn a_future_that_is_late_is_cut_short_at_its_deadline() {
    let rt = runtime(1);
    let dropped = Arc::new(AtomicUsize::new(0));
    let counted = crate::support::Counted(dropped.clone());
    let task = rt.spawn(async move {
        let before = Instant::now();
        let late = async move {
            pending::<()>().await;
            drop(counted);
        };
        let error = timeout(3 * MS, late).await.unwrap_err();
        assert!(before.elapsed() >= 3 * MS, "early");
        let at = timeout_at(before + 5 * MS, pending::<()>()).await;
        assert!(at.is_err() && before.elapsed() >= 5 * MS, "early");
        error
    });
    let error: Elapsed = rt.block_on(task).unwrap();
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    assert_eq!(error.to_string(), "deadline has elapsed");
    assert!(error.source().is_none());
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::TimedOut);
}

#[test]
fn the_wrapped_value_can_be_taken_back() {
    let rt = runtime(1);
    let _entered = rt.enter();
    let mut limited = timeout(HOUR, ready(7));
    assert!(format!("{limited:?}").contains("Sleep"));
    *limited.get_mut() = ready(8);
    let _: &std::future::Ready<i32> = limited.get_ref();
    assert_eq!(rt.block_on(limited.into_inner()), 8);
}

/// W9: a future that takes all the budget in each poll leaves none for the timer, which fires all
/// the same.
#[test]
fn a_greedy_future_is_cut_short_too() {
    let rt = runtime(1);
    let greedy = async {
        loop {
            coop::consume_budget().await;
        }
    };
    let task = rt.spawn(async { timeout(3 * MS, greedy).await });
    assert!(rt.block_on(task).unwrap().is_err());
}

/// W9: where there was no budget to begin with, the timer has none either: it waits for its next
/// turn.
#[test]
fn without_budget_the_timer_waits_for_the_next_poll() {
    let rt = runtime(1);
    let task = rt.spawn(async {
        let mut over = Box::pin(timeout(Duration::ZERO, pending::<()>()));
        let first = poll_fn(|cx| Poll::Ready(over.as_mut().poll(cx).is_pending())).await;
        assert!(first);
        heist::time::sleep(3 * MS).await;
        let mut polls = 0;
        poll_fn(|cx| {
            polls += 1;
            if polls == 1 {
                while let Poll::Ready(progress) = coop::poll_proceed(cx) {
                    progress.made_progress();
                }
                assert!(over.as_mut().poll(cx).is_pending());
                return Poll::Pending;
            }
            assert!(over.as_mut().poll(cx).is_ready());
            Poll::Ready(())
        })
        .await;
    });
    rt.block_on(task).unwrap();
}

#[test]
fn errors_that_programs_name() {
    let all = [Error::shutdown(), Error::at_capacity(), Error::invalid()];
    let kinds = all.map(|error| (error.is_shutdown(), error.is_at_capacity(), error.is_invalid()));
    assert_eq!(kinds, [(true, false, false), (false, true, false), (false, false, true)]);
    assert!(all.iter().all(|error| error.to_string().contains(':')));
}
