//! What is at a path, whole files, and directories.

use crate::held::{Held, cancel, poll_once, runtime_with_one_blocking_thread};
use heist::fs;
use heist::runtime::is_rt_shutdown_err;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::pin::pin;
use std::task::Poll;

fn tempdir() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// More than two batches, and not a multiple of one.
const MANY: usize = 70;

fn fill(dir: &Path) -> BTreeSet<String> {
    let names: BTreeSet<String> = (0..MANY).map(|number| format!("entry-{number}")).collect();
    names.iter().for_each(|name| std::fs::write(dir.join(name), name).unwrap());
    names
}

#[heist::test]
async fn whole_files_are_written_read_and_copied() {
    let dir = tempdir();
    let [from, to] = ["from", "to"].map(|name| dir.path().join(name));
    let bytes: Vec<u8> = (0..5_000_000u32).map(|number| number as u8).collect();
    fs::write(&from, &bytes).await.unwrap();
    assert!(fs::read(&from).await.unwrap() == bytes);
    assert_eq!(fs::copy(&from, &to).await.unwrap(), 5_000_000);
    assert!(fs::read(&to).await.unwrap() == bytes);
    fs::write(&to, String::from("shorter")).await.unwrap();
    assert_eq!(fs::read_to_string(&to).await.unwrap(), "shorter");
    let text = fs::read_to_string(&from).await;
    assert_eq!(text.unwrap_err().kind(), ErrorKind::InvalidData);
    let nothing = fs::read(dir.path().join("nothing")).await;
    assert_eq!(nothing.unwrap_err().kind(), ErrorKind::NotFound);
}

#[heist::test]
async fn names_are_given_followed_and_taken_away() {
    let dir = tempdir();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("file"), "abc").await.unwrap();
    fs::symlink("file", path("pointer")).await.unwrap();
    fs::hard_link(path("file"), path("same")).await.unwrap();

    let home = fs::canonicalize(dir.path()).await.unwrap();
    assert_eq!(fs::canonicalize(path("./pointer")).await.unwrap(), home.join("file"));
    assert_eq!(fs::read_link(path("pointer")).await.unwrap(), Path::new("file"));
    assert!(fs::symlink_metadata(path("pointer")).await.unwrap().is_symlink());
    let [file, same, pointer] = ["file", "same", "pointer"].map(path).map(fs::metadata);
    let numbers = [file, same, pointer].map(|metadata| async { metadata.await.unwrap().ino() });
    let [file, same, pointer] = numbers;
    let file = file.await;
    assert_eq!((same.await, pointer.await), (file, file));

    fs::rename(path("file"), path("moved")).await.unwrap();
    assert!(!fs::try_exists(path("pointer")).await.unwrap(), "it leads to nothing");
    assert!(fs::try_exists(path("moved")).await.unwrap());
    fs::remove_file(path("pointer")).await.unwrap();
    fs::remove_file(path("same")).await.unwrap();
    fs::set_permissions(path("moved"), PermissionsExt::from_mode(0o400)).await.unwrap();
    let metadata = fs::metadata(path("moved")).await.unwrap();
    assert_eq!((metadata.mode() & 0o777, metadata.nlink()), (0o400, 1));
    let inside = fs::try_exists(path("moved").join("inside")).await;
    assert_eq!(inside.unwrap_err().kind(), ErrorKind::NotADirectory);
}

