//! The wrappers between the traits of tokio and of futures-io.

use crate::held::{Held, cancel, runtime_with_one_blocking_thread};
use futures_util::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, Cursor as FuturesCursor,
};
use heist::fs::File;
use heist::io::compat::{FuturesIo, TokioIo};
use heist::io::{BufReader, SeekFrom};
use std::io::{ErrorKind, IoSlice};

fn file(contents: &str) -> (tempfile::NamedTempFile, FuturesIo<File>) {
    let temporary = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(temporary.path(), contents).unwrap();
    let std = std::fs::File::options().read(true).write(true).open(temporary.path()).unwrap();
    (temporary, FuturesIo::new(File::from_std(std)))
}

#[heist::test]
async fn a_file_has_the_traits_of_futures() {
    let (temporary, mut file) = file("0123456789");
    let mut four = [0; 4];
    file.read_exact(&mut four).await.unwrap();
    assert_eq!(&four, b"0123");
    let slices = [IoSlice::new(b"ab"), IoSlice::new(b"cd")];
    assert_eq!(file.write_vectored(&slices).await.unwrap(), 4, "in one go");
    assert_eq!(file.seek(SeekFrom::Current(-1)).await.unwrap(), 7);
    let mut rest = String::new();
    file.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "d89");
    file.write_all(b"!").await.unwrap();
    file.close().await.unwrap();
    assert_eq!(std::fs::read_to_string(temporary.path()).unwrap(), "0123abcd89!");
    assert_eq!(file.read(&mut four).await.unwrap(), 0);
    let before_the_start = file.seek(SeekFrom::Current(-100)).await;
    assert_eq!(before_the_start.unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(file.stream_position().await.unwrap(), 11);
    assert_eq!(file.get_ref().max_buf_size(), file.get_mut().max_buf_size());
    file.into_inner().try_into_std().unwrap();
}

#[heist::test]
async fn what_is_buffered_is_so_for_both() {
    let (_temporary, file) = file("one\ntwo\n");
    let mut lines = FuturesIo::new(BufReader::new(file.into_inner()));
    let mut line = String::new();
    lines.read_line(&mut line).await.unwrap();
    assert_eq!(line, "one\n");
    let mut lines = TokioIo::new(lines);
    heist::io::AsyncBufReadExt::read_line(&mut lines, &mut line).await.unwrap();
    assert_eq!(line, "one\ntwo\n");
}

/// A seek that nobody waits for is not taken for a later one to the same place.
#[test]
fn a_cancelled_seek_is_done_once() {
    let rt = runtime_with_one_blocking_thread();
    let (_temporary, mut file) = file("0123456789");
    for other in [false, true] {
        let held = Held::begin(rt.handle());
        {
            let _entered = rt.enter();
            cancel(file.seek(SeekFrom::Start(2)));
            if other {
                cancel(file.seek(SeekFrom::Start(7)));
            }
        }
        held.release();
        rt.block_on(async {
            let mut two = [0; 2];
            if !other {
                file.read_exact(&mut two).await.unwrap();
                assert_eq!(&two, b"23");
            }
            assert_eq!(file.seek(SeekFrom::Start(2)).await.unwrap(), 2);
            file.read_exact(&mut two).await.unwrap();
            assert_eq!(&two, b"23");
        });
    }
}

/// A seek while a write is in the background.
#[heist::test]
async fn a_seek_waits_for_what_is_going_on() {
    let (_temporary, mut file) = file("");
    for _ in 0..50 {
        file.write_all(b"abc").await.unwrap();
        assert_eq!(file.seek(SeekFrom::Start(1)).await.unwrap(), 1);
        let mut byte = [0];
        file.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"b");
    }
}

#[heist::test]
async fn what_has_the_traits_of_futures_gets_those_of_tokio() {
    use heist::io::{AsyncReadExt, AsyncSeekExt, AsyncWrite, AsyncWriteExt};

    let mut cursor = TokioIo::new(FuturesCursor::new(b"0123456789".to_vec()));
    let mut four = [0; 4];
    cursor.read_exact(&mut four).await.unwrap();
    assert_eq!(&four, b"0123");
    let slices = [IoSlice::new(b"ab"), IoSlice::new(b"cd")];
    assert_eq!(cursor.write_vectored(&slices).await.unwrap(), 4);
    assert!(!cursor.is_write_vectored());
    assert_eq!(cursor.seek(SeekFrom::End(-3)).await.unwrap(), 7);
    let mut rest = String::new();
    cursor.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "d89");
    assert_eq!(cursor.stream_position().await.unwrap(), 10);
    let before_the_start = cursor.seek(SeekFrom::Current(-100)).await;
    assert_eq!(before_the_start.unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(cursor.stream_position().await.unwrap(), 10);
    cursor.write_all(b"!").await.unwrap();
    cursor.shutdown().await.unwrap();
    assert_eq!(cursor.get_mut().position(), 11);
    assert_eq!(cursor.get_ref().get_ref(), b"0123abcd89!");
    cursor.into_inner();
}

/// There and back.
#[heist::test]
async fn wrappers_can_be_wrapped() {
    use heist::io::{AsyncReadExt, AsyncSeekExt};

    let (_temporary, file) = file("0123456789");
    let mut file = TokioIo::new(file);
    assert_eq!(file.seek(SeekFrom::Start(8)).await.unwrap(), 8);
    let mut rest = String::new();
    file.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "89");
}
