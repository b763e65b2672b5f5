//! Seats in every interleaving that loom can find (L5–L7, I1).
//!
//! The scenes have one seat. What workers do around it is what `worker/seat.rs` does; a call for a
//! spare is answered on the spot, by whoever calls.

use super::{Back, Borrowed, Disturbance, Left, Seat};
use crate::canary;
use crate::env::Parker;
use crate::scheduler::idle::{GetUp, Idle};
use crate::scheduler::slot::LifoSlot;
use crossbeam_utils::CachePadded;
use heist_sync::{AtomicBool, AtomicU32, AtomicUsize, Barrier, Ordering};
use loom::thread;
use std::sync::Arc;

const BASE: u32 = 0;
const SPARE: u32 = 1;

struct Scene {
    seat: Seat,
    idle: Idle,
    /// Stands for all queues: how many tasks there are.
    tasks: AtomicUsize,
    tick: AtomicU32,
    /// How many have gone on, or taken the seat.
    holders: AtomicUsize,
    is_down: AtomicBool,
    /// The seat's, and what stands for its reactor, in which one can sleep.
    parker: Arc<CachePadded<Parker>>,
    reactor: Parker,
    /// Number of workers that run tasks.
    inside: AtomicUsize,
}

impl Scene {
    /// Leaked: when a model deadlocks, loom's objects can no longer be dropped.
    fn new() -> &'static Scene {
        let (barrier, parker) = (Barrier::detect(), Arc::new(CachePadded::new(Parker::new())));
        Box::leak(Box::new(Scene {
            seat: Seat::new(BASE as usize, barrier, Arc::clone(&parker)),
            idle: Idle::new(1, barrier),
            tasks: AtomicUsize::new(0),
            tick: AtomicU32::new(0),
            holders: AtomicUsize::new(0),
            is_down: AtomicBool::new(false),
            parker,
            reactor: Parker::new(),
            inside: AtomicUsize::new(0),
        }))
    }

    fn submit(&self) {
        // Relaxed: the protocol's own barriers have to make it visible.
        self.tasks.fetch_add(1, Ordering::Relaxed);
        self.notify();
    }

    fn notify(&self) {
        if self.idle.is_anybody_free() {
            self.wake(self.idle.wake_one());
        } else if self.seat.ignores_tasks() && self.seat.borrow() == Borrowed::ForSpare {
            self.stand_in();
        }
    }

    fn wake(&self, woken: Option<usize>) {
        if woken.is_some() && self.seat.wake(|| self.reactor.unpark()) {
            assert_eq!(self.idle.stop_search(|| true), None, "there is one seat");
            self.stand_in();
        }
    }

    fn has_work(&self) -> bool {
        self.tasks.load(Ordering::Relaxed) > 0
    }

    /// Takes everything. To be called by the worker that holds the seat.
    fn take(&self) {
        assert_eq!(self.inside.fetch_add(1, Ordering::Relaxed), 0, "a seat has one holder");
        self.tasks.swap(0, Ordering::Relaxed);
        self.inside.fetch_sub(1, Ordering::Relaxed);
    }

    fn put_to_sleep(&self, was_searching: bool) {
        self.wake(self.idle.sleep(0, was_searching, || false, || self.has_work()));
        self.idle.wake_owners(0, |_| self.seat.is_getting_up(), |seat| self.wake(Some(seat)));
    }

    /// The spare: takes what there is, and leaves.
    fn stand_in(&self) {
        if self.seat.sit_down(SPARE) {
            self.idle.join_search();
            self.take();
            self.leave(SPARE, true);
        }
    }

    fn leave(&self, worker: u32, is_searching: bool) {
        let is_borrowed = self.seat.is_borrowed();
        let left = self.seat.leave(worker);
        if left == Left::Vacant {
            return self.put_to_sleep(is_searching);
        }
        if is_searching {
            self.wake(self.idle.stop_search(|| true));
        }
        if left == Left::Handed && is_borrowed && !canary::SEAT_RETURN_UNCHECKED.sings() {
            assert!(self.idle.catch_up());
            if self.has_work() {
                self.notify();
            }
        }
    }

    /// `Some` if the base worker sits there, and whether it counts as searching.
    fn sit_again(&self) -> Option<bool> {
        match self.seat.come_back(BASE) {
            Back::Asleep => Some(self.get_up_again()),
            Back::Busy => Some(false),
            Back::Taken | Back::Down => None,
        }
    }

    /// Whether it counts as searching then.
    fn get_up_again(&self) -> bool {
        let got_up = self.idle.get_up(0);
        assert!(!matches!(got_up, GetUp::WokenBeside(_)), "there is one seat");
        if got_up != GetUp::Busy {
            self.seat.sleep();
        }
        self.seat.has_got_up();
        got_up != GetUp::Busy
    }

    /// The base worker waits for its seat; `None` if the runtime goes down.
    fn come_home(&self) -> Option<bool> {
        loop {
            if let Some(is_searching) = self.sit_again() {
                return Some(is_searching);
            }
            if self.is_down.load(Ordering::Acquire) {
                return None;
            }
            if self.seat.recall() {
                self.seat.wait_for_return();
            }
        }
    }
}

