//! The idle protocol in every interleaving that loom can find (I1–I4). A wake-up that is lost
//! shows as a deadlock: loom sees that nobody can go on.

use super::Idle;
use crate::canary;
use heist_sync::{AtomicBool, AtomicUsize, Barrier, Ordering};
use loom::sync::Notify;
use loom::thread;

struct Scene {
    idle: Idle,
    /// Stands for all queues: how many tasks there are.
    tasks: AtomicUsize,
    parkers: Vec<Parker>,
    is_down: AtomicBool,
}

/// Like the real one: a flag, and something to sleep on that may wake for no reason.
struct Parker {
    is_notified: AtomicBool,
    sleep: Notify,
}

impl Parker {
    fn park(&self) {
        while !self.is_notified.swap(false, Ordering::AcqRel) {
            self.sleep.wait();
        }
    }

    fn unpark(&self) {
        self.is_notified.swap(true, Ordering::AcqRel);
        self.sleep.notify();
    }
}

impl Scene {
    /// Leaked: when a model deadlocks, loom's objects can no longer be dropped.
    fn new(workers: usize) -> &'static Scene {
        Box::leak(Box::new(Scene {
            idle: Idle::new(workers, Barrier::detect()),
            tasks: AtomicUsize::new(0),
            is_down: AtomicBool::new(false),
            parkers: (0..workers)
                .map(|_| Parker { is_notified: AtomicBool::new(false), sleep: Notify::new() })
                .collect(),
        }))
    }

    fn submit(&self) {
        // Relaxed: the protocol's own barriers have to make it visible.
        self.tasks.fetch_add(1, Ordering::Relaxed);
        self.unpark(self.idle.submitted());
    }

    fn unpark(&self, sleeper: Option<usize>) {
        if let Some(index) = sleeper {
            self.parkers[index].unpark();
        }
    }

    fn take(&self) -> bool {
        let tasks = self.tasks.load(Ordering::Relaxed);
        tasks > 0
            && self
                .tasks
                .compare_exchange(tasks, tasks - 1, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// Works until it has taken one task.
    fn work(&self, index: usize) {
        let mut is_searching = false;
        loop {
            if self.take() {
                if is_searching {
                    self.unpark(self.idle.stop_search());
                }
                return;
            }
            let has_work = || self.tasks.load(Ordering::Relaxed) > 0;
            self.unpark(self.idle.sleep(index, is_searching, has_work));
            self.parkers[index].park();
            is_searching = true;
        }
    }
}

/// A worker goes to sleep while a task is submitted.
fn one_sleeper() {
    let scene = Scene::new(1);
    let worker = thread::spawn(move || scene.work(0));
    scene.submit();
    worker.join().unwrap();
}

#[test]
fn loom_i1_no_wake_up_is_lost() {
    loom::model(one_sleeper);
}

/// Two tasks, two workers: each gets one, though only one wake-up may come from outside. The one
/// that is woken wakes the other (I2).
#[test]
fn loom_i2_the_last_searcher_wakes_another() {
    // Three threads: two preemptions take seconds, three take minutes.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let scene = Scene::new(2);
        let workers: Vec<_> =
            (0..2).map(|index| thread::spawn(move || scene.work(index))).collect();
        scene.submit();
        scene.submit();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// The runtime goes down while a worker goes to sleep, and another has left as a searcher.
#[test]
fn loom_i1_a_shutdown_reaches_everybody() {
    loom::model(|| {
        let scene = Scene::new(2);
        assert!(scene.idle.start_search());
        let worker = thread::spawn(move || {
            let is_down = || scene.is_down.load(Ordering::Acquire);
            while !is_down() {
                scene.unpark(scene.idle.sleep(0, false, is_down));
                if is_down() {
                    return;
                }
                scene.parkers[0].park();
            }
        });
        scene.is_down.store(true, Ordering::Release);
        scene.idle.wake_all(|index| scene.parkers[index].unpark());
        worker.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_recheck() {
    canary::IDLE_NO_RECHECK.model(one_sleeper);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_light_barrier() {
    canary::IDLE_NO_LIGHT_BARRIER.model(one_sleeper);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_heavy_barrier() {
    canary::IDLE_NO_HEAVY_BARRIER.model(one_sleeper);
}
