//! Reads that the task tries itself, with answers in place of the system's.

use super::*;
use crate::env::answers::{prepare, take_questions};
use crate::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use crate::runtime::{Builder, Runtime};
use std::iter::repeat_n;
use std::pin::pin;
use std::sync::mpsc::{Sender, channel};
use std::task::Waker;

/// The future of `block_on` runs on this thread, which has the answers.
fn runtime() -> Runtime {
    Builder::new_current_thread().max_blocking_threads(1).build().unwrap()
}

/// Keeps the only blocking thread busy until the sender is dropped.
fn hold() -> Sender<()> {
    let (sender, receiver) = channel();
    Handle::current().spawn_blocking(move || receiver.recv().unwrap_err());
    sender
}

/// A file whose reads are tried, on any system.
fn file(contents: &[u8]) -> File {
    let mut std = tempfile::tempfile().unwrap();
    io::Write::write_all(&mut std, contents).unwrap();
    std.rewind().unwrap();
    take_questions();
    File::new(std, true)
}

async fn next(file: &mut File, count: usize) -> String {
    let mut bytes = vec![0; count];
    file.read_exact(&mut bytes).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

fn is_pending<F: Future>(future: F) -> bool {
    pin!(future).poll(&mut Context::from_waker(Waker::noop())).is_pending()
}

#[test]
fn what_is_not_in_the_cache_is_read_by_a_blocking_thread() {
    runtime().block_on(async {
        let mut file = file(b"0123456789");
        for expected in ["0123", "4567"] {
            prepare([Cached::Missing]);
            assert_eq!((next(&mut file, 4).await.as_str(), take_questions()), (expected, 1));
        }
        prepare([Cached::Missing, Cached::Missing]);
        assert_eq!(file.read(&mut [0; 4]).await.unwrap(), 2);
        assert_eq!(file.read(&mut [0; 4]).await.unwrap(), 0, "the end");
        assert_eq!(take_questions(), 2);
    });
}

#[test]
fn a_file_without_support_is_asked_once() {
    runtime().block_on(async {
        let mut file = file(b"0123456789");
        prepare([Cached::Unsupported; 2]);
        assert_eq!((next(&mut file, 4).await.as_str(), take_questions()), ("0123", 1));
        assert_eq!((next(&mut file, 4).await.as_str(), take_questions()), ("4567", 0));
        prepare([]);
    });
}

#[test]
fn the_end_needs_no_blocking_thread() {
    let rt = runtime();
    let _entered = rt.enter();
    prepare([Cached::Bytes(0)]);
    let mut file = file(b"not this");
    let _held = hold();
    assert!(!is_pending(async { assert_eq!(file.read(&mut [0; 4]).await.unwrap(), 0) }));
}

/// The read returns what the cache has, and leaves the rest to the next.
#[test]
fn what_is_missing_after_other_bytes_waits_for_the_next_read() {
    runtime().block_on(async {
        let mut file = file(b"0123456789");
        let mut room = vec![0; 10 * READ_PER_UNIT];
        for rest in [Cached::Missing, Cached::Unsupported, Cached::Bytes(7)] {
            prepare([Cached::Bytes(READ_PER_UNIT), rest]);
            let more = if let Cached::Bytes(more) = rest { more } else { 0 };
            file.inner.get_mut().is_immediate = true;
            assert_eq!(file.read(&mut room).await.unwrap(), READ_PER_UNIT + more);
            assert!(!file.inner.get_mut().background.is_running());
        }
    });
}

#[test]
fn a_read_is_as_long_as_operations_may_be() {
    runtime().block_on(async {
        let mut file = file(b"");
        file.set_max_buf_size(READ_PER_UNIT + 5);
        prepare([Cached::Bytes(READ_PER_UNIT), Cached::Bytes(5)]);
        let mut room = vec![0; 10 * READ_PER_UNIT];
        assert_eq!(file.read(&mut room).await.unwrap(), READ_PER_UNIT + 5);
        assert_eq!(take_questions(), 2);
    });
}

/// 128 pieces, in one read or many, and the task lets others go first (W9).
#[test]
fn reading_from_the_cache_spends_the_budget() {
    runtime().block_on(async {
        let mut file = file(b"");
        file.set_max_buf_size(1000 * READ_PER_UNIT);
        let mut room = vec![0; 1000 * READ_PER_UNIT];
        prepare(repeat_n(Cached::Bytes(READ_PER_UNIT), 1000));
        task::yield_now().await;
        assert_eq!(file.read(&mut room).await.unwrap(), 128 * READ_PER_UNIT);
        assert!(is_pending(file.read(&mut room)), "no budget is left");
        assert_eq!(take_questions(), 128);

        task::yield_now().await;
        prepare(repeat_n(Cached::Bytes(1), 1000));
        assert!(is_pending(async { while file.read(&mut room).await.unwrap() == 1 {} }));
        assert_eq!(take_questions(), 128);
        prepare([]);
    });
}

#[test]
fn a_file_that_others_may_use_is_not_asked() {
    runtime().block_on(async {
        let mut own = file(b"0123456789");
        let mut clone = own.try_clone().await.unwrap();
        assert_eq!(next(&mut own, 2).await + &next(&mut clone, 2).await, "0123");
        assert_eq!(clone.seek(SeekFrom::Current(1)).await.unwrap(), 5);
        assert_eq!(take_questions(), 0);
        let std = file(b"0123456789").into_std().await;
        assert_eq!(next(&mut File::from_std(std), 4).await, "0123");
        assert_eq!(take_questions(), 0);
    });
}

/// What a cancelled read leaves in the buffer comes first, and a seek does not count it as read.
#[test]
fn what_a_blocking_thread_has_read_comes_before_the_cache() {
    runtime().block_on(async {
        let mut file = file(b"0123456789");
        prepare([Cached::Missing]);
        let held = hold();
        assert!(is_pending(file.read(&mut [0; 8])));
        drop(held);
        assert_eq!((next(&mut file, 3).await.as_str(), take_questions()), ("012", 1));
        assert_eq!(file.seek(SeekFrom::Current(1)).await.unwrap(), 4);
        assert_eq!(next(&mut file, 2).await, "45");

        prepare([Cached::Missing]);
        let held = hold();
        assert!(is_pending(file.read(&mut [0; 4])));
        drop(held);
        assert_eq!(next(&mut file, 1).await, "6");
        file.write_all(b"ab").await.unwrap();
        assert_eq!(next(&mut file, 1).await, "9");
        assert_eq!(file.seek(SeekFrom::Start(7)).await.unwrap(), 7);
        assert_eq!(next(&mut file, 2).await, "ab");
    });
}

#[test]
fn a_seek_needs_no_blocking_thread_but_to_the_end() {
    let rt = runtime();
    let _entered = rt.enter();
    let mut file = file(b"0123456789");
    let held = hold();
    assert!(!is_pending(async { file.seek(SeekFrom::Start(4)).await.unwrap() }));
    assert!(!is_pending(async { assert_eq!(file.seek(SeekFrom::Current(2)).await.unwrap(), 6) }));
    assert!(!is_pending(async { file.seek(SeekFrom::Current(-7)).await.unwrap_err() }));
    assert!(is_pending(file.seek(SeekFrom::End(-1))));
    drop(held);
    assert_eq!(rt.block_on(next(&mut file, 1)), "9");
}
