//! Files whose contents are in the system's cache: who reads them, and what else sees of it.

use super::{Place, next};
use crate::held::{Held, cancel, poll_once, runtime_with_one_blocking_thread};
use heist::fs::{File, OpenOptions};
use heist::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, SeekFrom};
use heist::runtime::{Handle, Runtime};
use heist_testing::{Rng, scaled, seed};
use std::ffi::CString;
use std::io::Seek;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

async fn open(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).open(path).await.unwrap()
}

/// Whether the system and the file's file system can read from the cache only.
fn is_supported(path: &Path) -> bool {
    let file = std::fs::File::open(path).unwrap();
    let mut room = [0_u8; 1];
    let part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: 1 };
    // SAFETY: (FFI) the part is `room`.
    let count = unsafe { libc::preadv2(file.as_raw_fd(), &part, 1, -1, libc::RWF_NOWAIT) };
    count == 1
}

#[test]
fn cached_bytes_need_no_blocking_thread() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("0123456789"));
    let mut file = rt.block_on(open(&place.path));
    let held = Held::begin(rt.handle());
    let _entered = rt.enter();
    let mut room = [0; 8];
    if is_supported(&place.path) {
        for (start, count) in [(0, 8), (8, 2), (2, 0)] {
            let read = poll_once(file.read(&mut room));
            assert!(matches!(read, Poll::Ready(Ok(found)) if found == count), "{start}: {read:?}");
            assert_eq!(&b"0123456789"[start..][..count], &room[..count]);
        }
        let sought = poll_once(file.seek(SeekFrom::Current(-3)));
        assert!(matches!(sought, Poll::Ready(Ok(7))), "{sought:?}");
    } else {
        println!("this file system cannot read from the cache only");
        cancel(file.read(&mut room));
    }
    held.release();
}

/// Reads by the task, and all else by blocking threads.
#[heist::test]
async fn there_is_one_position() {
    let place = Place::with("0123456789");
    let mut file = open(&place.path).await;
    assert_eq!(next(&mut file, 2).await, "01");
    file.write_all(b"ab").await.unwrap();
    assert_eq!(next(&mut file, 2).await, "45");
    assert_eq!(file.seek(SeekFrom::End(-3)).await.unwrap(), 7);
    assert_eq!(next(&mut file, 1).await, "7");
    assert_eq!(file.stream_position().await.unwrap(), 8);
    assert_eq!(file.seek(SeekFrom::Start(1)).await.unwrap(), 1);
    file.set_len(9).await.unwrap();
    assert_eq!(next(&mut file, 2).await, "1a");
    let mut clone = file.try_clone().await.unwrap();
    assert_eq!(next(&mut clone, 1).await, "b");
    assert_eq!(next(&mut file, 1).await, "4");
    assert_eq!(clone.seek(SeekFrom::Current(1)).await.unwrap(), 6);
    assert_eq!(next(&mut file, 2).await, "67");
    assert_eq!(file.into_std().await.stream_position().unwrap(), 8);
    assert_eq!(place.contents(), "01ab45678");
}

#[heist::test]
async fn an_end_may_move() {
    let place = Place::with("0123");
    let (mut reader, mut writer) = (open(&place.path).await, open(&place.path).await);
    writer.seek(SeekFrom::End(0)).await.unwrap();
    let mut text = String::new();
    for expected in ["0123", "0123more", "0123moremore"] {
        reader.read_to_string(&mut text).await.unwrap();
        assert_eq!((text.as_str(), reader.read(&mut [0; 4]).await.unwrap()), (expected, 0));
        writer.write_all(b"more").await.unwrap();
        writer.flush().await.unwrap();
    }
}

/// The system makes its contents up when they are read.
#[heist::test]
async fn a_file_without_a_cache_is_read() {
    let mut text = String::new();
    File::open("/proc/self/status").await.unwrap().read_to_string(&mut text).await.unwrap();
    let pid = text.lines().find_map(|line| line.strip_prefix("Pid:")).unwrap();
    assert_eq!(pid.trim(), std::process::id().to_string());
}

