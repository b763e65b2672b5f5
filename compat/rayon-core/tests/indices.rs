//! Numbers of threads: no two have the same at one time, and all see as many threads, also where
//! threads stand in for others.

use heist::runtime::Builder;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// More than there may be threads.
const PLACES: usize = 600;

/// What crates do with a number: they take it for the right to use something alone.
struct Places {
    num_threads: usize,
    in_use: Vec<AtomicBool>,
    highest: AtomicUsize,
}

impl Places {
    fn new(num_threads: usize, places: usize) -> Self {
        let in_use = (0..places).map(|_| AtomicBool::new(false)).collect();
        Self { num_threads, in_use, highest: AtomicUsize::new(0) }
    }

    fn with_own(&self, act: impl FnOnce()) {
        let index = rayon_core::current_thread_index().expect("jobs and tasks run on workers");
        assert_eq!(rayon_core::current_num_threads(), self.num_threads);
        self.highest.fetch_max(index, Ordering::Relaxed);
        let place = &self.in_use[index];
        assert!(!place.swap(true, Ordering::SeqCst), "{index} is another thread's, too");
        act();
        assert_eq!(rayon_core::current_thread_index(), Some(index));
        place.store(false, Ordering::SeqCst);
    }
}

fn block(millis: u64) {
    std::thread::sleep(Duration::from_millis(millis));
}

fn burn(turns: u32) {
    (0..turns).for_each(|_| std::hint::spin_loop());
}

/// Leaves that block, so that others sit down where their workers did, beside tasks, which borrow
/// the places of those at jobs.
fn tree(places: &Places, depth: u64, number: u64) {
    if depth > 0 {
        let half = |half| move || tree(places, depth - 1, number * 2 + half);
        rayon_core::join(half(0), half(1));
        return;
    }
    places.with_own(|| match number % 16 {
        3 => block(3),
        11 => block(15),
        _ => burn(2000),
    });
}

#[test]
fn no_two_threads_have_the_same_number() {
    let rt = Builder::new_multi_thread().worker_threads(6).build().unwrap();
    let places = &*Box::leak(Box::new(Places::new(6, PLACES)));
    rt.block_on(async {
        let tasks: Vec<_> = (0..40)
            .map(|number| {
                rt.spawn(async move {
                    for round in 0..20 {
                        places.with_own(|| match round % 8 {
                            2 => block(1),
                            _ => burn(500),
                        });
                        heist::task::yield_now().await;
                        if number % 4 == 0 && round % 5 == 0 {
                            // From a task, on whatever place its worker sits.
                            tree(places, 3, number);
                        }
                    }
                })
            })
            .collect();
        let jobs: Vec<_> = (0..4).map(|_| rt.handle().spawn_job(|| tree(places, 7, 0))).collect();
        for task in tasks {
            task.await.unwrap();
        }
        for job in jobs {
            job.await.unwrap();
        }
    });
    let highest = places.highest.load(Ordering::Relaxed);
    assert!(highest >= 6, "nobody stood in for another: the test tests nothing");
}

/// Where the number of threads was asked for, it is below that.
#[test]
fn in_a_pool_numbers_are_places() {
    let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let places = Places::new(3, 3);
    pool.install(|| tree(&places, 6, 0));
    assert!(places.highest.into_inner() < 3);
}
