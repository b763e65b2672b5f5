//! Loops over slices and ranges.

use heist::par;
use heist_testing::Rng;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

fn runtime(workers: usize) -> heist::runtime::Runtime {
    heist::runtime::Builder::new_multi_thread().worker_threads(workers).build().unwrap()
}

#[test]
fn every_item_once() {
    for workers in [1, 2, 3] {
        runtime(workers).handle().install(|| {
            for len in [0_usize, 1, 2, 3, 10, 1000, 4097] {
                let seen: Vec<AtomicU32> = (0..len).map(|_| AtomicU32::new(0)).collect();
                let see = |n: usize| seen[n].fetch_add(1, Ordering::Relaxed);
                par::for_each(0..len, |n| {
                    see(n);
                });
                par::for_each(&seen[..], |n| {
                    n.fetch_add(1, Ordering::Relaxed);
                });
                par::for_each(par::chunks(&seen, 7), |chunk| {
                    assert!(chunk.len() <= 7 && !chunk.is_empty());
                    chunk.iter().for_each(|n| {
                        n.fetch_add(1, Ordering::Relaxed);
                    });
                });
                assert!(seen.into_iter().all(|n| n.into_inner() == 3), "{len} items");
            }
            let mut numbers = vec![1; 1000];
            par::for_each(&mut numbers[..], |n| *n += 1);
            par::for_each(par::chunks_mut(&mut numbers, 33), |chunk| {
                chunk.iter_mut().for_each(|n| *n += 1)
            });
            assert_eq!(numbers, vec![3; 1000]);
        });
    }
}

#[test]
fn the_order_is_kept() {
    runtime(2).handle().install(|| {
        let all = par::map_reduce(
            0..5000_u32,
            |n| vec![n],
            |mut a, b| {
                a.extend(b);
                a
            },
        )
        .unwrap();
        assert!(all.iter().copied().eq(0..5000));
        assert_eq!(par::map_reduce(0..0_u8, |n| n, |a, _| a), None);
        let ends = par::map_reduce(-100..100_i8, |n| (n, n), |a, b| (a.0, b.1));
        assert_eq!(ends, Some((-100, 99)));
        let chunks = par::map_reduce(
            par::chunks(&all, 999),
            |c| vec![c.len()],
            |mut a, b| {
                a.extend(b);
                a
            },
        );
        assert_eq!(chunks.unwrap(), [999, 999, 999, 999, 999, 5]);
    });
}

#[test]
fn slices_are_sorted() {
    let rt = runtime(2);
    let mut rng = Rng::new(heist_testing::seed());
    for len in [0, 1, 2, 4095, 4097, 50_000, 200_000] {
        for spread in [1, 2, 100, u64::MAX] {
            let mut numbers: Vec<u64> = (0..len).map(|_| rng.below(spread)).collect();
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            rt.handle().install(|| par::sort_unstable(&mut numbers));
            assert_eq!(numbers, sorted, "{len} items below {spread}");
            rt.handle().install(|| par::sort_unstable_by(&mut numbers, |a, b| b.cmp(a)));
            sorted.reverse();
            assert_eq!(numbers, sorted);
        }
    }
}

/// Nothing is lost or doubled though a comparison panics.
#[test]
fn a_panic_leaves_all_items() {
    let rt = runtime(2);
    let mut boxes: Vec<[Box<u64>; 1]> =
        (0..50_000).map(|n| [Box::new(n * 7919 % 50_021)]).collect();
    let left = Mutex::new(200_000);
    let compare = |a: &[Box<u64>; 1], b: &[Box<u64>; 1]| {
        let mut left = left.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *left -= 1;
        assert!(*left > 0, "enough");
        a.cmp(b)
    };
    let sort = || rt.handle().install(|| par::sort_unstable_by(&mut boxes, compare));
    panic::catch_unwind(AssertUnwindSafe(sort)).unwrap_err();
    boxes.sort_unstable();
    let mut expected: Vec<u64> = (0..50_000).map(|n| n * 7919 % 50_021).collect();
    expected.sort_unstable();
    assert!(boxes.into_iter().map(|[n]| *n).eq(expected));
}
