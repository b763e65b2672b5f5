//! A use of a dead stack frame on purpose: `scripts/asan` must see the detector report it. The
//! jobs of `join` and `scope` live in the frames of their callers.

#[inline(never)]
fn local() -> *const u64 {
    let number = std::process::id().into();
    hidden(&raw const number)
}

/// Hides from the compiler what the pointer refers to. The detector does not watch frames of
/// functions with inline assembly, which `black_box` is; so it gets a frame of its own.
#[inline(never)]
fn hidden(number: *const u64) -> *const u64 {
    std::hint::black_box(number)
}

fn main() {
    // SAFETY: none. The frame is gone.
    std::hint::black_box(unsafe { local().read() });
}