/// Their bytes are there, but the system does not promise that it waits for nobody else.
#[test]
fn pipes_and_devices_are_read_by_blocking_threads() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with(""));
    let path = place.path.with_file_name("pipe");
    let name = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: (FFI) the name ends with a zero.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let mut pipe = rt.block_on(open(&path));
    let mut device = rt.block_on(open(Path::new("/dev/zero")));
    rt.block_on(async {
        pipe.write_all(b"01234567").await.unwrap();
        pipe.flush().await.unwrap();
    });
    for (file, expected) in [(&mut pipe, "01234567"), (&mut device, "\0\0\0\0\0\0\0\0")] {
        let held = Held::begin(rt.handle());
        {
            let _entered = rt.enter();
            cancel(file.read(&mut [0; 4]));
        }
        held.release();
        assert_eq!(rt.block_on(next(file, 8)), expected);
    }
}

/// The system would wait for the disk, though it does not begin to read if it has to wait for
/// others.
#[test]
fn a_file_without_buffers_is_read_by_a_blocking_thread() {
    let (rt, place) = (runtime_with_one_blocking_thread(), Place::with("x".repeat(8192)));
    let mut options = OpenOptions::new();
    let opening = options.read(true).custom_flags(libc::O_DIRECT).open(&place.path);
    let Ok(mut file) = rt.block_on(opening) else {
        println!("this file system has no such files");
        return;
    };
    let held = Held::begin(rt.handle());
    let _entered = rt.enter();
    cancel(file.read(&mut [0; 4096]));
    held.release();
}

/// Content of a byte, by its position.
fn byte(position: usize) -> u8 {
    (position as u32).wrapping_mul(2_654_435_769).to_be_bytes()[0]
}

/// Takes the file out of the system's cache, as far as the system allows it.
fn forget(file: &std::fs::File) {
    // SAFETY: (FFI) advice about a file that is open.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// Tasks read pieces of all lengths and seek between them, while the file drops out of the cache
/// now and then. So reads by tasks and by blocking threads alternate.
#[test]
fn pieces_of_a_large_file_are_where_they_belong() {
    const LENGTH: usize = 4 << 20;
    let place = Place::with((0..LENGTH).map(byte).collect::<Vec<u8>>());
    let std = std::fs::File::open(&place.path).unwrap();
    std.sync_all().unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let forgetting = std::thread::spawn({
        let is_over = Arc::clone(&is_over);
        move || {
            while !is_over.load(Ordering::Relaxed) {
                forget(&std);
                std::thread::yield_now();
            }
        }
    });
    let seed = seed();
    println!("HEIST_STRESS_SEED={seed}");
    let rt = Runtime::new().unwrap();
    let read = async |mut rng: Rng, path| {
        let mut file = File::open(path).await.unwrap();
        let (mut position, mut room) = (0, Vec::new());
        for _ in 0..scaled(200) {
            if rng.below(2) == 0 {
                position = rng.below(LENGTH as u64) as usize;
                file.seek(SeekFrom::Start(position as u64)).await.unwrap();
            }
            let length = 1 << rng.below(21);
            room.resize(rng.below(length) as usize + 1, 0);
            let count = file.read(&mut room).await.unwrap();
            assert!(count > 0 || position == LENGTH, "no end at {position}");
            let expected = (position..).map(byte);
            assert!(room[..count].iter().copied().eq(expected.take(count)), "at {position}");
            position += count;
        }
    };
    rt.block_on(async {
        let spawn = |number| {
            let path = place.path.clone();
            Handle::current().spawn(read(Rng::new(seed ^ number), path))
        };
        let tasks: Vec<_> = (0..8).map(spawn).collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    is_over.store(true, Ordering::Relaxed);
    forgetting.join().unwrap();
    // All of it in one piece.
    let whole = rt.block_on(async {
        let mut bytes = Vec::new();
        File::open(&place.path).await.unwrap().read_to_end(&mut bytes).await.unwrap();
        bytes
    });
    assert!(whole.into_iter().eq((0..LENGTH).map(byte)));
}