/// L7: a worker comes to its next step while sysmon takes its seat: one of them has it.
fn a_step_beside_sysmon() {
    let scene = Scene::new();
    let sysmon = thread::spawn(move || {
        let is_stuck = || scene.tick.load(Ordering::Relaxed) == 0;
        if scene.seat.rob(BASE, is_stuck) == Left::Vacant {
            scene.holders.fetch_add(1, Ordering::Relaxed);
        }
    });
    scene.tick.store(2, Ordering::Relaxed);
    if scene.seat.is_undisturbed(BASE) || scene.seat.answer(BASE) == Disturbance::None {
        scene.holders.fetch_add(1, Ordering::Relaxed);
    }
    sysmon.join().unwrap();
    assert_eq!(scene.holders.load(Ordering::Relaxed), 1, "a seat has one holder");
}

#[test]
fn loom_l7_a_step_beside_sysmon() {
    loom::model(a_step_beside_sysmon);
}

/// L5, I1: a worker steps aside and comes back while a task is submitted: somebody takes it.
fn stepping_aside_beside_a_submitter() {
    let scene = Scene::new();
    let submitter = thread::spawn(move || scene.submit());
    scene.leave(BASE, false);
    // The end of its poll.
    let is_searching = scene.come_home().unwrap();
    submitter.join().unwrap();
    if scene.has_work() {
        scene.take();
    }
    if is_searching {
        scene.wake(scene.idle.stop_search(|| true));
    }
    assert!(!scene.has_work(), "the task is run");
    assert_eq!(scene.seat.holder(), Some(BASE as usize));
}

#[test]
fn loom_l5_stepping_aside_beside_a_submitter() {
    loom::model(stepping_aside_beside_a_submitter);
}

/// A spare sits on the seat of a worker that is stuck.
fn lent() -> &'static Scene {
    let scene = Scene::new();
    assert_eq!(scene.seat.rob(BASE, || true), Left::Vacant);
    assert_eq!(scene.idle.sleep(0, false, || false, || true), Some(0));
    assert!(scene.seat.wake(|| unreachable!()));
    assert_eq!(scene.idle.stop_search(|| true), None);
    assert!(scene.seat.sit_down(SPARE));
    scene
}

/// L6: the base worker comes back while the spare steps, and then has nothing to do: it gets its
/// seat.
#[test]
fn loom_l6_the_home_worker_beside_its_spare() {
    loom::model(|| {
        let scene = lent();
        let spare = thread::spawn(move || {
            if scene.seat.is_undisturbed(SPARE) || scene.seat.answer(SPARE) == Disturbance::None {
                scene.leave(SPARE, false);
            }
        });
        let is_searching = scene.come_home().unwrap();
        assert_eq!(scene.seat.holder(), Some(BASE as usize));
        spare.join().unwrap();
        if is_searching {
            assert_eq!(scene.idle.stop_search(|| true), None);
        }
    });
}

/// L6: the spare is stuck: sysmon gets the seat for the base worker; or the spare's next step does.
fn a_stuck_spare() {
    let scene = lent();
    let home = thread::spawn(move || scene.come_home());
    // Until the base worker has asked, there is no reason to take the seat.
    while !scene.seat.is_recalled() {
        thread::yield_now();
    }
    let left = scene.seat.rob(SPARE, || true);
    assert_eq!(left, Left::Handed);
    home.join().unwrap();
    assert_eq!(scene.seat.holder(), Some(BASE as usize));
    assert_eq!(scene.seat.answer(SPARE), Disturbance::Lost);
}

#[test]
fn loom_l6_the_home_worker_beside_a_stuck_spare() {
    loom::model(a_stuck_spare);
}

/// A runtime goes down while the base worker waits for its seat, or is about to.
fn down_beside_the_home_worker() {
    let scene = lent();
    let home = thread::spawn(move || scene.come_home());
    scene.is_down.store(true, Ordering::Release);
    scene.seat.close();
    scene.idle.wake_all(|seat| scene.wake(Some(seat)));
    home.join().unwrap();
}

