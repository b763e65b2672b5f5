//! Warnings on stderr say what the runtime knows, and no more.
//!
//! Each program is a child process: a test that runs in it alone, with `HEIST_TEST_PROGRAM` set.

mod support;

use heist::runtime::{Builder, Handle};
use heist::task;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;
use support::children::wait_until;

const IS_PROGRAM: &str = "HEIST_TEST_PROGRAM";

fn is_program() -> bool {
    std::env::var_os(IS_PROGRAM).is_some()
}

/// The one warning of a program below.
fn warning_of(program: &str) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", program, "--nocapture"]).env(IS_PROGRAM, "1");
    let output = child.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    let said: Vec<_> = said.lines().filter(|line| line.starts_with("heist: ")).collect();
    let [warning] = said[..] else { panic!("one warning: {said:?}") };
    warning.to_owned()
}

/// Tasks wait while their only worker blocks, and no spare worker comes.
async fn block_without_a_spare() {
    (0..4).for_each(|_| _ = heist::spawn(async {}));
    task::block_in_place(|| {
        wait_until(|| Handle::current().metrics().spare_shortage_count() > 0);
    });
}

#[test]
fn a_program_that_gets_no_threads() {
    if is_program() {
        let rt = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let task = rt.spawn(async {
            for call in [libc::SYS_clone3, libc::SYS_clone] {
                // In the worker's thread, which is the one that needs another.
                support::seccomp::forbid(call, libc::EAGAIN);
            }
            block_without_a_spare().await;
        });
        rt.block_on(task).unwrap();
    }
}

#[test]
fn a_program_that_allows_few_threads() {
    if is_program() {
        let mut builder = Builder::new_multi_thread();
        let rt = builder.worker_threads(1).max_blocking_threads(1).build().unwrap();
        let (release, blocked) = mpsc::channel::<()>();
        let (begin, has_begun) = mpsc::channel();
        let busy = rt.spawn_blocking(move || {
            begin.send(()).unwrap();
            blocked.recv().unwrap();
        });
        has_begun.recv().unwrap();
        rt.block_on(rt.spawn(block_without_a_spare())).unwrap();
        release.send(()).unwrap();
        rt.block_on(busy).unwrap();
    }
}

#[test]
fn a_shortage_of_spares_is_blamed_on_the_limit_that_was_hit() {
    let warning = warning_of("a_program_that_gets_no_threads");
    assert!(warning.contains("no thread could be started: Resource temporarily"), "{warning}");
    assert!(!warning.contains("max_blocking_threads"), "{warning}");

    let warning = warning_of("a_program_that_allows_few_threads");
    assert!(warning.contains("all 1 threads that Builder::max_blocking_threads"), "{warning}");
    assert!(!warning.contains("started"), "{warning}");
}

#[test]
fn a_program_that_is_given_no_time() {
    if is_program() {
        let rt = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (release, blocked) = mpsc::channel::<()>();
        let (begin, has_begun) = mpsc::channel();
        rt.spawn_blocking(move || {
            begin.send(()).unwrap();
            blocked.recv().unwrap();
        });
        has_begun.recv().unwrap();
        rt.shutdown_timeout(Duration::from_millis(50));
        release.send(()).unwrap();
    }
}

/// The thread ends a moment later.
#[test]
fn threads_that_have_not_ended_are_not_said_to_be_stuck() {
    let warning = warning_of("a_program_that_is_given_no_time");
    // Other threads may have needed more than that, too.
    assert!(warning.contains("after 50ms, "), "{warning}");
    assert!(warning.contains("had not ended: ["), "{warning}");
    assert!(!warning.contains("does not end"), "{warning}");
}
