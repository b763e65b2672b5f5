//! Open files: what is done in the background, what is reported when, what a cancelled operation and
//! a runtime that goes down leave behind.
//!
//! Where an operation has to be on its way, the only blocking thread is held.

use crate::held::{Held, cancel, poll_once, runtime_with_one_blocking_thread};
use heist::fs::{File, FileTimes, OpenOptions};
use heist::io::{AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWriteExt, SeekFrom};
use heist::runtime::{Builder, Runtime, is_rt_shutdown_err};
use std::io::{ErrorKind, IoSlice, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// What `EBADF` is: a write to a file that was opened to be read.
const NOT_WRITABLE: i32 = 9;

/// A directory with one file in it.
struct Place {
    _dir: TempDir,
    path: PathBuf,
}

impl Place {
    fn with(contents: impl AsRef<[u8]>) -> Place {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, contents).unwrap();
        Place { _dir: dir, path }
    }

    fn contents(&self) -> String {
        std::fs::read_to_string(&self.path).unwrap()
    }

    /// Opened to be read and written.
    fn open(&self) -> File {
        let std = std::fs::File::options().read(true).write(true).open(&self.path).unwrap();
        File::from_std(std)
    }

    fn open_to_read(&self) -> File {
        File::from_std(std::fs::File::open(&self.path).unwrap())
    }
}

/// Reads so many bytes.
async fn next(file: &mut File, count: usize) -> String {
    let mut bytes = vec![0; count];
    file.read_exact(&mut bytes).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Has a read of so many bytes cancelled, and waits until it has been done all the same.
fn cancelled_read(rt: &Runtime, file: &mut File, count: usize) {
    let held = Held::begin(rt.handle());
    let _entered = rt.enter();
    cancel(file.read(&mut vec![0; count]));
    held.release();
    // What is next has the thread only afterwards.
    rt.block_on(rt.spawn_blocking(|| {})).unwrap();
}

fn down() -> heist::runtime::Handle {
    let rt = runtime_with_one_blocking_thread();
    let handle = rt.handle().clone();
    drop(rt);
    handle
}

#[heist::test]
async fn what_is_written_can_be_read_from_where_it_is_sought() {
    let place = Place::with("");
    let mut file = place.open();
    file.write_all(b"one two three").await.unwrap();
    assert_eq!(file.seek(SeekFrom::End(-5)).await.unwrap(), 8);
    assert_eq!(next(&mut file, 5).await, "three");
    assert_eq!(file.read(&mut [0; 4]).await.unwrap(), 0, "the end");
    assert_eq!(file.seek(SeekFrom::Start(4)).await.unwrap(), 4);
    file.write_all(b"TWO").await.unwrap();
    assert_eq!(file.stream_position().await.unwrap(), 7);
    assert_eq!(next(&mut file, 6).await, " three");
    file.rewind().await.unwrap();
    assert_eq!(next(&mut file, 7).await, "one TWO");
}

#[heist::test]
async fn slices_are_written_one_after_the_other() {
    let place = Place::with("");
    let mut file = place.open();
    let slices = ["ab", "", "cde", "fgh"].map(|text| IoSlice::new(text.as_bytes()));
    assert_eq!(file.write_vectored(&slices).await.unwrap(), 8);
    file.set_max_buf_size(4);
    assert_eq!(file.write_vectored(&slices).await.unwrap(), 4, "as much as there may be");
    file.flush().await.unwrap();
    assert_eq!(place.contents(), "abcdefghabcd");
}

#[heist::test]
async fn no_operation_is_larger_than_it_may_be() {
    let place = Place::with("0123456789");
    let mut file = place.open();
    assert_eq!(file.max_buf_size(), 2 * 1024 * 1024);
    file.set_max_buf_size(3);
    let mut room = [0; 8];
    assert_eq!(file.read(&mut room).await.unwrap(), 3);
    assert_eq!(file.write(b"abcdef").await.unwrap(), 3);
    file.flush().await.unwrap();
    assert_eq!(place.contents(), "012abc6789");
    assert_eq!(file.try_clone().await.unwrap().max_buf_size(), 3);
}

#[test]
#[should_panic(expected = "File::set_max_buf_size")]
fn operations_of_nothing_are_refused() {
    Place::with("").open().set_max_buf_size(0);
}

#[heist::test]
async fn an_empty_read_is_not_the_end() {
    let place = Place::with("x");
    let mut file = place.open();
    assert_eq!(file.read(&mut []).await.unwrap(), 0);
    assert_eq!(next(&mut file, 1).await, "x");
}

#[test]
fn a_write_does_not_wait_for_its_thread() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with(""));
    let mut file = place.open();
    let held = Held::begin(rt.handle());
    let _entered = rt.enter();
    assert!(matches!(poll_once(file.write(b"abc")), Poll::Ready(Ok(3))));
    cancel(file.write(b"the next one waits"));
    cancel(file.flush());
    assert_eq!(place.contents(), "");
    held.release();
    rt.block_on(file.flush()).unwrap();
    assert_eq!(place.contents(), "abc");
}

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