#[heist::test]
async fn directories_are_made_and_removed() {
    let dir = tempdir();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("a")).await.unwrap();
    assert_eq!(fs::create_dir(path("a")).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    fs::create_dir_all(path("a/b/c")).await.unwrap();
    fs::create_dir_all(path("a/b/c")).await.unwrap();
    let full = fs::remove_dir(path("a")).await.unwrap_err();
    assert_eq!(full.kind(), ErrorKind::DirectoryNotEmpty);
    fs::remove_dir(path("a/b/c")).await.unwrap();
    fs::remove_dir_all(path("a")).await.unwrap();
    assert!(!path("a").exists());

    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    let orphan = builder.create(path("x/y")).await.unwrap_err();
    assert_eq!(orphan.kind(), ErrorKind::NotFound);
    builder.recursive(true).create(path("x/y")).await.unwrap();
    let mode = fs::metadata(path("x/y")).await.unwrap().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[heist::test]
async fn every_entry_of_a_directory_is_met_once() {
    let dir = tempdir();
    let names = fill(dir.path());
    let mut entries = fs::read_dir(dir.path()).await.unwrap();
    let mut met = Vec::new();
    while let Some(entry) = entries.next_entry().await.unwrap() {
        let name = entry.file_name().into_string().unwrap();
        assert_eq!(entry.path(), dir.path().join(&name));
        let metadata = entry.metadata().await.unwrap();
        assert_eq!((metadata.ino(), metadata.len()), (entry.ino(), name.len() as u64));
        assert!(entry.file_type().await.unwrap().is_file());
        met.push(name);
    }
    assert!(entries.next_entry().await.unwrap().is_none(), "the end stays the end");
    assert_eq!(met.len(), MANY);
    assert_eq!(met.into_iter().collect::<BTreeSet<_>>(), names);
    let nothing = fs::read_dir(dir.path().join("nothing")).await;
    assert_eq!(nothing.unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn entries_are_read_ahead_and_a_cancelled_read_loses_none() {
    let (rt, dir) = (runtime_with_one_blocking_thread(), tempdir());
    fill(dir.path());
    let mut entries = rt.block_on(fs::read_dir(dir.path())).unwrap();
    let (mut met, mut batches, mut is_over) = (BTreeSet::new(), Vec::new(), false);
    let _entered = rt.enter();
    while !is_over {
        // What is there needs no thread.
        let held = Held::begin(rt.handle());
        let before = met.len();
        while let Poll::Ready(entry) = poll_once(entries.next_entry()) {
            match entry.unwrap() {
                Some(entry) => met.insert(entry.file_name()),
                None => {
                    is_over = true;
                    break;
                }
            };
        }
        batches.push(met.len() - before);
        held.release();
        rt.block_on(rt.spawn_blocking(|| {})).unwrap();
    }
    assert_eq!(batches, [32, 32, MANY - 64]);
}

#[test]
fn what_is_left_of_a_directory_is_lost_with_the_runtime() {
    let (rt, dir) = (runtime_with_one_blocking_thread(), tempdir());
    fill(dir.path());
    let mut entries = rt.block_on(fs::read_dir(dir.path())).unwrap();
    let handle = rt.handle().clone();
    drop(rt);
    let mut met = 0;
    let error = handle.block_on(async {
        loop {
            match entries.next_entry().await {
                Ok(entry) => met += usize::from(entry.is_some()),
                Err(error) => break error,
            }
        }
    });
    assert_eq!(met, 32, "what was read ahead");
    assert!(is_rt_shutdown_err(&error), "{error}");
    let again = handle.block_on(entries.next_entry()).unwrap_err();
    assert!(again.to_string().contains("read_dir again"), "{again}");
    let other = handle.block_on(fs::read_dir(dir.path())).unwrap_err();
    assert!(is_rt_shutdown_err(&other), "{other}");
}

/// A task that finds entries that were read ahead lets others go first (W9).
#[test]
fn entries_that_are_there_already_spend_the_budget() {
    let (rt, dir) = (runtime_with_one_blocking_thread(), tempdir());
    fill(dir.path());
    let yielded = rt.block_on(async {
        // Five directories with a batch each: more than a budget.
        let mut all = Vec::new();
        for _ in 0..5 {
            all.push(fs::read_dir(dir.path()).await.unwrap());
        }
        let met = Cell::new(0);
        let mut reading = pin!(async {
            for entries in &mut all {
                for _ in 0..32 {
                    entries.next_entry().await.unwrap().unwrap();
                    met.set(met.get() + 1);
                }
            }
        });
        heist::task::yield_now().await;
        let first = std::future::poll_fn(|cx| Poll::Ready(reading.as_mut().poll(cx).is_pending()));
        (first.await, met.get())
    });
    assert_eq!(yielded, (true, 128));
}

#[test]
fn an_operation_is_done_if_its_future_is_dropped() {
    let (rt, dir) = (runtime_with_one_blocking_thread(), tempdir());
    let path = dir.path().join("file");
    let held = Held::begin(rt.handle());
    let _entered = rt.enter();
    cancel(fs::write(&path, "abc"));
    held.release();
    rt.block_on(rt.spawn_blocking(|| {})).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "abc");
}

#[test]
#[should_panic(expected = "fs::read: there is no runtime on this thread")]
fn without_a_runtime_it_panics_and_says_what_needs_one() {
    let _ = poll_once(fs::read("Cargo.toml"));
}
