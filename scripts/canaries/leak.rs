//! A leak on purpose: `scripts/leaks` must see the detector report it before a silent
//! detector counts as good news.

fn main() {
    std::mem::forget(std::hint::black_box(Box::new([1_u8; 4096])));
}
