//! Failed operations, and which call returns the error.

use super::{NOT_WRITABLE, Place, next};
use crate::held::{Held, cancel, poll_once, runtime_with_one_blocking_thread};
use heist::fs::File;
use heist::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, SeekFrom};
use heist::runtime::Builder;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

#[heist::test]
async fn a_failed_write_is_reported_by_the_next_write_or_flush() {
    let place = Place::with("0123456789");
    let mut file = place.open_to_read();
    assert_eq!(file.write(b"a").await.unwrap(), 1);
    let error = file.write(b"b").await.unwrap_err();
    assert_eq!(error.raw_os_error(), Some(NOT_WRITABLE));
    file.flush().await.unwrap();

    assert_eq!(file.write(b"c").await.unwrap(), 1);
    assert_eq!(file.flush().await.unwrap_err().raw_os_error(), Some(NOT_WRITABLE));
    file.flush().await.unwrap();

    assert_eq!(file.write(b"d").await.unwrap(), 1);
    assert_eq!(file.shutdown().await.unwrap_err().raw_os_error(), Some(NOT_WRITABLE));
    assert_eq!(next(&mut file, 2).await, "01");
}

#[heist::test]
async fn a_failed_write_is_not_forgotten_by_what_comes_between() {
    let place = Place::with("0123456789");
    let mut file = place.open_to_read();
    for between in 0..6 {
        assert_eq!(file.write(b"a").await.unwrap(), 1);
        match between {
            0 => assert_eq!(next(&mut file, 2).await, "01"),
            1 => assert_eq!(file.seek(SeekFrom::Start(3)).await.unwrap(), 3),
            2 => file.sync_all().await.unwrap(),
            3 => file.sync_data().await.unwrap(),
            4 => assert_eq!(file.set_len(1).await.unwrap_err().kind(), ErrorKind::InvalidInput),
            _ => drop(file.try_clone().await.unwrap()),
        }
        let error = file.flush().await.unwrap_err();
        assert_eq!(error.raw_os_error(), Some(NOT_WRITABLE), "{between}");
        file.flush().await.unwrap();
    }
}

/// No thread can be started, so nothing is written; the next operation returns the error.
#[test]
fn a_write_that_has_no_thread_is_reported_too() {
    // The standard library refuses such a name.
    let rt = Builder::new_current_thread().thread_name("\0").build().unwrap();
    let place = Place::with("");
    let mut file = place.open();
    rt.block_on(async {
        assert_eq!(file.write(b"a").await.unwrap(), 1);
        file.sync_all().await.unwrap_err();
        let error = file.flush().await.unwrap_err();
        assert!(error.to_string().contains("no thread"), "{error}");
        file.flush().await.unwrap();
    });
    assert_eq!(place.contents(), "");
}

/// What is written to is full: the write ends when somebody reads.
#[test]
fn what_asks_for_a_quiet_file_waits_for_a_write() {
    let rt = Builder::new_current_thread().build().unwrap();
    let (mut reader, writer) = UnixStream::pair().unwrap();
    let mut file = File::from(OwnedFd::from(writer));
    let bytes = vec![b'x'; 1_000_000];
    rt.block_on(async {
        assert_eq!(file.write(&bytes).await.unwrap(), bytes.len());
        {
            let mut syncing = std::pin::pin!(file.sync_all());
            let mut cloning = std::pin::pin!(file.try_clone());
            for _ in 0..20 {
                assert!(poll_once(syncing.as_mut()).is_pending());
                assert!(poll_once(cloning.as_mut()).is_pending());
                // This does not wait, and takes as long.
                file.metadata().await.unwrap();
            }
            let drain = std::thread::spawn(move || reader.read_exact(&mut vec![0; 1_000_000]));
            assert_eq!(syncing.await.unwrap_err().kind(), ErrorKind::InvalidInput);
            cloning.await.unwrap();
            drain.join().unwrap().unwrap();
        }
        file.flush().await.unwrap();
    });
}

/// The error waits to be reported, and a read is on its way: what needs a quiet file waits for it.
#[test]
fn a_failed_write_hides_no_read_that_is_on_its_way() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("0123456789"));
    let mut file = place.open_to_read();
    rt.block_on(async {
        file.write_all(b"a").await.unwrap();
        assert_eq!(next(&mut file, 2).await, "01");
    });
    let held = Held::begin(rt.handle());
    let _entered = rt.enter();
    cancel(file.read(&mut [0; 4]));
    held.release();
    rt.block_on(async {
        file.set_len(5).await.unwrap_err();
        assert_eq!(next(&mut file, 2).await, "23");
        assert_eq!(file.flush().await.unwrap_err().raw_os_error(), Some(NOT_WRITABLE));
    });
}

#[heist::test]
async fn a_failed_read_is_reported_and_the_file_goes_on() {
    let place = Place::with("old");
    let mut file = File::create(&place.path).await.unwrap();
    for _ in 0..2 {
        let error = file.read(&mut [0; 4]).await.unwrap_err();
        assert_eq!(error.raw_os_error(), Some(NOT_WRITABLE));
    }
    file.write_all(b"new").await.unwrap();
    file.flush().await.unwrap();
    assert_eq!(place.contents(), "new");
}
