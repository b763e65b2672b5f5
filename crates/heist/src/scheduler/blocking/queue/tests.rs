//! What comes out of the queue, in which order, and what closing leaves.

use super::Queue;

fn drain(queue: &Queue<u32>) -> Vec<u32> {
    std::iter::from_fn(|| queue.pop().map(|(item, _)| item)).collect()
}

#[test]
fn one_producer_is_served_in_order_whenever_the_front_is_refilled() {
    let queue = Queue::new(4);
    let mut taken = Vec::new();
    for item in 0..100 {
        queue.push(3, item).unwrap();
        if item % 7 == 0 {
            taken.extend(queue.pop().map(|(item, _)| item));
        }
    }
    taken.extend(drain(&queue));
    assert!(taken.into_iter().eq(0..100));
}

#[test]
fn a_busy_producer_does_not_keep_others_from_the_front() {
    let queue = Queue::new(2);
    queue.push(0, 0).unwrap();
    queue.push(1, 100).unwrap();
    let mut waited = 0;
    for item in 1..100 {
        queue.push(0, item).unwrap();
        match queue.pop() {
            Some((100, _)) => break,
            _ => waited += 1,
        }
    }
    assert_eq!(waited, 2, "what came to the front with the first of the other producer");
}

#[test]
fn who_takes_learns_whether_others_are_left() {
    let queue = Queue::new(2);
    assert!(queue.is_empty());
    assert_eq!(queue.pop(), None);
    queue.push(0, 1).unwrap();
    queue.push(1, 2).unwrap();
    queue.push(1, 3).unwrap();
    assert_eq!((queue.len(), queue.is_empty()), (3, false));
    assert_eq!(queue.pop(), Some((1, true)));
    assert_eq!(queue.pop(), Some((2, true)));
    assert_eq!(queue.pop(), Some((3, false)));
    assert!(queue.is_empty());
}

#[test]
fn a_closed_queue_keeps_what_it_is_told_to() {
    let queue = Queue::new(2);
    for item in 0..3 {
        queue.push(0, item).unwrap();
        queue.push(1, 10 + item).unwrap();
    }
    assert_eq!(queue.pop(), Some((0, true)));
    queue.push(1, 20).unwrap();
    assert_eq!(queue.close(3, |item| item % 10 == 0), [11, 12]);
    assert_eq!(queue.push(0, 7), Err(7));
    assert_eq!(queue.push(1, 7), Err(7));
    assert_eq!(drain(&queue), [1, 2, 10, 20]);
}

#[test]
fn all_are_taken_at_once() {
    let queue = Queue::new(2);
    for item in 0..4 {
        queue.push(item as usize, item).unwrap();
    }
    assert_eq!(queue.take_all(), [0, 2, 1, 3]);
    assert!(queue.is_empty());
    queue.push(0, 4).unwrap();
    assert_eq!(drain(&queue), [4]);
}