#[test]
fn loom_l6_a_shutdown_reaches_who_waits_for_its_seat() {
    loom::model(down_beside_the_home_worker);
}

/// A worker is robbed, and comes back in the middle of that.
fn back_while_put_to_sleep() {
    let scene = Scene::new();
    let sysmon = thread::spawn(move || {
        if scene.seat.rob(BASE, || true) == Left::Vacant {
            scene.put_to_sleep(false);
        }
    });
    let mut is_searching = false;
    if scene.seat.answer(BASE) == Disturbance::Lost {
        is_searching = scene.come_home().unwrap();
    }
    sysmon.join().unwrap();
    if scene.seat.holder() == Some(BASE as usize) && is_searching {
        assert_eq!(scene.idle.stop_search(|| true), None);
    }
}

#[test]
fn loom_i1_a_worker_comes_back_while_its_seat_is_put_to_sleep() {
    loom::model(back_while_put_to_sleep);
}

/// L1: a worker puts a task into its slot while it loses its seat: the task does not stay there.
fn a_put_beside_sysmon() {
    let barrier = Barrier::detect();
    let scene = Scene::new();
    let slot: &'static LifoSlot = Box::leak(Box::new(LifoSlot::new(barrier)));
    let sysmon = thread::spawn(move || {
        assert_eq!(scene.seat.rob(BASE, || true), Left::Vacant);
        assert!(barrier.heavy());
        usize::from(slot.steal().is_some())
    });
    assert!(slot.put(std::ptr::NonNull::dangling()).is_none());
    let mut taken = 0;
    let is_disturbed = !scene.seat.is_undisturbed(BASE) && !canary::SEAT_SLOT_FORGOTTEN.sings();
    if is_disturbed && scene.seat.holder() != Some(BASE as usize) {
        taken += usize::from(slot.take().is_some());
    }
    taken += sysmon.join().unwrap();
    assert_eq!(taken, 1, "the task is found once");
}

#[test]
fn loom_l1_a_put_beside_sysmon() {
    loom::model(a_put_beside_sysmon);
}

#[test]
#[should_panic(expected = "the task is found once")]
fn loom_canary_slot_forgotten() {
    canary::SEAT_SLOT_FORGOTTEN.model(a_put_beside_sysmon);
}

#[test]
#[should_panic(expected = "a seat has one holder")]
fn loom_canary_no_light_barrier() {
    canary::SEAT_NO_LIGHT_BARRIER.model(a_step_beside_sysmon);
}

#[test]
#[should_panic(expected = "a seat has one holder")]
fn loom_canary_no_heavy_barrier() {
    canary::SEAT_NO_HEAVY_BARRIER.model(a_step_beside_sysmon);
}

