//! What a cancelled operation leaves behind.

use super::{Place, cancelled_read, next};
use crate::held::{Held, cancel, runtime_with_one_blocking_thread};
use heist::io::{AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWriteExt, SeekFrom};
use std::io::{ErrorKind, Read};
use std::pin::Pin;

#[test]
fn what_a_cancelled_read_has_read_is_given_to_the_next() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("0123456789"));
    let mut file = place.open();
    cancelled_read(&rt, &mut file, 6);
    rt.block_on(async {
        assert_eq!(next(&mut file, 4).await, "0123");
        assert_eq!(file.read(&mut [0; 8]).await.unwrap(), 2, "the rest of it");
        assert_eq!(next(&mut file, 4).await, "6789");
    });
}

#[test]
fn after_a_cancelled_read_a_write_goes_where_the_last_read_has_ended() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("0123456789"));
    let mut file = place.open();
    cancelled_read(&rt, &mut file, 8);
    rt.block_on(async {
        assert_eq!(next(&mut file, 2).await, "01");
        assert_eq!(file.write(b"").await.unwrap(), 0, "which leaves what was read");
        file.write_all(b"ab").await.unwrap();
        assert_eq!(next(&mut file, 6).await, "456789");
    });
    assert_eq!(place.contents(), "01ab456789");
}

#[test]
fn after_a_cancelled_read_a_seek_goes_from_where_the_last_read_has_ended() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("0123456789"));
    let mut file = place.open();
    cancelled_read(&rt, &mut file, 8);
    rt.block_on(async {
        assert_eq!(next(&mut file, 2).await, "01");
        assert_eq!(file.seek(SeekFrom::Current(1)).await.unwrap(), 3);
        assert_eq!(next(&mut file, 2).await, "34");
    });
    cancelled_read(&rt, &mut file, 4);
    rt.block_on(async {
        assert_eq!(next(&mut file, 1).await, "5");
        let before_the_start = file.seek(SeekFrom::End(-100)).await;
        assert_eq!(before_the_start.unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(next(&mut file, 1).await, "6", "a seek that fails moves nothing");
        let far = file.seek(SeekFrom::Current(i64::MIN)).await;
        assert_eq!(far.unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(next(&mut file, 1).await, "7");
    });
}

#[test]
fn after_a_cancelled_read_others_find_the_file_where_the_last_read_has_ended() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("0123456789"));
    let mut file = place.open();
    cancelled_read(&rt, &mut file, 8);
    let mut clone = rt.block_on(async {
        assert_eq!(next(&mut file, 2).await, "01");
        file.set_len(9).await.unwrap();
        assert_eq!(next(&mut file, 1).await, "2");
        file.try_clone().await.unwrap()
    });
    cancelled_read(&rt, &mut file, 4);
    rt.block_on(async {
        let mut clone_again = file.try_clone().await.unwrap();
        assert_eq!(next(&mut clone_again, 1).await, "3");
        assert_eq!(next(&mut clone, 1).await, "4", "they move together");
    });
    cancelled_read(&rt, &mut file, 2);
    let mut std = rt.block_on(file.into_std());
    let mut rest = String::new();
    std.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "5678");
}

/// The clone is asked for and cancelled while it goes back: that must not look like a read that
/// found the end.
#[test]
fn a_cancelled_clone_is_no_end_of_the_file() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("0123456789"));
    let mut file = place.open();
    cancelled_read(&rt, &mut file, 8);
    rt.block_on(async { assert_eq!(next(&mut file, 2).await, "01") });
    let held = Held::begin(rt.handle());
    let _entered = rt.enter();
    cancel(file.try_clone());
    held.release();
    assert_eq!(rt.block_on(file.read(&mut [0; 4])).unwrap(), 4);
}

#[test]
fn a_cancelled_seek_and_a_cancelled_set_len_are_done() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("0123456789"));
    let mut file = place.open();
    let _entered = rt.enter();
    let held = Held::begin(rt.handle());
    cancel(file.seek(SeekFrom::Start(4)));
    held.release();
    assert_eq!(rt.block_on(next(&mut file, 2)), "45");
    let held = Held::begin(rt.handle());
    cancel(file.set_len(8));
    held.release();
    let mut rest = String::new();
    rt.block_on(file.read_to_string(&mut rest)).unwrap();
    assert_eq!(rest, "67");
    assert_eq!(rt.block_on(file.stream_position()).unwrap(), 8);
}

#[test]
fn a_seek_is_not_begun_beside_another_operation() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("0123456789"));
    let mut file = place.open();
    let _entered = rt.enter();
    let held = Held::begin(rt.handle());
    cancel(file.read(&mut [0; 4]));
    let refused = Pin::new(&mut file).start_seek(SeekFrom::Start(9)).unwrap_err();
    assert!(refused.to_string().contains("poll_complete"), "{refused}");
    held.release();
    rt.block_on(async {
        assert_eq!(file.seek(SeekFrom::Current(2)).await.unwrap(), 2);
        assert_eq!(next(&mut file, 1).await, "2");
    });
}
