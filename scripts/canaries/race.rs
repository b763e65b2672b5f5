//! A data race on purpose: `scripts/tsan` must see the detector report it before a silent
//! detector counts as good news.

static mut COUNTER: u64 = 0;

fn main() {
    let count = || {
        for _ in 0..1_000 {
            let counter = &raw mut COUNTER;
            // SAFETY: none. Two threads write to this place without ordering.
            unsafe { *counter += 1 };
        }
    };
    let other = std::thread::spawn(count);
    count();
    other.join().unwrap();
}