/// No thread can be started, so nothing is written; whoever asks next is told.
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

#[test]
fn what_was_accepted_is_written_though_the_file_is_dropped() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with(""));
    let mut file = place.open();
    let held = Held::begin(rt.handle());
    rt.block_on(file.write_all(b"abc")).unwrap();
    drop(file);
    held.release();
    rt.block_on(rt.spawn_blocking(|| {})).unwrap();
    assert_eq!(place.contents(), "abc");
}

/// The write waits for the only thread when the runtime goes down. A closure would be cancelled.
#[test]
fn what_was_accepted_is_written_though_the_runtime_goes_down() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with(""));
    let mut file = place.open();
    let held = Held::begin(rt.handle());
    rt.block_on(file.write_all(b"abc")).unwrap();
    let closure = rt.spawn_blocking(|| {});
    let release = std::thread::spawn(move || {
        while !closure.is_finished() {
            std::thread::yield_now();
        }
        held.release();
    });
    drop(rt);
    assert_eq!(place.contents(), "abc");
    release.join().unwrap();
    // What has come of it is known in any runtime.
    Builder::new_current_thread().build().unwrap().block_on(file.flush()).unwrap();
}

#[test]
fn in_a_runtime_that_is_down_everything_fails_and_nothing_panics() {
    let (down, place) = (down(), Place::with("0123456789"));
    let mut file = place.open();
    for round in 0..2 {
        let errors = down.block_on(async {
            [
                file.read(&mut [0; 4]).await.err(),
                file.write(b"x").await.err(),
                file.seek(SeekFrom::Start(1)).await.err(),
                file.set_len(1).await.err(),
                file.sync_all().await.err(),
                file.sync_data().await.err(),
                file.metadata().await.err(),
                file.try_clone().await.err(),
                file.set_modified(SystemTime::now()).await.err(),
                File::open(&place.path).await.err(),
            ]
        });
        for (which, error) in errors.into_iter().enumerate() {
            let error = error.unwrap_or_else(|| panic!("round {round}: {which} works"));
            assert!(is_rt_shutdown_err(&error), "round {round}: {which}: {error}");
        }
        down.block_on(file.flush()).unwrap();
    }
    // It is none the worse for it.
    let rt = runtime_with_one_blocking_thread();
    rt.block_on(async {
        assert_eq!(next(&mut file, 4).await, "0123");
        file.write_all(b"abc").await.unwrap();
        file.flush().await.unwrap();
    });
    assert_eq!(place.contents(), "0123abc789");
    let mut std = down.block_on(file.into_std());
    assert_eq!(std.stream_position().unwrap(), 7);
}

#[test]
fn a_read_that_has_not_begun_when_the_runtime_goes_down_fails() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("0123456789"));
    let mut file = place.open();
    let held = Held::begin(rt.handle());
    {
        let _entered = rt.enter();
        cancel(file.read(&mut [0; 4]));
    }
    rt.shutdown_background();
    let other = runtime_with_one_blocking_thread();
    let error = other.block_on(file.read(&mut [0; 4])).unwrap_err();
    assert!(is_rt_shutdown_err(&error), "{error}");
    assert_eq!(other.block_on(next(&mut file, 4)), "0123");
    held.release();
}

#[test]
fn without_a_runtime_it_panics_and_says_what_needs_one() {
    let place = Place::with("0123456789");
    let mut file = place.open();
    let panic = |call: &mut dyn FnMut()| {
        let payload = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        payload.downcast::<String>().map(|text| *text).unwrap()
    };
    let texts = [
        panic(&mut || drop(poll_once(file.read(&mut [0; 4])))),
        panic(&mut || drop(poll_once(file.write(b"abc")))),
        panic(&mut || drop(poll_once(file.seek(SeekFrom::Start(1))))),
        panic(&mut || drop(poll_once(file.set_len(1)))),
        panic(&mut || drop(poll_once(file.metadata()))),
        panic(&mut || drop(poll_once(File::open(&place.path)))),
    ];
    let names = ["read", "write", "seek", "set_len", "metadata", "OpenOptions::open"];
    for (text, name) in texts.iter().zip(names) {
        assert!(text.contains(name) && text.contains("no runtime"), "{text}");
    }
    // And the file is as it was.
    let rt = runtime_with_one_blocking_thread();
    assert_eq!(rt.block_on(next(&mut file, 4)), "0123");
}

#[test]
fn the_file_of_the_standard_library_is_had_when_nothing_is_going_on() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with(""));
    let mut file = place.open();
    let held = Held::begin(rt.handle());
    rt.block_on(file.write_all(b"abc")).unwrap();
    let file = file.try_into_std().unwrap_err();
    held.release();
    let mut std = rt.block_on(file.into_std());
    std.write_all(b"def").unwrap();
    assert_eq!(place.contents(), "abcdef");
    drop(File::from_std(std).try_into_std().unwrap());
}

