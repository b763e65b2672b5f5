//! A use after free on purpose: `scripts/asan` must see the detector report it before a silent
//! detector counts as good news.

fn main() {
    let number = Box::into_raw(Box::new(1_u64));
    // SAFETY: the box was given up above.
    drop(unsafe { Box::from_raw(std::hint::black_box(number)) });
    // SAFETY: none. The memory was freed.
    std::hint::black_box(unsafe { number.read() });
}
