//! The idle protocol in every interleaving that loom can find (I1–I4, W8). A wake-up that is lost
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
                    self.unpark(self.idle.stop_search(|| self.has_work()));
                }
                return;
            }
            self.unpark(self.idle.sleep(index, is_searching, || false, || self.has_work()));
            self.parkers[index].park();
            is_searching = true;
        }
    }

    fn has_work(&self) -> bool {
        self.tasks.load(Ordering::Relaxed) > 0
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

/// For three threads: two preemptions take seconds, three take minutes.
fn two_preemptions() -> loom::model::Builder {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model
}

/// Two tasks, two workers: each gets one, though only one wake-up may come from outside. The one
/// that is woken wakes the other (I2).
fn two_tasks_for_two_workers() {
    let scene = Scene::new(2);
    let workers: Vec<_> = (0..2).map(|index| thread::spawn(move || scene.work(index))).collect();
    scene.submit();
    scene.submit();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}

#[test]
fn loom_i2_the_last_searcher_wakes_another() {
    two_preemptions().check(two_tasks_for_two_workers);
}

/// Worker 0 searches, and worker 1 sleeps. A task comes while worker 0 finds another: somebody
/// comes for it.
fn a_task_beside_the_last_find() {
    let scene = Scene::new(2);
    assert!(scene.idle.start_search());
    assert_eq!(scene.idle.sleep(1, false, || false, || false), None);
    let sleeper = thread::spawn(move || {
        scene.parkers[1].park();
        assert!(scene.take(), "there is a task for the worker that was woken");
    });
    let submitter = thread::spawn(move || scene.submit());
    scene.unpark(scene.idle.stop_search(|| scene.has_work()));
    submitter.join().unwrap();
    sleeper.join().unwrap();
}

#[test]
fn loom_i2_a_task_beside_the_last_find() {
    loom::model(a_task_beside_the_last_find);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_last_find_without_a_barrier() {
    canary::IDLE_LAST_NO_BARRIER.model(a_task_beside_the_last_find);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_last_find_without_a_look() {
    canary::IDLE_LAST_NO_LOOK.model(a_task_beside_the_last_find);
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
                scene.unpark(scene.idle.sleep(0, false, || false, is_down));
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

/// Worker 1 sleeps. The runtime goes down while seat 0, on which nobody sits any more, is put to
/// sleep: its bit may be taken for that of worker 1.
fn a_shutdown_beside_a_seat_put_to_sleep() {
    let scene = Scene::new(2);
    let is_down = || scene.is_down.load(Ordering::Acquire);
    let wake_all = || scene.idle.wake_all(|index| scene.parkers[index].unpark());
    assert_eq!(scene.idle.sleep(1, false, || false, || false), None);
    let worker = thread::spawn(move || scene.parkers[1].park());
    let sysmon = thread::spawn(move || {
        scene.unpark(scene.idle.sleep(0, false, || false, is_down));
        if is_down() && !canary::IDLE_DOWN_UNSEEN.sings() {
            wake_all();
        }
    });
    scene.is_down.store(true, Ordering::Release);
    wake_all();
    sysmon.join().unwrap();
    worker.join().unwrap();
}

#[test]
fn loom_i1_a_shutdown_beside_a_seat_put_to_sleep() {
    two_preemptions().check(a_shutdown_beside_a_seat_put_to_sleep);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_down_unseen() {
    canary::IDLE_DOWN_UNSEEN.model_with(&two_preemptions(), a_shutdown_beside_a_seat_put_to_sleep);
}

/// What the last of the workers alone can take. (Bits are taken in order, the lowest first: it is
/// the last that is passed over.)
struct Pinned {
    scene: &'static Scene,
    owner: usize,
    tasks: AtomicUsize,
}

impl Pinned {
    fn new(workers: usize) -> &'static Pinned {
        let (scene, owner) = (Scene::new(workers), workers - 1);
        Box::leak(Box::new(Pinned { scene, owner, tasks: AtomicUsize::new(0) }))
    }

    fn submit(&self) {
        // Relaxed: the protocol's own barriers have to make it visible.
        self.tasks.fetch_add(1, Ordering::Relaxed);
        self.scene.unpark(self.scene.idle.submitted_to(self.owner, || true));
    }

    fn is_there(&self) -> bool {
        self.tasks.load(Ordering::Relaxed) > 0
    }

    fn fall_asleep(&self, index: usize, was_searching: bool) {
        let scene = self.scene;
        let has_work = || scene.tasks.load(Ordering::Relaxed) > 0;
        scene.unpark(scene.idle.sleep(index, was_searching, || false, has_work));
        scene.idle.wake_owners(
            index,
            |worker| worker == self.owner && self.is_there(),
            |sleeper| scene.parkers[sleeper].unpark(),
        );
    }

    /// The owner, until it has its task.
    fn work(&self, mut is_searching: bool) {
        while !self.is_there() {
            self.fall_asleep(self.owner, is_searching);
            self.scene.parkers[self.owner].park();
            is_searching = true;
        }
        if is_searching {
            self.scene.unpark(self.scene.idle.stop_search(|| true));
        }
    }

    /// Worker 0, which finds nothing; until the runtime goes down.
    fn look_on(&self) {
        let is_down = || self.scene.is_down.load(Ordering::Acquire);
        let mut is_searching = false;
        while !is_down() {
            self.fall_asleep(0, is_searching);
            if is_down() {
                return;
            }
            self.scene.parkers[0].park();
            is_searching = true;
        }
    }
}

/// A worker goes to sleep while a pinned task is submitted to it.
fn one_pinned() {
    let pinned = Pinned::new(1);
    let worker = thread::spawn(move || pinned.work(false));
    pinned.submit();
    worker.join().unwrap();
}

#[test]
fn loom_w8_no_wake_up_of_a_pinned_task_is_lost() {
    loom::model(one_pinned);
}

/// W8: worker 1 sleeps. A wake-up for something else, on its way, may take the bit of worker 0,
/// which is going to sleep; then it is worker 0 that must see to worker 1.
fn a_wake_up_beside() {
    let pinned = Pinned::new(2);
    pinned.fall_asleep(1, false);
    let other = thread::spawn(move || pinned.look_on());
    let submitter = thread::spawn(move || pinned.submit());
    // What this is for is gone again: only the wake-up is left.
    pinned.scene.unpark(pinned.scene.idle.submitted());
    pinned.scene.parkers[1].park();
    pinned.work(true);
    submitter.join().unwrap();
    pinned.scene.is_down.store(true, Ordering::Release);
    pinned.scene.idle.wake_all(|index| pinned.scene.parkers[index].unpark());
    other.join().unwrap();
}

#[test]
fn loom_w8_a_wake_up_that_takes_another_bit() {
    two_preemptions().check(a_wake_up_beside);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_target_barrier() {
    canary::IDLE_NO_TARGET_BARRIER.model(one_pinned);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_look_for_oneself() {
    canary::IDLE_NO_LOOK_FOR_ONESELF.model(one_pinned);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_look_for_others() {
    canary::IDLE_NO_LOOK_FOR_OTHERS.model_with(&two_preemptions(), a_wake_up_beside);
}

/// Stands for a deque, whose jobs are the scene's tasks: its bell.
struct Den {
    scene: &'static Scene,
    bell: AtomicBool,
}

impl Den {
    /// Leaked, as a scene.
    fn new(is_rung: bool) -> &'static Den {
        Box::leak(Box::new(Den { scene: Scene::new(1), bell: AtomicBool::new(is_rung) }))
    }

    /// Relaxed, here and below: the protocol's own barriers have to do.
    fn ring(&self, is_rung: bool) -> bool {
        self.bell.swap(is_rung, Ordering::Relaxed)
    }

    /// As a worker does it.
    fn push(&self) {
        self.scene.tasks.fetch_add(1, Ordering::Relaxed);
        Barrier::detect().light();
        let idle = &self.scene.idle;
        if self.bell.load(Ordering::Relaxed)
            && idle.is_anybody_free_for_bell(|| self.ring(false), || _ = self.ring(true))
        {
            self.scene.unpark(idle.wake_one());
        }
    }

    /// Worker 0, until it has stolen one job.
    fn steal(&self) {
        let mut is_searching = false;
        while !self.scene.take() {
            let ring = || !self.bell.load(Ordering::Relaxed) && !self.ring(true);
            let has_work = || self.scene.tasks.load(Ordering::Relaxed) > 0;
            self.scene.unpark(self.scene.idle.sleep(0, is_searching, ring, has_work));
            self.scene.parkers[0].park();
            is_searching = true;
        }
    }
}

/// A worker goes to sleep while a job is pushed to a deque whose bell is silent.
fn one_job() {
    let den = Den::new(false);
    let thief = thread::spawn(move || den.steal());
    den.push();
    thief.join().unwrap();
}

#[test]
fn loom_i1_a_bell_is_heard() {
    loom::model(one_job);
}

/// A worker goes to sleep while its bell, which rings, is silenced; and the job after whose push
/// that is done goes to somebody else. The next one must find the worker.
fn two_jobs_and_a_passer_by() {
    let den = Den::new(true);
    let thief = thread::spawn(move || den.steal());
    let passer_by = thread::spawn(move || den.scene.take());
    den.push();
    den.push();
    passer_by.join().unwrap();
    thief.join().unwrap();
}

#[test]
fn loom_i1_a_bell_that_is_silenced() {
    two_preemptions().check(two_jobs_and_a_passer_by);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_bell_not_rung() {
    canary::IDLE_BELL_NOT_RUNG.model(one_job);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_bell_no_second_look() {
    canary::IDLE_BELL_NO_SECOND_LOOK.model_with(&two_preemptions(), two_jobs_and_a_passer_by);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_bell_no_fence() {
    canary::IDLE_BELL_NO_FENCE.model_with(&two_preemptions(), two_jobs_and_a_passer_by);
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
