//! I7: waits nested on one thread do not consume each other's wake-ups. A test that fails here
//! hangs; a guard then names its seed and ends the process.

use heist::runtime::{Builder, Handle, Runtime};
use heist::sync::oneshot;
use heist::task::block_in_place;
use heist::time::sleep;
use heist_testing::Rng;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Only a hang takes this long, on whatever machine.
const HANG: Duration = Duration::from_secs(600);
const DEPTH: u32 = 5;

fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap()
}

/// Ends the process, and says which `case` it was in, unless `f` returns.
fn guarded<R>(case: String, f: impl FnOnce() -> R) -> R {
    let (done, is_done) = mpsc::channel::<()>();
    thread::spawn(move || {
        if is_done.recv_timeout(HANG) == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!("nested waits hang: {case}");
            std::process::abort();
        }
    });
    let result = f();
    drop(done);
    result
}

/// What wakes a wait.
#[derive(Debug, Clone, Copy)]
enum Source {
    Timer,
    Task,
    Closure,
    Channel,
    Thread,
}

const SOURCES: [Source; 5] =
    [Source::Timer, Source::Task, Source::Closure, Source::Channel, Source::Thread];

impl Source {
    /// A future that is woken from elsewhere, and makes 1.
    async fn make_one(self, handle: &Handle) -> u64 {
        match self {
            Source::Timer => sleep(Duration::from_millis(2)).await,
            Source::Task => handle.spawn(heist::task::yield_now()).await.unwrap(),
            Source::Closure => handle.spawn_blocking(thread::yield_now).await.unwrap(),
            Source::Channel => {
                let (sender, receiver) = oneshot::channel();
                handle.spawn(async move { sender.send(()) });
                receiver.await.unwrap();
            }
            Source::Thread => {
                let (sender, receiver) = oneshot::channel();
                thread::spawn(move || sender.send(()));
                receiver.await.unwrap();
            }
        }
        1
    }
}

/// How a thread waits, beside waits further in.
#[derive(Debug, Clone, Copy)]
enum Kind {
    BlockOn(Source),
    InPlace(Source),
    Join,
    Scope,
    Broadcast,
    Job,
}

const KINDS: [Kind; 6] = [
    Kind::BlockOn(Source::Timer),
    Kind::InPlace(Source::Timer),
    Kind::Join,
    Kind::Scope,
    Kind::Broadcast,
    Kind::Job,
];

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

/// Waits inside of waits, `kinds.len()` of them, and returns how many ones they have made.
fn nest(handle: &Handle, kinds: &[Kind]) -> u64 {
    let Some((kind, inner)) = kinds.split_first() else { return 0 };
    // Polled first, so that it is woken while the thread waits further in.
    let around = |source: Source| async move {
        let (one, more) =
            heist::join!(biased; source.make_one(handle), async { nest(handle, inner) });
        one + more
    };
    match kind {
        Kind::BlockOn(source) => handle.block_on(around(*source)),
        Kind::InPlace(source) => block_in_place(|| handle.block_on(around(*source))),
        Kind::Join => {
            let (more, one) = heist::join(|| nest(handle, inner), || 1);
            more + one
        }
        Kind::Scope => {
            let mut one = 0;
            let more = heist::scope(|scope| {
                scope.spawn(|_| one = 1);
                nest(handle, inner)
            });
            one + more
        }
        Kind::Broadcast => {
            let parts = heist::broadcast(|_| 1u64);
            u64::from(parts.iter().all(|part| *part == 1)) + nest(handle, inner)
        }
        Kind::Job => {
            let job = heist::spawn_job(|| 1u64);
            let more = nest(handle, inner);
            job.wait().unwrap() + more
        }
    }
}

/// In a task, which is where a worker steps aside.
fn run(workers: usize, kinds: Vec<Kind>) {
    guarded(format!("{workers} workers, {kinds:?}"), || {
        let rt = runtime(workers);
        let (handle, expected) = (rt.handle().clone(), kinds.len() as u64);
        let made = rt.block_on(rt.spawn(async move { nest(&handle, &kinds) }));
        assert_eq!(made.unwrap(), expected);
    });
}

/// The outer wait's timer fires while the inner one waits.
#[test]
fn i7_a_sleep_beside_a_longer_sleep_further_in() {
    for workers in [1, 2] {
        guarded(format!("{workers} workers"), || {
            let rt = runtime(workers);
            let handle = rt.handle().clone();
            let outer = async move {
                let inner = async {
                    let longer = sleep(Duration::from_millis(20));
                    block_in_place(|| handle.block_on(longer));
                };
                let both = async { heist::join!(sleep(Duration::from_millis(5)), inner) };
                block_in_place(|| handle.block_on(both));
            };
            rt.block_on(rt.spawn(outer)).unwrap();
        });
    }
}

/// The same for each kind of inner wait, whichever way the outer one is woken.
#[test]
fn i7_each_wait_inside_of_each_other() {
    for workers in [1, 2] {
        for outer in SOURCES {
            for inner in KINDS {
                let last = Kind::BlockOn(Source::Timer);
                run(workers, vec![Kind::InPlace(outer), inner, last]);
            }
        }
    }
}

#[test]
fn i7_random_nests_of_waits() {
    for round in 0..heist_testing::scaled(200) {
        let mut rng = Rng::for_thread(round);
        let workers = 1 + rng.below(4) as usize;
        let kinds = (0..DEPTH).map(|_| match pick(&mut rng, &KINDS) {
            Kind::BlockOn(_) => Kind::BlockOn(pick(&mut rng, &SOURCES)),
            Kind::InPlace(_) => Kind::InPlace(pick(&mut rng, &SOURCES)),
            other => other,
        });
        run(workers, kinds.collect());
    }
}

/// Several waits of one thread at a time, in several tasks at once, on threads that are shared by
/// all.
#[test]
fn i7_many_nests_at_once() {
    guarded(format!("seed {}", heist_testing::seed()), || {
        let rt = runtime(2);
        let nests = (0..heist_testing::scaled(64)).map(|number| {
            let (handle, mut rng) = (rt.handle().clone(), Rng::for_thread(number));
            let kinds: Vec<Kind> = (0..DEPTH).map(|_| pick(&mut rng, &KINDS)).collect();
            rt.spawn(async move { nest(&handle, &kinds) })
        });
        let nests: Vec<_> = nests.collect();
        let wait_for_all = async {
            for nest in nests {
                assert_eq!(nest.await.unwrap(), u64::from(DEPTH));
            }
        };
        rt.block_on(wait_for_all);
    });
}

/// Each wait is one of the other runtime.
fn wait_by_turns(here: &Handle, there: &Handle, depth: u32) -> u64 {
    if depth == 0 {
        return 0;
    }
    here.block_on(async {
        let inner = async { wait_by_turns(there, here, depth - 1) };
        let (one, more) = heist::join!(biased; Source::Task.make_one(there), inner);
        one + more
    })
}

#[test]
fn i7_waits_of_two_runtimes_by_turns() {
    guarded("two runtimes".to_owned(), || {
        let (one, other) = (runtime(1), runtime(1));
        let (here, there) = (one.handle().clone(), other.handle().clone());
        let waits = one.spawn(async move { wait_by_turns(&here, &there, DEPTH) });
        assert_eq!(one.block_on(waits).unwrap(), u64::from(DEPTH));
    });
}
