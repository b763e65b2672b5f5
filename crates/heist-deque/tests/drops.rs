//! Every item is dropped exactly once, whatever becomes of the queue, and whatever `Drop` does
//! (Q1).

use heist_deque::{Steal, deque, ring};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts its drop, and panics there if told to.
struct Counted {
    drops: Arc<AtomicUsize>,
    panics: bool,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::Relaxed);
        if self.panics {
            panic!("a drop that panics");
        }
    }
}

struct Source {
    drops: Arc<AtomicUsize>,
    made: usize,
    /// The number of the one item whose drop panics.
    panics_at: Option<usize>,
}

impl Source {
    fn new(panics_at: Option<usize>) -> Self {
        Source { drops: Arc::default(), made: 0, panics_at }
    }

    fn item(&mut self) -> Counted {
        let panics = self.panics_at == Some(self.made);
        self.made += 1;
        Counted { drops: Arc::clone(&self.drops), panics }
    }

    fn dropped(&self) -> usize {
        self.drops.load(Ordering::Relaxed)
    }
}

fn ring_of(source: &mut Source, len: usize) -> ring::Owner<Counted> {
    let mut owner = ring::Owner::with_capacity(16);
    (0..len).for_each(|_| owner.push(source.item()).unwrap());
    owner
}

fn deque_of(source: &mut Source, len: usize) -> deque::Owner<Counted> {
    let mut owner = deque::Owner::with_capacity(2);
    (0..len).for_each(|_| owner.push(source.item()));
    owner
}

#[test]
fn q1_what_is_left_goes_with_the_last_handle() {
    let mut source = Source::new(None);
    let ring = ring_of(&mut source, 10);
    let deque = deque_of(&mut source, 10);
    let stealers = (ring.stealer(), deque.stealer());
    drop((ring, deque));
    assert_eq!(source.dropped(), 0);
    assert!(stealers.0.steal().is_success() && stealers.1.steal().is_success());
    assert_eq!(source.dropped(), 2);
    drop(stealers);
    assert_eq!(source.dropped(), 20);
}

#[test]
fn q1_items_that_went_through_growth_are_dropped_once() {
    let mut source = Source::new(None);
    let mut owner = deque_of(&mut source, 1000);
    assert!(owner.capacity() >= 1000);
    (0..300).for_each(|_| drop(owner.pop()));
    while source.dropped() < 600 {
        drop(owner.stealer().steal());
    }
    drop(owner);
    assert_eq!(source.dropped(), 1000);
}

#[test]
fn q1_a_panicking_drop_loses_no_other_item() {
    for panics_at in [0, 4, 9] {
        let mut source = Source::new(Some(panics_at));
        let ring = ring_of(&mut source, 10);
        assert!(catch_unwind(AssertUnwindSafe(|| drop(ring))).is_err());
        assert_eq!(source.dropped(), 10);

        let mut source = Source::new(Some(panics_at));
        let deque = deque_of(&mut source, 10);
        assert!(catch_unwind(AssertUnwindSafe(|| drop(deque))).is_err());
        assert_eq!(source.dropped(), 10);
    }
}

#[test]
fn q5_a_panicking_drop_in_a_drain_loses_no_other_item() {
    for panics_at in [8, 12, 15] {
        let mut source = Source::new(Some(panics_at));
        let mut ring = ring_of(&mut source, 16);
        assert!(catch_unwind(AssertUnwindSafe(|| drop(ring.drain_half()))).is_err());
        assert_eq!((source.dropped(), ring.len()), (8, 8));
        drop(ring);
        assert_eq!(source.dropped(), 16);
    }
}

#[test]
fn q3_an_iterator_that_panics_leaves_what_it_had_yielded() {
    let mut source = Source::new(None);
    let mut ring = ring::Owner::with_capacity(16);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut items = (0..10).map(|i| if i == 5 { panic!("no more") } else { source.item() });
        ring.push_batch(&mut items)
    }));
    assert!(result.is_err());
    assert_eq!((ring.len(), source.dropped()), (5, 0));
    drop(ring);
    assert_eq!(source.dropped(), 5);
}

#[test]
fn q1_a_forgotten_drain_leaks_and_does_nothing_worse() {
    let mut source = Source::new(None);
    let mut ring = ring_of(&mut source, 16);
    let kept: Vec<Counted> = {
        let mut drain = ring.drain_half();
        let first = drain.by_ref().collect();
        std::mem::forget(drain);
        first
    };
    (0..8).for_each(|_| ring.push(source.item()).unwrap());
    drop((ring, kept));
    assert_eq!(source.dropped(), 24);
}

#[test]
fn items_of_no_size_and_of_great_size_move_whole() {
    let mut zero = deque::Owner::with_capacity(2);
    (0..100).for_each(|_| zero.push(()));
    assert_eq!(zero.stealer().steal(), Steal::Success(()));
    assert_eq!(std::iter::from_fn(|| zero.pop()).count(), 99);

    let (mut large, mut thief) = (ring::Owner::new(), ring::Owner::new());
    (0..200u64).for_each(|i| large.push([i; 64]).unwrap());
    assert_eq!(large.stealer().steal_into(&mut thief), Steal::Success([0; 64]));
    let moved: Vec<_> = std::iter::from_fn(|| thief.pop()).collect();
    assert_eq!(moved, (1..100u64).map(|i| [i; 64]).collect::<Vec<_>>());
}

#[test]
fn q2_bad_capacities_are_refused_by_name() {
    for capacity in [0, 1, 3, 100, usize::MAX] {
        let ring = catch_unwind(|| ring::Owner::<u8>::with_capacity(capacity)).unwrap_err();
        let deque = catch_unwind(|| deque::Owner::<u8>::with_capacity(capacity)).unwrap_err();
        for (panic, api) in [(ring, "ring::Owner"), (deque, "deque::Owner")] {
            let text = panic.downcast_ref::<String>().unwrap();
            assert!(text.starts_with(api) && text.contains("next_power_of_two"), "{text}");
        }
    }
    assert!(catch_unwind(|| ring::Owner::<u8>::with_capacity(1 << 16)).is_err());
}
