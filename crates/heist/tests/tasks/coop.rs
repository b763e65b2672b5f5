//! The cooperative budget (W9).

use crate::support::futures::{count_polls, until};
use crate::support::runtime;
use heist::task::coop;
use std::future::{Future, pending, poll_fn, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// W9: what every poll begins with.
const BUDGET: usize = 128;

/// Takes units until there are none left, in one poll. Spends them all.
fn take_all(cx: &mut Context<'_>) -> usize {
    let mut taken = 0;
    while let Poll::Ready(progress) = coop::poll_proceed(cx) {
        progress.made_progress();
        taken += 1;
        assert!(taken <= BUDGET, "the budget never ends");
    }
    taken
}

async fn consume(units: usize) {
    for _ in 0..units {
        coop::consume_budget().await;
    }
}

#[test]
fn a_poll_has_128_units_and_the_next_has_128_again() {
    let rt = runtime(1);
    // Returns Pending twice; that it is polled again shows that the task was woken (W9).
    let mut rounds = vec![];
    let task = rt.spawn(poll_fn(move |cx| {
        assert!(coop::has_budget_remaining());
        rounds.push(take_all(cx));
        assert!(!coop::has_budget_remaining());
        if rounds.len() == 3 { Poll::Ready(std::mem::take(&mut rounds)) } else { Poll::Pending }
    }));
    assert_eq!(rt.block_on(task).unwrap(), [BUDGET; 3]);
}

#[test]
fn consume_budget_yields_when_the_budget_is_gone() {
    let rt = runtime(1);
    for (units, polls) in [(BUDGET - 1, 1), (BUDGET, 1), (BUDGET + 1, 2), (10 * BUDGET, 10)] {
        let task = rt.spawn(count_polls(consume(units)));
        assert_eq!(rt.block_on(task).unwrap().1, polls, "{units} units");
    }
}

#[test]
fn the_future_of_block_on_has_a_budget_too() {
    let rt = runtime(1);
    assert_eq!(rt.block_on(count_polls(consume(3 * BUDGET))).1, 3);
}

#[test]
fn one_that_never_waits_lets_others_run() {
    let rt = runtime(1);
    let is_set = Arc::new(AtomicBool::new(false));
    let (set, seen) = (Arc::clone(&is_set), is_set);
    let (setter, busy) = rt
        .block_on(rt.spawn(async move {
            let setter = heist::spawn(async move { set.store(true, Ordering::Relaxed) });
            let busy = heist::spawn(async move {
                for _ in 0..100 * BUDGET {
                    if seen.load(Ordering::Relaxed) {
                        return true;
                    }
                    coop::consume_budget().await;
                }
                false
            });
            (setter, busy)
        }))
        .unwrap();
    assert!(rt.block_on(busy).unwrap(), "W9: the other task had its turn");
    rt.block_on(setter).unwrap();
}

#[test]
fn a_join_handle_takes_a_unit_when_it_is_ready() {
    let rt = runtime(1);
    let tasks: Vec<_> = (0..2 * BUDGET + 1).map(|i| rt.spawn(async move { i })).collect();
    rt.block_on(until(|| tasks.iter().all(|task| task.is_finished())));
    let (sum, polls) = rt
        .block_on(rt.spawn(count_polls(async {
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        })))
        .unwrap();
    assert_eq!(sum, (0..=2 * BUDGET).sum());
    assert_eq!(polls, 3);
}

#[test]
fn waiting_costs_no_budget() {
    let rt = runtime(2);
    let waits = rt.spawn(pending::<()>());
    let abort = waits.abort_handle();
    let mut waits = Box::pin(waits);
    let task = rt.spawn(poll_fn(move |cx| {
        for _ in 0..1000 {
            assert!(waits.as_mut().poll(cx).is_pending());
            assert!(coop::poll_proceed(cx).is_ready(), "a unit that is not spent comes back");
        }
        Poll::Ready(take_all(cx))
    }));
    assert_eq!(rt.block_on(task).unwrap(), BUDGET);
    abort.abort();
}

#[test]
fn a_unit_that_comes_back_erases_what_was_taken_in_between() {
    let rt = runtime(1);
    let task = rt.spawn(poll_fn(move |cx| {
        let Poll::Ready(outer) = coop::poll_proceed(cx) else { unreachable!("a fresh budget") };
        take_all(cx);
        drop(outer);
        Poll::Ready(take_all(cx))
    }));
    assert_eq!(rt.block_on(task).unwrap(), BUDGET);
}

#[test]
fn unconstrained_takes_the_budget_off() {
    let rt = runtime(1);
    let task = rt.spawn(count_polls(async {
        consume(BUDGET).await;
        assert!(!coop::has_budget_remaining());
        coop::unconstrained(async {
            assert!(coop::has_budget_remaining());
            consume(10 * BUDGET).await;
        })
        .await;
        // Outside again the budget is what it was.
        assert!(!coop::has_budget_remaining());
    }));
    assert_eq!(rt.block_on(task).unwrap().1, 1);
}

#[test]
fn cooperative_takes_a_unit_when_the_future_is_ready() {
    let rt = runtime(1);
    let task = rt.spawn(count_polls(async {
        for _ in 0..2 * BUDGET {
            coop::cooperative(ready(())).await;
        }
    }));
    assert_eq!(rt.block_on(task).unwrap().1, 2);

    let task = rt.spawn(poll_fn(|cx| {
        let mut waits = pin!(coop::cooperative(pending::<()>()));
        assert!(waits.as_mut().poll(cx).is_pending());
        assert_eq!(take_all(cx), BUDGET);
        // Without budget the future inside is not even asked.
        let mut polled = false;
        let asked = poll_fn(|_| {
            polled = true;
            Poll::Ready(())
        });
        assert!(pin!(coop::cooperative(asked)).poll(cx).is_pending());
        assert!(!polled);
        Poll::Ready(())
    }));
    rt.block_on(task).unwrap();
}

#[test]
fn outside_of_a_runtime_there_is_no_limit() {
    struct CountWakes(AtomicUsize);
    impl Wake for CountWakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let wakes = Arc::new(CountWakes(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    assert!(pin!(consume(10 * BUDGET)).poll(&mut cx).is_ready());
    assert!(coop::has_budget_remaining());
    assert_eq!(wakes.0.load(Ordering::Relaxed), 0);
}

/// A closure may block, so there is nothing to yield.
#[test]
fn a_blocking_closure_has_no_limit() {
    let rt = runtime(1);
    let task = rt.spawn_blocking(|| {
        let mut cx = Context::from_waker(Waker::noop());
        pin!(consume(10 * BUDGET)).poll(&mut cx).is_ready()
    });
    assert!(rt.block_on(task).unwrap());
}

#[test]
fn a_panic_in_a_poll_does_not_spoil_the_next_budget() {
    let rt = runtime(1);
    let panics = rt.spawn(poll_fn(|cx| -> Poll<()> {
        take_all(cx);
        panic!("on purpose")
    }));
    assert!(rt.block_on(panics).unwrap_err().is_panic());
    let task = rt.spawn(poll_fn(|cx| Poll::Ready(take_all(cx))));
    assert_eq!(rt.block_on(task).unwrap(), BUDGET);
}

/// W9: a socket that always has something to read lets others go first.
#[test]
fn w9_a_socket_takes_budget() {
    use heist::io::{AsyncReadExt, AsyncWriteExt};
    use heist::net::UnixStream;

    const BYTES: usize = 2000;
    let rt = heist::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    rt.block_on(async {
        let (mut reader, mut writer) = UnixStream::pair().unwrap();
        writer.write_all(&[0; BYTES]).await.unwrap();
        let other = heist::spawn(async {});
        let mut read = 0;
        while !other.is_finished() {
            reader.read_u8().await.unwrap();
            read += 1;
        }
        assert!(read <= 256, "{read} bytes were read in one poll");
    });
}