#[test]
#[should_panic(expected = "a seat has one holder")]
fn loom_canary_no_contest() {
    canary::SEAT_NO_CONTEST.model(a_step_beside_sysmon);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_hand_over_silent() {
    canary::SEAT_HAND_OVER_SILENT.model(a_stuck_spare);
}

/// A worker that comes back to a parked seat is not found among the sleepers.
#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_rising_unseen() {
    canary::SEAT_GETTING_UP_UNSEEN.model(back_while_put_to_sleep);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_close_silent() {
    canary::SEAT_CLOSE_SILENT.model(down_beside_the_home_worker);
}

/// A worker sleeps in its reactor. An event there gets it up by itself; beside that a task is
/// submitted.
fn an_event_in_its_sleep() {
    let scene = Scene::new();
    let submitter = thread::spawn(move || scene.submit());
    let kernel = thread::spawn(move || scene.reactor.unpark());
    let mut is_searching = false;
    while !scene.has_work() {
        scene.put_to_sleep(is_searching);
        is_searching = scene.parker.park_in(|| scene.reactor.park());
        if !is_searching {
            scene.seat.begin_to_get_up();
            is_searching = scene.get_up_again();
        }
    }
    scene.take();
    submitter.join().unwrap();
    kernel.join().unwrap();
    assert_eq!(scene.seat.holder(), Some(BASE as usize));
}

#[test]
fn loom_i1_an_event_beside_a_submit() {
    loom::model(an_event_in_its_sleep);
}

/// F3: tasks come while the base worker is at a job that does not end: a spare runs them, also what
/// comes while it leaves.
fn tasks_beside_a_job() {
    let scene = Scene::new();
    assert!(scene.seat.begin_job(BASE));
    let submitter = thread::spawn(move || scene.submit());
    scene.submit();
    submitter.join().unwrap();
    assert!(!scene.has_work(), "no task waits for the job");
    assert_eq!(scene.seat.holder(), Some(BASE as usize));
    assert!(scene.seat.is_at_job());
}

#[test]
fn loom_f3_tasks_beside_a_job() {
    loom::model(tasks_beside_a_job);
}

#[test]
#[should_panic(expected = "no task waits for the job")]
fn loom_canary_return_unchecked() {
    canary::SEAT_RETURN_UNCHECKED.model(tasks_beside_a_job);
}

/// L6, L7: a job ends while its worker's seat is borrowed: the worker gets it back, and never are
/// there two.
fn the_end_of_a_job_beside_a_borrower() {
    let scene = Scene::new();
    assert!(scene.seat.begin_job(BASE));
    let submitter = thread::spawn(move || scene.submit());
    let mut is_searching = false;
    while scene.seat.answer(BASE) == Disturbance::Lost {
        is_searching |= scene.come_home().unwrap();
    }
    scene.take();
    submitter.join().unwrap();
    if is_searching {
        assert_eq!(scene.idle.stop_search(|| true), None);
    }
    let is_home = scene.seat.holder() == Some(BASE as usize);
    let is_calm = !scene.seat.is_at_job() && !scene.seat.is_borrowed();
    assert!(is_home && is_calm, "a seat has one holder: {:?}", scene.seat.load());
}

#[test]
fn loom_l7_the_end_of_a_job_beside_a_borrower() {
    loom::model(the_end_of_a_job_beside_a_borrower);
}

#[test]
#[should_panic(expected = "a seat has one holder")]
fn loom_canary_lender_goes_on() {
    canary::SEAT_LENDER_GOES_ON.model(the_end_of_a_job_beside_a_borrower);
}

/// L7: a spare that has lent its seat ends while another gives the seat back: nobody keeps it.
fn a_lender_that_ends() {
    const BORROWER: u32 = 2;
    let scene = lent();
    assert!(scene.seat.begin_job(SPARE));
    assert_eq!(scene.seat.borrow(), Borrowed::ForSpare);
    assert!(scene.seat.sit_down(BORROWER));
    let borrower = thread::spawn(move || scene.leave(BORROWER, false));
    if scene.seat.answer(SPARE) == Disturbance::None {
        scene.leave(SPARE, false);
    }
    borrower.join().unwrap();
    assert_eq!(scene.seat.holder(), None, "nobody sits there who has ended");
}

#[test]
fn loom_l7_a_lender_that_ends() {
    loom::model(a_lender_that_ends);
}

#[test]
#[should_panic(expected = "nobody sits there who has ended")]
fn loom_canary_lender_gone() {
    canary::SEAT_LENDER_GONE.model(a_lender_that_ends);
}

/// F3, L5: a lender gives its seat away, as it waits for the task, while the spare that was called
/// sits down: that one is not too late.
#[test]
fn loom_l5_a_lender_steps_aside_beside_a_call() {
    loom::model(|| {
        let scene = Scene::new();
        assert!(scene.seat.begin_job(BASE));
        let submitter = thread::spawn(move || scene.submit());
        scene.leave(BASE, false);
        submitter.join().unwrap();
        assert!(!scene.has_work(), "the task is run: {:?}", scene.seat.load());
    });
}

/// L5: the same, and no spare is to be had: the seat is not forgotten.
#[test]
fn loom_l5_a_lender_steps_aside_beside_a_call_in_vain() {
    loom::model(|| {
        let scene = Scene::new();
        assert!(scene.seat.begin_job(BASE));
        assert_eq!(scene.seat.borrow(), Borrowed::ForSpare);
        let caller = thread::spawn(move || scene.seat.not_staffed());
        let left = scene.seat.leave(BASE);
        caller.join().unwrap();
        let tries_again = left == Left::Vacant || scene.seat.is_unstaffed();
        assert!(tries_again, "{left:?} {:?}", scene.seat.load());
    });
}

/// F3, L6: a task comes while the base worker asks for the seat of a spare that is at a job: it
/// gets the seat, or another spare comes.
#[test]
fn loom_l6_a_task_beside_a_recall() {
    loom::model(|| {
        let scene = lent();
        assert!(scene.seat.begin_job(SPARE));
        let home = thread::spawn(move || scene.seat.recall());
        scene.submit();
        let _ = home.join().unwrap();
        let is_home = scene.seat.holder() == Some(BASE as usize);
        assert!(!scene.has_work() || is_home, "somebody comes: {:?}", scene.seat.load());
    });
}
