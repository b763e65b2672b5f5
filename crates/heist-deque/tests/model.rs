//! Single-threaded histories of both queues against a plain `VecDeque` (Q1–Q5).

use heist_deque::ring::Full;
use heist_deque::{Steal, deque, ring};
use proptest::prelude::*;
use std::collections::VecDeque;

/// An item that owns memory, so that a lost or doubled one is seen by a leak checker too.
type Item = Box<u32>;

#[derive(Debug, Clone)]
enum RingOp {
    Push,
    PushBatch(u8),
    Pop,
    Steal,
    StealInto,
    StealHalfInto,
    PopThief,
    DrainHalf(u8),
}

fn ring_op() -> impl Strategy<Value = RingOp> {
    prop_oneof![
        6 => Just(RingOp::Push),
        2 => (0u8..12).prop_map(RingOp::PushBatch),
        4 => Just(RingOp::Pop),
        2 => Just(RingOp::Steal),
        2 => Just(RingOp::StealInto),
        2 => Just(RingOp::StealHalfInto),
        3 => Just(RingOp::PopThief),
        1 => (0u8..6).prop_map(RingOp::DrainHalf),
    ]
}

/// A ring and a thief's ring beside their models.
struct Rings {
    owner: ring::Owner<Item>,
    thief: ring::Owner<Item>,
    model: VecDeque<u32>,
    thief_model: VecDeque<u32>,
    next: u32,
}

impl Rings {
    fn new(capacity: usize) -> Self {
        Rings {
            owner: ring::Owner::with_capacity(capacity),
            thief: ring::Owner::with_capacity(4),
            model: VecDeque::new(),
            thief_model: VecDeque::new(),
            next: 0,
        }
    }

    fn apply(&mut self, op: RingOp) {
        match op {
            RingOp::Push => self.push(),
            RingOp::PushBatch(count) => self.push_batch(u32::from(count)),
            RingOp::Pop => {
                assert_eq!(self.owner.pop().map(|b| *b), self.model.pop_front());
                (0..4).chain([1 << 31, u32::MAX]).for_each(|ahead| self.glimpse(ahead));
            }
            RingOp::Steal => {
                let stolen = self.owner.stealer().steal().success().map(|b| *b);
                assert_eq!(stolen, self.model.pop_front());
            }
            RingOp::StealInto => self.steal_into(),
            RingOp::StealHalfInto => self.steal_half_into(),
            RingOp::PopThief => {
                assert_eq!(self.thief.pop().map(|b| *b), self.thief_model.pop_front());
            }
            RingOp::DrainHalf(wanted) => self.drain_half(usize::from(wanted)),
        }
        assert_eq!(self.owner.len(), self.model.len());
        assert_eq!(self.owner.is_empty(), self.model.is_empty());
        assert_eq!(self.thief.len(), self.thief_model.len());
    }

    fn glimpse(&self, ahead: u32) {
        let bits = self.owner.glimpse(ahead);
        // SAFETY: nobody has taken it, so the box is alive; it is read, and not moved.
        let seen = bits.as_ref().map(|bits| **unsafe { bits.assume_init_ref() });
        assert_eq!(seen, self.model.get(ahead as usize).copied());
    }

    fn push(&mut self) {
        let full = self.model.len() == self.owner.capacity();
        match self.owner.push(Box::new(self.next)) {
            Ok(()) => self.model.push_back(self.next),
            Err(Full(item)) => assert!(full && *item == self.next),
        }
        self.next += 1;
    }

    fn push_batch(&mut self, count: u32) {
        let mut items = (self.next..self.next + count).map(Box::new);
        let pushed = self.owner.push_batch(&mut items) as u32;
        let room = (self.owner.capacity() - self.model.len()) as u32;
        assert_eq!(pushed, count.min(room));
        self.model.extend(self.next..self.next + pushed);
        self.next += count;
    }

    fn thief_room(&self) -> usize {
        self.thief.capacity() - self.thief_model.len()
    }

