//! The slot in every interleaving that loom can find (T1, W6).

use super::LifoSlot;
use crate::canary;
use heist_sync::{Arc, AtomicUsize, Barrier, Ordering, UnsafeCell};
use loom::thread;
use std::ptr::NonNull;

/// Tasks are numbers here, each with a message that is written before it is put in.
struct Scene {
    slot: LifoSlot,
    messages: [UnsafeCell<u32>; 2],
    taken: [AtomicUsize; 2],
}

// SAFETY: (T1) that a message is read only by the thread that has the task is what the model
// checks.
unsafe impl Sync for Scene {}
// SAFETY: (type) nothing here is tied to a thread.
unsafe impl Send for Scene {}

impl Scene {
    fn new() -> Self {
        Scene {
            slot: LifoSlot::new(Barrier::detect()),
            messages: std::array::from_fn(|_| UnsafeCell::new(0)),
            taken: std::array::from_fn(|_| AtomicUsize::new(0)),
        }
    }

    fn put(&self, number: usize) {
        // SAFETY: (T1) no other thread has the task yet.
        self.messages[number].with_mut(|text| unsafe { *text = 7 });
        let task = NonNull::new((number + 1) as *mut ()).unwrap();
        self.count(self.slot.put(task));
    }

    fn count(&self, task: Option<NonNull<()>>) {
        let Some(task) = task else { return };
        let number = task.as_ptr() as usize - 1;
        // SAFETY: (T1) the thread that took the task has it alone.
        assert_eq!(self.messages[number].with(|text| unsafe { *text }), 7);
        self.taken[number].fetch_add(1, Ordering::Relaxed);
    }
}

fn owner_beside(thieves: usize) {
    let scene = Arc::new(Scene::new());
    let thieves: Vec<_> = (0..thieves)
        .map(|_| {
            let scene = scene.clone();
            thread::spawn(move || scene.count(scene.slot.steal()))
        })
        .collect();
    scene.put(0);
    scene.count(scene.slot.take());
    scene.put(1);
    thieves.into_iter().for_each(|thief| thief.join().unwrap());
    scene.count(scene.slot.take());
    scene.count(scene.slot.take());
    for taken in &scene.taken {
        assert_eq!(taken.load(Ordering::Relaxed), 1, "a task has one taker");
    }
}

#[test]
fn loom_t1_one_taker_beside_a_thief() {
    loom::model(|| owner_beside(1));
}

#[test]
fn loom_t1_one_taker_beside_two_thieves() {
    loom::model(|| owner_beside(2));
}

/// What is in the slot is pushed out by the next one, or stolen.
#[test]
fn loom_t1_one_is_pushed_out_beside_a_thief() {
    loom::model(|| {
        let scene = Arc::new(Scene::new());
        scene.put(0);
        let thief = {
            let scene = scene.clone();
            thread::spawn(move || scene.count(scene.slot.steal()))
        };
        scene.put(1);
        thief.join().unwrap();
        scene.count(scene.slot.take());
        for taken in &scene.taken {
            assert_eq!(taken.load(Ordering::Relaxed), 1, "a task has one taker");
        }
    });
}

#[test]
#[should_panic(expected = "a task has one taker")]
fn loom_canary_no_light_barrier() {
    canary::SLOT_NO_LIGHT_BARRIER.model(|| owner_beside(1));
}

#[test]
#[should_panic(expected = "a task has one taker")]
fn loom_canary_no_heavy_barrier() {
    canary::SLOT_NO_HEAVY_BARRIER.model(|| owner_beside(1));
}

#[test]
#[should_panic(expected = "a task has one taker")]
fn loom_canary_no_contest() {
    canary::SLOT_NO_CONTEST.model(|| owner_beside(1));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_put_relaxed() {
    canary::SLOT_PUT_RELAXED.model(|| owner_beside(1));
}
