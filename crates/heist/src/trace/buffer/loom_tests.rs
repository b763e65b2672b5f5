//! A buffer that is copied while it is written, in every interleaving that loom can find.

use super::{Copied, EventBuffer};
use crate::canary;
use loom::thread;

/// Each word is its position, so a copy shows whether it is what it says.
fn check(copied: &Copied) {
    for (position, word) in (copied.lost..).zip(&copied.words) {
        assert_eq!(*word, position + 1, "a word that is not that of its place");
    }
}

/// One writes more than there is room for, another copies meanwhile.
fn a_copy_beside_a_writer() {
    let buffer: &'static EventBuffer = Box::leak(Box::new(EventBuffer::new(2)));
    buffer.push(1);
    let writer = thread::spawn(move || (2..=4).for_each(|word| _ = buffer.push(word)));
    check(&buffer.copy());
    writer.join().unwrap();
    let copied = buffer.copy();
    check(&copied);
    assert_eq!(copied.lost + copied.words.len() as u64, 4);
}

#[test]
fn loom_a_copy_holds_what_was_written_there() {
    loom::model(a_copy_beside_a_writer);
}

#[test]
#[should_panic(expected = "not that of its place")]
fn loom_canary_word_relaxed() {
    canary::TRACE_WORD_RELAXED.model(a_copy_beside_a_writer);
}

#[test]
#[should_panic(expected = "not that of its place")]
fn loom_canary_position_relaxed() {
    canary::TRACE_POSITION_RELAXED.model(a_copy_beside_a_writer);
}

#[test]
#[should_panic(expected = "not that of its place")]
fn loom_canary_copy_unchecked() {
    canary::TRACE_COPY_UNCHECKED.model(a_copy_beside_a_writer);
}

#[test]
#[should_panic(expected = "not that of its place")]
fn loom_canary_copy_too_long() {
    canary::TRACE_COPY_TOO_LONG.model(a_copy_beside_a_writer);
}
