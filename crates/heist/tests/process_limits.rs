//! Starting processes without file descriptors to spare: an error, or a child; and nothing is left
//! over.
//!
//! The limit is the whole process's, so there is one test.

mod support;

use heist::process::{Child, Command};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::process::Stdio;
use support::children::{self, descriptors};

/// Calls `f` with `free` descriptors left.
fn with_free<R>(free: usize, f: impl FnOnce() -> R) -> R {
    let mut files: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    assert!(files.len() > free, "the limit is too low for this test");
    files.truncate(files.len() - free);
    f()
}

/// Starts `command` with `free` descriptors left, and waits for it. Returns whether it was started.
fn try_with(free: usize, command: &mut Command) -> bool {
    let rt = support::current_thread();
    // What the runtime keeps open for good is opened before it is counted.
    rt.block_on(async { Command::new("true").status().await.unwrap() });
    let before = descriptors();
    let result = rt.block_on(async { with_free(free, || command.spawn()) });
    let is_there = result.is_ok();
    match result {
        Ok(child) => {
            let output = rt.block_on(child.wait_with_output()).unwrap();
            assert!(output.status.success(), "{output:?}");
        }
        Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EMFILE), "{error}"),
    }
    rt.block_on(async {
        // The next command collects a child that was started in vain.
        assert!(Command::new("true").status().await.unwrap().success());
        support::futures::until(|| children::all().is_empty()).await;
    });
    assert_eq!(descriptors(), before, "{free} were free");
    is_there
}

#[test]
fn without_descriptors_there_is_an_error_and_nothing_leaks() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(100), ..limit }).unwrap();

    let mut plain = Command::new("true");
    let mut piped = Command::new("echo");
    piped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Nothing can be waited for at first, as that needs a descriptor. What was started in vain is
    // killed.
    assert!(!try_with(0, &mut plain));
    assert!(!try_with(0, Command::new("sleep").arg("1000")));
    let enough = |command: &mut Command| (0..20).map(|free| try_with(free, command)).collect();
    let plain: Vec<bool> = enough(&mut plain);
    let piped: Vec<bool> = enough(&mut piped);
    for found in [&plain, &piped] {
        assert!(!found[0] && found[19], "{found:?}");
        assert!(found.is_sorted(), "with more descriptors it works as well: {found:?}");
    }

    // A runtime that has waited for signals can wait for a child without a new descriptor.
    let rt = support::current_thread();
    rt.block_on(async {
        let kind = heist::signal::unix::SignalKind::child();
        let _listener = heist::signal::unix::signal(kind).unwrap();
        let mut child: Child = with_free(0, || Command::new("true").spawn().unwrap());
        assert!(child.wait().await.unwrap().success());
        let mut child = with_free(0, || Command::new("sleep").arg("1000").spawn().unwrap());
        child.kill().await.unwrap();
    });
}
