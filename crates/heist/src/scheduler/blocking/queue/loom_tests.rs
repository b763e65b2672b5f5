//! The queue of blocking threads in every interleaving that loom can find.

use super::Queue;
use crate::canary;
use loom::thread;

/// Leaked: when a model fails, what is left in it can no longer be dropped.
fn queue(shards: usize) -> &'static Queue<usize> {
    Box::leak(Box::new(Queue::new(shards)))
}

fn pop(queue: &Queue<usize>) -> Option<usize> {
    queue.pop().map(|(item, _)| item)
}

/// Two producers beside a consumer: each item is taken once, and those of one producer in order.
fn two_producers(shards: usize) {
    let queue = queue(shards);
    let producers = [0, 10].map(|first| {
        thread::spawn(move || {
            for item in [first, first + 1] {
                queue.push(first / 10, item).unwrap();
            }
        })
    });
    let mut taken = Vec::new();
    taken.extend(pop(queue));
    taken.extend(pop(queue));
    producers.into_iter().for_each(|producer| producer.join().unwrap());
    taken.extend(std::iter::from_fn(|| pop(queue)));
    assert_eq!(taken.len(), 4, "of four items these were taken: {taken:?}");
    for producer in [0, 1] {
        let own: Vec<_> = taken.iter().filter(|item| **item / 10 == producer).collect();
        assert_eq!(own, [&(producer * 10), &(producer * 10 + 1)], "out of order");
    }
}

/// Of two items one is taken: a look meanwhile sees that there is another, wherever it is.
fn on_the_move() {
    let queue = queue(1);
    queue.push(0, 1).unwrap();
    queue.push(0, 2).unwrap();
    let consumer = thread::spawn(move || assert_eq!(queue.pop(), Some((1, true))));
    assert!(!queue.is_empty(), "an item is overlooked");
    consumer.join().unwrap();
    assert_eq!(queue.pop(), Some((2, false)));
}

#[test]
fn each_item_is_taken_once_from_one_shard() {
    loom::model(|| two_producers(1));
}

#[test]
fn each_item_is_taken_once_from_two_shards() {
    loom::model(|| two_producers(2));
}

#[test]
fn an_item_is_seen_on_its_way_to_the_front() {
    loom::model(on_the_move);
}

#[test]
#[should_panic(expected = "of four items these were taken")]
fn canary_length_unlocked() {
    canary::BLOCKING_LENGTH_UNLOCKED.model(|| two_producers(1));
}

#[test]
#[should_panic(expected = "an item is overlooked")]
fn canary_look_unlocked() {
    canary::BLOCKING_LOOK_UNLOCKED.model(on_the_move);
}
