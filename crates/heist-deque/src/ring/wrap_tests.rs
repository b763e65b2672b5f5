//! The ring across the wrap-around of its 32-bit positions (Q1, Q3–Q5), and what only the
//! module itself can see.

use super::{Full, Owner};
use crate::Steal;

/// Every start from well before to well after the wrap.
fn starts() -> impl Iterator<Item = u32> {
    (0..24).map(|back| 8u32.wrapping_sub(back))
}

fn filled(start: u32, capacity: usize, len: u32) -> Owner<u32> {
    let mut owner = Owner::starting_at(capacity, start);
    (0..len).for_each(|item| owner.push(item).unwrap());
    owner
}

#[test]
fn q3_push_and_pop_in_order() {
    for start in starts() {
        let mut owner = Owner::starting_at(4, start);
        let mut next = 0;
        for item in 0..40 {
            owner.push(item).unwrap();
            if item % 3 != 0 || owner.len() == 4 {
                assert_eq!(owner.pop(), Some(next));
                next += 1;
            }
        }
        assert_eq!(owner.len() as u32, 40 - next);
    }
}

#[test]
fn q3_full_gives_the_item_back() {
    for start in starts() {
        let mut owner = filled(start, 4, 4);
        assert_eq!(owner.push(4), Err(Full(4)));
        assert_eq!((owner.len(), owner.pop()), (4, Some(0)));
        assert_eq!(owner.push(4), Ok(()));
        assert_eq!(owner.push(5), Err(Full(5)));
    }
}

#[test]
fn q4_a_steal_takes_half_rounded_up() {
    for start in starts() {
        for len in 0..=8 {
            let mut victim = filled(start, 8, len);
            let mut thief = Owner::starting_at(8, start.wrapping_add(3));
            let expected = match len.div_ceil(2) {
                0 => Steal::Empty,
                count => Steal::Success(count as usize),
            };
            assert_eq!(victim.stealer().steal_half_into(&mut thief), expected);
            let stolen: Vec<_> = std::iter::from_fn(|| thief.pop()).collect();
            let left: Vec<_> = std::iter::from_fn(|| victim.pop()).collect();
            assert_eq!([stolen, left].concat(), (0..len).collect::<Vec<_>>());
        }
    }
}

#[test]
fn q4_a_thief_takes_no_more_than_it_has_room_for() {
    for start in starts() {
        let victim = filled(start, 16, 16);
        let mut thief = filled(start, 4, 3);
        assert_eq!(victim.stealer().steal_half_into(&mut thief), Steal::Success(1));
        assert_eq!(victim.stealer().steal_half_into(&mut thief), Steal::Success(0));
        // The one that is returned needs no room.
        assert_eq!(victim.stealer().steal_into(&mut thief), Steal::Success(1));
        assert_eq!((victim.len(), thief.len()), (14, 4));
    }
}

#[test]
fn q5_the_newer_half_leaves() {
    for start in starts() {
        for len in 0..=8 {
            let mut owner = filled(start, 8, len);
            let kept = len / 2;
            let gone: Vec<_> = owner.drain_half().collect();
            assert_eq!(gone, (kept..len).collect::<Vec<_>>());
            owner.push(99).unwrap();
            let left: Vec<_> = std::iter::from_fn(|| owner.pop()).collect();
            assert_eq!(left, (0..kept).chain([99]).collect::<Vec<_>>());
        }
    }
}

/// What a drain does not hand out is dropped with it, and the ring goes on.
#[test]
fn q5_an_unfinished_drain_loses_nothing_else() {
    for start in starts() {
        let mut owner = filled(start, 8, 8);
        let mut drain = owner.drain_half();
        assert_eq!((drain.len(), drain.next()), (4, Some(4)));
        drop(drain);
        assert_eq!(owner.push_batch(&mut (10..)), 4);
        let left: Vec<_> = std::iter::from_fn(|| owner.pop()).collect();
        assert_eq!(left, [0, 1, 2, 3, 10, 11, 12, 13]);
    }
}

#[test]
fn q1_a_thief_may_be_its_own_victim() {
    for start in starts() {
        let mut owner = filled(start, 8, 5);
        let stealer = owner.stealer();
        assert_eq!(stealer.steal_half_into(&mut owner), Steal::Success(3));
        let rotated: Vec<_> = std::iter::from_fn(|| owner.pop()).collect();
        assert_eq!(rotated, [3, 4, 0, 1, 2]);
    }
}

#[test]
fn q3_a_batch_takes_from_the_iterator_only_what_fits() {
    for start in starts() {
        let mut owner = filled(start, 4, 1);
        let mut items = 1..10;
        assert_eq!(owner.push_batch(&mut items), 3);
        assert_eq!(items.next(), Some(4));
        assert_eq!(owner.push_batch(&mut items), 0);
    }
}