    fn steal_into(&mut self) {
        let rest = self.model.len().div_ceil(2).saturating_sub(1).min(self.thief_room());
        let stolen = self.owner.stealer().steal_into_counted(&mut self.thief).success();
        let stolen = stolen.map(|(first, count)| (*first, count));
        assert_eq!(stolen, self.model.pop_front().map(|first| (first, 1 + rest)));
        self.thief_model.extend(self.model.drain(..rest));
    }

    fn steal_half_into(&mut self) {
        let count = self.model.len().div_ceil(2).min(self.thief_room());
        let expected = if self.model.is_empty() { Steal::Empty } else { Steal::Success(count) };
        assert_eq!(self.owner.stealer().steal_half_into(&mut self.thief), expected);
        self.thief_model.extend(self.model.drain(..count));
    }

    fn drain_half(&mut self, wanted: usize) {
        let gone = self.model.split_off(self.model.len() / 2);
        let drained: Vec<u32> = self.owner.drain_half().take(wanted).map(|b| *b).collect();
        assert_eq!(drained, gone.into_iter().take(wanted).collect::<Vec<_>>());
    }
}

#[derive(Debug, Clone)]
enum DequeOp {
    Push(u8),
    Pop(u8),
    Share,
    ShareNext,
    Steal,
    StealBatch,
}

fn deque_op() -> impl Strategy<Value = DequeOp> {
    prop_oneof![
        4 => (1u8..20).prop_map(DequeOp::Push),
        4 => (1u8..20).prop_map(DequeOp::Pop),
        1 => Just(DequeOp::Share),
        1 => Just(DequeOp::ShareNext),
        3 => Just(DequeOp::Steal),
        2 => Just(DequeOp::StealBatch),
    ]
}

/// Steals until it is known whether there was anything: alone, a thief must not lose.
fn insist<T>(mut attempt: impl FnMut() -> Steal<T>) -> Option<T> {
    for _ in 0..10 {
        match attempt() {
            Steal::Success(item) => return Some(item),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
    panic!("ten attempts without a competitor all said Retry");
}

fn apply_to_deque(
    op: DequeOp,
    owner: &mut deque::Owner<Item>,
    model: &mut VecDeque<u32>,
    next: &mut u32,
) {
    match op {
        DequeOp::Push(count) => {
            for _ in 0..count {
                owner.push(Box::new(*next));
                model.push_back(*next);
                *next += 1;
            }
        }
        DequeOp::Pop(count) => {
            for _ in 0..count {
                assert_eq!(owner.pop().map(|b| *b), model.pop_back());
            }
        }
        DequeOp::Share => owner.share(),
        DequeOp::ShareNext => owner.share_next(),
        DequeOp::Steal => {
            let stolen = insist(|| owner.stealer().steal()).map(|b| *b);
            assert_eq!(stolen, model.pop_front());
        }
        DequeOp::StealBatch => {
            let mut thief = deque::Owner::with_capacity(2);
            let before = model.len();
            let stolen = insist(|| owner.stealer().steal_batch_into(&mut thief)).map(|b| *b);
            assert_eq!(stolen, model.pop_front());
            assert!(thief.len() < before.div_ceil(2).max(1));
            let mut rest: Vec<u32> = std::iter::from_fn(|| thief.pop()).map(|b| *b).collect();
            rest.reverse();
            assert_eq!(rest, model.drain(..rest.len()).collect::<Vec<_>>());
        }
    }
    assert_eq!(owner.len(), model.len());
    assert_eq!(owner.is_empty(), model.is_empty());
}

proptest! {
    #[test]
    fn q3_q4_q5_ring_behaves_like_a_queue(
        capacity in prop_oneof![Just(2usize), Just(4), Just(8)],
        ops in proptest::collection::vec(ring_op(), 0..300),
    ) {
        let mut rings = Rings::new(capacity);
        ops.into_iter().for_each(|op| rings.apply(op));
    }

    #[test]
    fn q1_q2_deque_behaves_like_a_deque(ops in proptest::collection::vec(deque_op(), 0..200)) {
        let (mut owner, mut model, mut next) = (deque::Owner::with_capacity(2), VecDeque::new(), 0);
        for op in ops {
            apply_to_deque(op, &mut owner, &mut model, &mut next);
        }
    }
}
