//! Signals that come in large numbers are merged, and not one is lost.
//!
//! What is merged depends on when a reactor of the process looks. So these tests run one after the
//! other, and apart from others.

mod support;

use heist::runtime::{Builder, Runtime};
use heist::signal::unix::{Signal, SignalKind, signal};
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::thread;
use support::runtime;
use support::signals::{raise, send};

fn one_at_a_time() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Whether it has been told of a signal that nobody has taken yet.
async fn is_told(signal: &mut Signal) -> bool {
    poll_fn(|cx| Poll::Ready(signal.poll_recv(cx).is_ready())).await
}

/// Signals that come before anybody looks are one.
#[test]
fn signals_are_merged_until_they_are_told() {
    let _alone = one_at_a_time();
    let kind = SignalKind::user_defined1();
    current_thread().block_on(async {
        let mut listener = signal(kind).unwrap();
        for _ in 0..3 {
            (0..1000).for_each(|_| raise(kind));
            listener.recv().await;
            heist::task::yield_now().await;
            assert!(!is_told(&mut listener).await, "a thousand signals were told as more than one");
        }
    });
}

/// A signal sent without a listener is delivered to the next one, if no reactor has looked
/// meanwhile.
#[test]
fn a_signal_that_was_not_noticed_is_told_to_the_next_listener() {
    let _alone = one_at_a_time();
    let kind = SignalKind::user_defined1();
    current_thread().block_on(async {
        drop(signal(kind).unwrap());
        raise(kind);
        signal(kind).unwrap().recv().await;
    });
}

/// Threads send as many as they can. After the last one everybody is told once more.
#[test]
fn the_last_signal_of_a_storm_is_told() {
    const SENDERS: usize = 4;
    let _alone = one_at_a_time();
    let kinds = [SignalKind::user_defined1(), SignalKind::user_defined2()];
    let each = heist_testing::scaled(5_000) as usize;
    let runtimes = [runtime(1), runtime(2), current_thread()];
    let sent: Arc<[AtomicUsize; 2]> = Arc::default();
    thread::scope(|scope| {
        let (ready, readies) = std::sync::mpsc::channel();
        for rt in &runtimes {
            let (sent, ready) = (Arc::clone(&sent), ready.clone());
            let listen = move |number: usize| {
                let (sent, ready) = (Arc::clone(&sent), ready.clone());
                async move {
                    let mut listener = signal(kinds[number]).unwrap();
                    ready.send(()).unwrap();
                    let mut told = 0;
                    // Each is counted before it is sent: while some are missing, one is to come.
                    while told == 0 || sent[number].load(Ordering::SeqCst) < SENDERS * each {
                        listener.recv().await;
                        told += 1;
                    }
                    told
                }
            };
            scope.spawn(move || {
                let both = rt.block_on(async { heist::join!(listen(0), heist::spawn(listen(1))) });
                assert!((1..=SENDERS * each).contains(&both.0));
                assert!((1..=SENDERS * each).contains(&both.1.unwrap()));
            });
        }
        (0..2 * runtimes.len()).for_each(|_| readies.recv().unwrap());
        for sender in 0..SENDERS {
            let sent = Arc::clone(&sent);
            scope.spawn(move || {
                for _ in 0..each {
                    for (number, kind) in kinds.into_iter().enumerate() {
                        sent[number].fetch_add(1, Ordering::SeqCst);
                        if sender % 2 == 0 { raise(kind) } else { send(kind) }
                    }
                }
            });
        }
    });
}
