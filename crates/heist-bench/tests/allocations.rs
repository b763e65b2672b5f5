//! The count of allocated bytes. A program without a test harness: the harness has a thread of
//! its own that allocates when it likes.

use std::hint::black_box;

use heist_bench::alloc::Balance;

fn main() {
    what_is_kept_counts_and_what_is_freed_does_not();
    there_is_one_count_and_it_starts_from_zero();
    println!("allocations: ok");
}

fn what_is_kept_counts_and_what_is_freed_does_not() {
    let older = black_box(vec![1_u8; 100]);
    let balance = Balance::open();
    let kept = black_box(Box::new([0_u8; 1000]));
    drop(black_box(vec![1_u8; 5000]));
    let mut grown = black_box(Vec::<u8>::with_capacity(10));
    grown.reserve_exact(300);
    let zeroed = black_box(vec![0_u8; 70]);
    drop(older);
    assert_eq!(balance.close(), 1000 + 300 + 70 - 100);
    drop((kept, grown, zeroed));
}

fn there_is_one_count_and_it_starts_from_zero() {
    let balance = Balance::open();
    // The panic is expected: nobody needs to read of it.
    std::panic::set_hook(Box::new(|_| ()));
    assert!(std::panic::catch_unwind(Balance::open).is_err(), "two at a time");
    drop(std::panic::take_hook());
    drop(balance);
    assert_eq!(Balance::open().close(), 0);
}
