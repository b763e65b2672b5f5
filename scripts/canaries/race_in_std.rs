//! A data race on purpose, of which one half is in compiled code of the standard library:
//! `scripts/tsan` must see it reported to know that the library is instrumented, too.

/// Short: the detector reports an access only while it remembers where it was made, and it
/// remembers only the last few thousand.
static mut TEXT: [u8; 64] = [b'a'; 64];

fn main() {
    let other = std::thread::spawn(|| {
        let text = &raw const TEXT;
        // SAFETY: none. Another thread writes to this place without ordering.
        std::hint::black_box(str::from_utf8(unsafe { &*text }).is_ok());
    });
    for place in 0..64 {
        let text = (&raw mut TEXT).cast::<u8>();
        // SAFETY: none, as above. The place is within the array.
        let byte = unsafe { text.add(place) };
        // SAFETY: none, as above.
        unsafe { byte.write(b'b') };
    }
    other.join().unwrap();
}
