//! Open files: what is done in the background, what is reported when, what a cancelled operation
//! and a runtime that goes down leave behind.
//!
//! Where an operation has to be on its way, the only blocking thread is held.

mod cached;
mod cancelled;
mod down;
mod failed;

use crate::held::{Held, cancel, poll_once, runtime_with_one_blocking_thread};
use heist::fs::{File, FileTimes, OpenOptions};
use heist::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, SeekFrom};
use heist::runtime::Runtime;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::path::{Path, PathBuf};
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

/// Reads `count` bytes.
async fn next(file: &mut File, count: usize) -> String {
    let mut bytes = vec![0; count];
    file.read_exact(&mut bytes).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Cancels a read of `count` bytes, and waits until it has been done in the background.
fn cancelled_read(rt: &Runtime, file: &mut File, count: usize) {
    let held = Held::begin(rt.handle());
    let _entered = rt.enter();
    cancel(file.read(&mut vec![0; count]));
    held.release();
    // What is next has the thread only afterwards.
    rt.block_on(rt.spawn_blocking(|| {})).unwrap();
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
