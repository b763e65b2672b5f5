//! Files that are dropped, runtimes that go down, and none at all.

use super::{Place, next};
use crate::held::{Held, cancel, poll_once, runtime_with_one_blocking_thread};
use heist::fs::File;
use heist::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, SeekFrom};
use heist::runtime::{Builder, is_rt_shutdown_err};
use std::io::Seek;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::SystemTime;

/// The handle of a runtime that is down.
fn down() -> heist::runtime::Handle {
    let rt = runtime_with_one_blocking_thread();
    let handle = rt.handle().clone();
    drop(rt);
    handle
}

#[test]
fn accepted_bytes_are_written_after_the_file_is_dropped() {
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