/// What it asks for is on its way, with the file, and has no thread: nobody waits for that.
#[test]
fn a_cancelled_question_does_not_keep_the_file() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("abc"));
    let file = place.open();
    let held = Held::begin(rt.handle());
    let _entered = rt.enter();
    cancel(file.metadata());
    let mut std = rt.block_on(file.into_std());
    let mut text = String::new();
    std.read_to_string(&mut text).unwrap();
    assert_eq!(text, "abc");
    held.release();
}

/// A task that finds what it reads in the buffer lets others go first (W9).
#[test]
fn reading_what_is_there_already_spends_the_budget() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("x".repeat(1000)));
    let mut file = place.open();
    cancelled_read(&rt, &mut file, 1000);
    let count = rt.block_on(rt.spawn(async move {
        let mut count = 0;
        let reading = async {
            loop {
                file.read_exact(&mut [0]).await.unwrap();
                count += 1;
            }
        };
        let mut reading = std::pin::pin!(reading);
        let first = std::future::poll_fn(|cx| Poll::Ready(reading.as_mut().poll(cx).is_pending()));
        assert!(first.await);
        count
    }));
    assert_eq!(count.unwrap(), 128);
}

#[heist::test]
async fn what_is_known_about_a_file_can_be_changed() {
    let place = Place::with("abc");
    let file = place.open();
    let then = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    file.set_times(FileTimes::new().set_accessed(then(1)).set_modified(then(2))).await.unwrap();
    let metadata = file.metadata().await.unwrap();
    assert_eq!((metadata.accessed().unwrap(), metadata.modified().unwrap()), (then(1), then(2)));
    file.set_modified(then(3)).await.unwrap();
    let mut permissions = metadata.permissions();
    permissions.set_readonly(true);
    file.set_permissions(permissions).await.unwrap();
    let metadata = file.metadata().await.unwrap();
    assert_eq!((metadata.accessed().unwrap(), metadata.modified().unwrap()), (then(1), then(3)));
    assert!(metadata.permissions().readonly());
    file.set_len(5).await.unwrap();
    file.sync_all().await.unwrap();
    assert_eq!(place.contents(), "abc\0\0");
}

/// A write that is on its way sets the time of the last change; what is set here comes after it.
#[test]
fn times_are_set_after_a_write_that_is_on_its_way() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with(""));
    let mut file = place.open();
    let held = Held::begin(rt.handle());
    let _entered = rt.enter();
    assert!(poll_once(file.write(b"abc")).is_ready());
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(7);
    {
        let mut setting = std::pin::pin!(file.set_modified(then));
        assert!(poll_once(setting.as_mut()).is_pending());
        held.release();
        rt.block_on(setting).unwrap();
    }
    assert_eq!(place.contents(), "abc");
    assert_eq!(std::fs::metadata(&place.path).unwrap().modified().unwrap(), then);
}

#[heist::test]
async fn files_are_opened_as_the_options_say() {
    let place = Place::with("abc");
    let kind = |result: std::io::Result<File>| result.unwrap_err().kind();
    let other = place.path.with_file_name("other");
    assert_eq!(kind(File::open(&other).await), ErrorKind::NotFound);
    assert_eq!(kind(File::create_new(&place.path).await), ErrorKind::AlreadyExists);
    assert_eq!(kind(OpenOptions::new().open(&place.path).await), ErrorKind::InvalidInput);
    let mut log = OpenOptions::new().append(true).open(&place.path).await.unwrap();
    log.seek(SeekFrom::Start(0)).await.unwrap();
    log.write_all(b"def").await.unwrap();
    log.flush().await.unwrap();
    assert_eq!(place.contents(), "abcdef");
    drop(File::options().write(true).truncate(true).open(&place.path).await.unwrap());
    assert_eq!(place.contents(), "");
    let mut made = OpenOptions::new().write(true).create(true).mode(0o600).open(&other).await;
    made.as_mut().unwrap().write_all(b"x").await.unwrap();
    use std::os::unix::fs::PermissionsExt;
    let mode = made.unwrap().metadata().await.unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let directory =
        OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(&other).await;
    assert_eq!(kind(directory), ErrorKind::NotADirectory);
    let std = OpenOptions::from(std::fs::File::options().read(true).clone());
    std.open(&other).await.unwrap();
}

#[test]
fn descriptors_come_and_go() {
    let place = Place::with("abc");
    let file = place.open();
    let number = file.as_raw_fd();
    assert_eq!(file.as_fd().as_raw_fd(), number);
    assert!(format!("{file:?}").contains(&number.to_string()), "{file:?}");
    let raw = file.try_into_std().unwrap().into_raw_fd();
    assert_eq!(raw, number);
    // SAFETY: (type) it was just given up.
    let file = unsafe { File::from_raw_fd(raw) };
    let owned = OwnedFd::from(file.try_into_std().unwrap());
    assert_eq!(File::from(owned).as_raw_fd(), number);
    fn is_ordinary<T: Send + Sync + Unpin>() {}
    is_ordinary::<File>();
    let _: &Path = place.path.as_ref();
}
