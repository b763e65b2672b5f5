//! Runtimes that end at any moment, in any way, with all kinds of things going on: every future is dropped, and
//! whoever waits for that, also in the middle of a poll, is told. What is lost is a test that does not end.

use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::UnixStream;
use heist::runtime::{Builder, Handle, Runtime};
use heist::task::{block_in_place, yield_now};
use heist::time::{Duration, Instant, sleep};
use heist_testing::{Rng, scaled, seed};
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

/// How many futures there are.
#[derive(Default)]
struct Census {
    alive: AtomicUsize,
    wakers: Mutex<Vec<Waker>>,
}

struct Counted(Arc<Census>);

impl Counted {
    fn new(census: &Arc<Census>) -> Counted {
        census.alive.fetch_add(1, Ordering::SeqCst);
        Counted(census.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Never ready. Wakes all others when it is polled and when it is dropped, with a lock held that they need.
struct Neighbour(Counted);

impl Neighbour {
    fn wake_all(&self, waker: Option<&Waker>) {
        let mut wakers = self.0.0.wakers.lock().unwrap();
        if wakers.len() < 8 {
            wakers.extend(waker.cloned());
        } else if let Some(waker) = waker {
            wakers[0] = waker.clone();
        }
        wakers.iter().for_each(Waker::wake_by_ref);
    }
}

impl Future for Neighbour {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.wake_all(Some(cx.waker()));
        Poll::Pending
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.wake_all(None);
    }
}

async fn echo(mut end: UnixStream, begins: bool, counted: Counted) {
    let mut byte = [1];
    if begins && end.write_all(&byte).await.is_err() {
        return;
    }
    while end.read_exact(&mut byte).await.is_ok() && end.write_all(&byte).await.is_ok() {}
    drop(counted);
}

async fn naps(seed: u64, counted: Counted) {
    let mut rng = Rng::new(seed);
    let mut nap = pin!(sleep(Duration::ZERO));
    loop {
        nap.as_mut().reset(Instant::now() + Duration::from_micros(rng.below(3000)));
        if rng.below(2) == 0 {
            nap.as_mut().await;
        } else {
            yield_now().await;
        }
        let _ = &counted;
    }
}

/// Polls that wait for what they spawn, aside or not.
async fn waits(seed: u64, counted: Counted) {
    let mut rng = Rng::new(seed);
    loop {
        spawn_and_wait([1, 10, 600][rng.below(3) as usize], rng.below(4) > 0);
        yield_now().await;
        let _ = &counted;
    }
}

fn spawn_and_wait(count: usize, is_aside: bool) {
    let (held, is_held) = mpsc::channel::<()>();
    for _ in 0..count {
        let held = held.clone();
        heist::spawn(async move { drop(held) });
    }
    drop(held);
    let wait = || _ = is_held.recv();
    if is_aside { block_in_place(wait) } else { wait() }
}

/// A thread of its own waits in the runtime. Where that ends the wait is told so by a panic.
fn waits_beside(handle: &Handle, counted: Counted) {
    let inner = handle.clone();
    handle.spawn_blocking(move || {
        let long = Duration::from_secs(3600);
        let waited =
            || inner.block_on(async { _ = heist::time::timeout(long, pending::<()>()).await });
        assert!(catch_unwind(AssertUnwindSafe(waited)).is_err());
        drop(counted);
    });
}

fn begin(runtime: &Runtime, rng: &mut Rng, census: &Arc<Census>) {
    let _entered = runtime.enter();
    let counted = || Counted::new(census);
    for _ in 0..rng.below(12) {
        match rng.below(5) {
            0 => {
                let (one, other) = UnixStream::pair().unwrap();
                runtime.spawn(echo(one, true, counted()));
                runtime.spawn(echo(other, false, counted()));
            }
            1 => drop(runtime.spawn(naps(rng.next_u64(), counted()))),
            2 => drop(runtime.spawn(waits(rng.next_u64(), counted()))),
            3 => waits_beside(runtime.handle(), counted()),
            _ => drop(runtime.spawn(Neighbour(counted()))),
        }
    }
}

#[test]
fn t6_a_runtime_may_end_at_any_moment() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        if !text.contains("time::Sleep") {
            eprintln!("{text}");
        }
    }));
    let mut rng = Rng::new(seed());
    for _ in 0..scaled(150) {
        let census = Arc::new(Census::default());
        let workers = 1 + rng.below(3) as usize;
        let runtime =
            Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap();
        begin(&runtime, &mut rng, &census);
        thread::sleep(Duration::from_micros(rng.below(4000)));
        match rng.below(3) {
            0 => drop(runtime),
            1 => runtime.shutdown_background(),
            _ => runtime.shutdown_timeout(Duration::from_micros(rng.below(500))),
        }
        while census.alive.load(Ordering::SeqCst) > 0 {
            thread::yield_now();
        }
        census.wakers.lock().unwrap().clear();
    }
}
