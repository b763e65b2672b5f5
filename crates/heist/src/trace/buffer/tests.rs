use super::*;
use std::sync::Arc;
use std::thread;

#[test]
fn the_oldest_are_overwritten() {
    let buffer = EventBuffer::new(4);
    assert_eq!(buffer.copy(), Copied::default());
    (1..=3).for_each(|word| _ = buffer.push(word));
    assert_eq!(buffer.copy(), Copied { lost: 0, words: vec![1, 2, 3] });
    (4..=9).for_each(|word| _ = buffer.push(word));
    // For all the reader knows, the oldest of the four is being overwritten.
    assert_eq!(buffer.copy(), Copied { lost: 6, words: vec![7, 8, 9] });
    assert_eq!(buffer.position(), 9);
}

#[test]
fn there_is_room_for_what_was_asked() {
    for (asked, capacity) in [(0, 2), (1, 2), (2, 2), (3, 4), (1000, 1024)] {
        assert_eq!(EventBuffer::new(asked).capacity(), capacity);
    }
}

/// Each word is its position.
#[test]
fn a_copy_beside_a_writer_holds_what_was_written_there() {
    let buffer = Arc::new(EventBuffer::new(64));
    let writer = {
        let buffer = Arc::clone(&buffer);
        thread::spawn(move || (1..=2_000_000).for_each(|word| _ = buffer.push(word)))
    };
    while !writer.is_finished() {
        let copied = buffer.copy();
        for (position, word) in (copied.lost..).zip(&copied.words) {
            assert_eq!(*word, position + 1);
        }
    }
    writer.join().unwrap();
}
