//! The inject queue, one thread at a time (Q8).

use super::{Closed, Inject};
use crate::env::Rng;
use crate::scheduler::testing::{End, Log, Nowhere, run};
use crate::task::{Notified, TaskList};
use std::collections::VecDeque;

fn queue(shards: usize) -> (Inject<Nowhere>, Log) {
    (Inject::new(shards), Log::default())
}

fn push(inject: &Inject<Nowhere>, producer: usize, task: Notified<Nowhere>) {
    assert!(inject.push(producer, task).is_ok());
}

/// Takes one batch and runs it, in order; how many there were.
fn take(inject: &Inject<Nowhere>, first: usize, most: usize) -> usize {
    let mut rest = Vec::new();
    let Some(task) = inject.pop_batch(first, |_| most, |batch| rest.extend(batch)) else {
        return 0;
    };
    run(task);
    let count = 1 + rest.len();
    rest.into_iter().for_each(run);
    count
}

/// Q8: first in, first out, whatever the sizes of the batches, and none is too large.
#[test]
fn q8_batches_keep_the_order() {
    for most in [1, 2, 3, 7, 100] {
        let (inject, log) = queue(1);
        (0..20).for_each(|number| push(&inject, 0, log.task(number)));
        let mut left = 20;
        while left > 0 {
            assert_eq!(inject.len(), left);
            assert_eq!(take(&inject, 0, most), most.min(left));
            left -= most.min(left);
        }
        assert!(inject.is_empty());
        assert_eq!(take(&inject, 0, most), 0);
        assert_eq!(log.ran(), (0..20).collect::<Vec<_>>());
    }
}

/// Q8, W4: the share is worked out from the list that is taken from, the first one included, and
/// is at least one.
#[test]
fn q8_the_share_is_of_the_list() {
    let (inject, log) = queue(2);
    (0..9).for_each(|number| push(&inject, 0, log.task(number)));
    push(&inject, 1, log.task(100));
    let mut rest = Vec::new();
    let share = |len| {
        assert_eq!(len, 9);
        len / 3
    };
    run(inject.pop_batch(0, share, |batch| rest.extend(batch)).unwrap());
    assert_eq!(rest.len(), 2);
    rest.into_iter().for_each(run);
    assert_eq!(log.ran(), [0, 1, 2]);
    assert_eq!(take(&inject, 0, 0), 1);
    assert_eq!(log.ran(), [3]);
    assert_eq!(inject.len(), 6);
    drop(inject.close());
}

/// Q8: a batch is appended as it is, after what its producer pushed before.
#[test]
fn q8_a_batch_follows_what_came_before() {
    let (inject, log) = queue(1);
    push(&inject, 0, log.task(0));
    let mut batch = TaskList::new();
    batch.extend((1..5).map(|number| log.task(number)));
    inject.push_batch(0, &mut batch);
    assert_eq!(batch.len(), 0);
    push(&inject, 0, log.task(5));
    inject.push_batch(0, &mut TaskList::new());
    assert_eq!(inject.len(), 6);
    assert_eq!(take(&inject, 0, 10), 6);
    assert_eq!(log.ran(), [0, 1, 2, 3, 4, 5]);
}

/// Q8: lists against plain queues of numbers, over many pages.
#[test]
fn q8_lists_keep_the_order_over_pages() {
    let (log, mut rng) = (Log::default(), Rng::new(8));
    let mut lists = [TaskList::new(), TaskList::new()];
    let mut models = [VecDeque::new(), VecDeque::new()];
    for number in 0..3000 {
        let one = rng.below(2);
        match rng.below(40) {
            0 => {
                let [first, second] = &mut lists;
                first.append(second);
                let [first, second] = &mut models;
                first.append(second);
            }
            1..20 => {
                if let Some(task) = lists[one].pop() {
                    run(task);
                }
                assert_eq!(log.ran(), Vec::from_iter(models[one].pop_front()));
            }
            _ => {
                lists[one].push(log.task(number));
                models[one].push_back(number);
            }
        }
        assert_eq!(lists.each_ref().map(TaskList::len), models.each_ref().map(VecDeque::len));
    }
    let left: usize = models.iter().map(VecDeque::len).sum();
    drop(lists);
    assert_eq!(log.take().len(), left);
}

/// Q8, Q1: every list is reached, from every start; each producer's tasks stay in order, and the
/// one that is asked for first goes first.
#[test]
fn q8_every_list_is_reached() {
    for first in 0..4 {
        let (inject, log) = queue(4);
        for number in 0..12 {
            push(&inject, number as usize, log.task(number));
        }
        let mut order = Vec::new();
        while take(&inject, first, 2) > 0 {
            order.extend(log.ran());
        }
        assert_eq!(order.len(), 12);
        assert_eq!(order[0] as usize, first);
        for producer in 0..4 {
            let own: Vec<u32> = order.iter().copied().filter(|n| n % 4 == producer).collect();
            assert_eq!(own, [producer, producer + 4, producer + 8]);
        }
    }
}

/// Q8, T6: closing gives back what is there, and what comes later comes back.
#[test]
fn q8_a_closed_queue_keeps_nothing() {
    let (inject, log) = queue(2);
    (0..4).for_each(|number| push(&inject, number as usize, log.task(number)));
    drop(inject.close());
    let mut ended = log.take();
    ended.sort_unstable_by_key(|(number, _)| *number);
    assert_eq!(ended, [0, 1, 2, 3].map(|number| (number, End::Cancelled)));
    assert!(inject.is_empty());
    let refused = inject.push(1, log.task(4)).err().map(|Closed(task)| task);
    refused.into_iter().for_each(run);
    let mut batch = TaskList::new();
    batch.extend([log.task(5), log.task(6)]);
    inject.push_batch(0, &mut batch);
    assert_eq!(batch.len(), 2);
    batch.pop().into_iter().for_each(run);
    batch.pop().into_iter().for_each(run);
    assert_eq!(log.ran(), [4, 5, 6]);
    assert!(inject.is_empty());
    assert_eq!(take(&inject, 0, 10), 0);
}
