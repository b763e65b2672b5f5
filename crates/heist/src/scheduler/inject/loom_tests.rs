//! The inject queue in every interleaving that loom can find (Q1, Q8), and with the idle protocol
//! around it (I1).

use super::Inject;
use crate::canary;
use crate::env::Parker;
use crate::scheduler::idle::Idle;
use crate::scheduler::testing::{Log, Nowhere, run};
use crate::task::{Notified, TaskList};
use heist_sync::Barrier;
use loom::thread;

/// Leaked: when a model fails, what is left in it can no longer be dropped.
fn queue(shards: usize) -> (&'static Inject<Nowhere>, Log) {
    (Box::leak(Box::new(Inject::new(shards))), Log::default())
}

fn push(inject: &Inject<Nowhere>, task: Notified<Nowhere>) {
    assert!(inject.push(0, task).is_ok());
}

/// Takes a batch of two, or what there is of it.
fn take(inject: &Inject<Nowhere>) -> Vec<Notified<Nowhere>> {
    let mut rest = Vec::new();
    let first = inject.pop_batch(0, |_| 2, |batch| rest.extend(batch));
    first.into_iter().chain(rest).collect()
}

fn take_and_run(inject: &Inject<Nowhere>) {
    take(inject).into_iter().for_each(run);
}

/// Two producers beside a consumer that takes batches: each task is taken once, and those of one
/// producer in order.
fn two_producers() {
    let (inject, log) = queue(1);
    let producers = [0, 10].map(|first| {
        let log = log.clone();
        thread::spawn(move || {
            push(inject, log.task(first));
            push(inject, log.task(first + 1));
        })
    });
    take_and_run(inject);
    take_and_run(inject);
    producers.into_iter().for_each(|producer| producer.join().unwrap());
    while !inject.is_empty() {
        take_and_run(inject);
    }
    let order = log.ran();
    assert_eq!(order.len(), 4, "of four tasks these were taken: {order:?}");
    for first in [0, 10] {
        let own: Vec<u32> = order.iter().copied().filter(|n| n / 10 == first / 10).collect();
        assert_eq!(own, [first, first + 1], "out of order");
    }
}

#[test]
fn loom_q1_each_task_is_taken_once() {
    loom::model(two_producers);
}

/// A producer beside a consumer that empties the list: the length that is left is the right one.
fn push_beside_pop() {
    let (inject, log) = queue(1);
    push(inject, log.task(0));
    let producer = {
        let log = log.clone();
        thread::spawn(move || push(inject, log.task(1)))
    };
    take_and_run(inject);
    producer.join().unwrap();
    take_and_run(inject);
    assert_eq!(log.ran(), [0, 1], "a task is in the list that nobody sees");
    assert!(inject.is_empty());
}

#[test]
fn loom_q1_the_length_follows_the_list() {
    loom::model(push_beside_pop);
}

/// A batch is pushed, and two are taken at the same time: none is broken up.
fn batches_beside_each_other() {
    let (inject, log) = queue(1);
    let batch = |numbers: [u32; 2]| {
        let mut batch = TaskList::new();
        batch.extend(numbers.map(|number| log.task(number)));
        batch
    };
    inject.push_batch(0, &mut batch([0, 1]));
    let other = {
        let mut batch = batch([2, 3]);
        thread::spawn(move || {
            inject.push_batch(0, &mut batch);
            take(inject)
        })
    };
    let batches = [take(inject), other.join().unwrap()];
    for batch in batches {
        batch.into_iter().for_each(run);
        let numbers = log.ran();
        assert!(numbers == [0, 1] || numbers == [2, 3], "{numbers:?} is no batch");
    }
}

#[test]
fn loom_q8_a_batch_is_taken_in_one_go() {
    loom::model(batches_beside_each_other);
}

/// The queue is closed while one thread pushes and another takes. Each task ends once: what comes
/// back is cancelled by its producer.
fn close_beside_push_and_pop() {
    let (inject, log) = queue(1);
    push(inject, log.task(0));
    let producer = {
        let log = log.clone();
        thread::spawn(move || drop(inject.push(0, log.task(1))))
    };
    let consumer = thread::spawn(move || take_and_run(inject));
    drop(inject.close());
    producer.join().unwrap();
    consumer.join().unwrap();
    let mut ended: Vec<u32> = log.take().into_iter().map(|(number, _)| number).collect();
    ended.sort_unstable();
    assert_eq!(ended, [0, 1], "a task was left behind, or ended twice");
    assert!(inject.is_empty());
}

#[test]
fn loom_q1_a_push_beside_a_close_is_cancelled_by_one_of_them() {
    loom::model(close_beside_push_and_pop);
}

/// A worker goes to sleep while a task is pushed. The worker's last look reads the length without
/// the lock; if it misses the task, the producer sees that it sleeps.
fn sleep_beside_push() {
    struct Scene {
        inject: &'static Inject<Nowhere>,
        idle: Idle,
        parker: Parker,
    }
    let (inject, log) = queue(2);
    let idle = Idle::new(1, Barrier::detect());
    let scene: &'static Scene = Box::leak(Box::new(Scene { inject, idle, parker: Parker::new() }));
    let worker = thread::spawn(move || {
        let mut tasks = take(scene.inject);
        while tasks.is_empty() {
            if scene.idle.sleep(0, false, || false, || !scene.inject.is_empty()).is_some() {
                scene.parker.unpark();
            }
            scene.parker.park();
            assert_eq!(scene.idle.stop_search(|| true), None);
            tasks = take(scene.inject);
        }
        tasks.into_iter().for_each(run);
    });
    assert!(scene.inject.push(1, log.task(5)).is_ok());
    if scene.idle.submitted().is_some() {
        scene.parker.unpark();
    }
    worker.join().unwrap();
    assert_eq!(log.ran(), [5]);
}

#[test]
fn loom_i1_a_push_is_seen_by_the_last_look() {
    loom::model(sleep_beside_push);
}

#[test]
#[should_panic(expected = "a task is in the list that nobody sees")]
fn loom_canary_length_unlocked() {
    canary::INJECT_LENGTH_UNLOCKED.model(push_beside_pop);
}

#[test]
#[should_panic(expected = "is no batch")]
fn loom_canary_lock_per_task() {
    canary::INJECT_LOCK_PER_TASK.model(batches_beside_each_other);
}

#[test]
#[should_panic(expected = "a task was left behind")]
fn loom_canary_close_unseen() {
    canary::INJECT_CLOSE_UNSEEN.model(close_beside_push_and_pop);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_light_barrier_after_a_push() {
    canary::IDLE_NO_LIGHT_BARRIER.model(sleep_beside_push);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_heavy_barrier_before_the_last_look() {
    canary::IDLE_NO_HEAVY_BARRIER.model(sleep_beside_push);
}
