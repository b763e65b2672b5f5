//! Children where a sandbox forbids `pidfd_open`, or where somebody traces them: `SIGCHLD` tells of
//! their exit.

mod support;

use heist::process::{Child, Command};
use heist::runtime::{Builder, Runtime};
use std::future::poll_fn;
use std::os::unix::process::ExitStatusExt;
use std::pin::{Pin, pin};
use std::process::Stdio;
use std::task::Poll;
use std::thread;
use support::children::{self, wait_until};
use support::{runtime, seccomp};

/// Calls `f` in a thread that has no `pidfd_open`, nor have those that it starts.
fn without_pidfd(f: impl FnOnce() + Send) {
    let confined = || {
        seccomp::forbid(libc::SYS_pidfd_open, libc::EPERM);
        let own = rustix::process::getpid();
        rustix::process::pidfd_open(own, rustix::process::PidfdFlags::empty()).unwrap_err();
        f();
    };
    thread::scope(|scope| scope.spawn(confined).join().unwrap());
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn cat() -> Child {
    Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

async fn is_pending(mut future: Pin<&mut impl Future>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
}

#[test]
fn many_children_are_awaited() {
    without_pidfd(|| {
        for rt in [current_thread(), runtime(1), runtime(2)] {
            rt.block_on(async {
                let wait = |code: u8| {
                    let mut command = Command::new("sh");
                    command.arg("-c").arg(format!("read line; exit {code}"));
                    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
                    heist::spawn(async move {
                        assert_eq!(child.wait().await.unwrap().code(), Some(code.into()));
                        assert_eq!(child.wait().await.unwrap().code(), Some(code.into()));
                    })
                };
                let waiting: Vec<_> = (0..100).map(wait).collect();
                for task in waiting {
                    task.await.unwrap();
                }
            });
        }
    });
}

#[test]
fn one_after_the_other() {
    without_pidfd(|| {
        for rt in [current_thread(), runtime(2)] {
            rt.block_on(async {
                for _ in 0..50 {
                    let mut child = cat();
                    let input = child.stdin.take();
                    assert!(is_pending(pin!(child.wait())).await);
                    drop(input);
                    assert!(child.wait().await.unwrap().success());
                }
            });
        }
    });
}

#[test]
fn killed_and_dropped() {
    without_pidfd(|| {
        for rt in [current_thread(), runtime(1)] {
            rt.block_on(async {
                let mut sleep = Command::new("sleep");
                sleep.arg("1000").kill_on_drop(true);
                let mut child = sleep.spawn().unwrap();
                child.kill().await.unwrap();
                assert_eq!(child.wait().await.unwrap().signal(), Some(libc::SIGKILL));
                let pids: Vec<u32> =
                    (0..20).map(|_| sleep.spawn().unwrap().id().unwrap()).collect();
                let is_reaped = |pid: &u32| children::state(*pid).is_none();
                support::futures::until(|| pids.iter().all(is_reaped)).await;
            });
        }
        // Nothing else wakes the runtime.
        let rt = runtime(1);
        let pid = rt.block_on(async {
            Command::new("sleep").arg("1000").kill_on_drop(true).spawn().unwrap().id().unwrap()
        });
        wait_until(|| children::state(pid).is_none());
    });
}

#[test]
fn in_another_runtime() {
    without_pidfd(|| {
        let first = runtime(1);
        let mut child = first.block_on(async { cat() });
        let input = child.stdin.take();
        let orphan = first.block_on(async { cat() }).id().unwrap();
        let second = current_thread();
        second.block_on(async { assert!(is_pending(pin!(child.wait())).await) });
        drop(first);
        second.block_on(async {
            let mut wait = pin!(child.wait());
            assert!(is_pending(wait.as_mut()).await);
            drop(input);
            assert!(wait.await.unwrap().success());
            support::futures::until(|| children::state(orphan).is_none()).await;
        });
    });
}

/// A tracer is told first of what it traces; the parent when the tracer lets go.
#[test]
fn a_traced_child_is_awaited_until_its_tracer_lets_go() {
    let strace = ["-D", "-f", "-o", "/dev/null", "-e", "trace=none"];
    if !std::process::Command::new("strace")
        .args(strace)
        .arg("true")
        .status()
        .is_ok_and(|s| s.success())
    {
        eprintln!("skipped: strace is not there, or may not trace");
        return;
    }
    for rt in [current_thread(), runtime(2)] {
        rt.block_on(async {
            let trace = |number: i32| {
                let mut command = Command::new("strace");
                command.args(strace).args(["sh", "-c", &format!("read line; exit {number}")]);
                let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
                heist::spawn(async move {
                    assert_eq!(child.wait().await.unwrap().code(), Some(number));
                })
            };
            let waiting: Vec<_> = (0..20).map(trace).collect();
            for task in waiting {
                task.await.unwrap();
            }
        });
    }
}

/// A child is dropped in the middle of a poll that has used its budget up: what waits for the child
/// instead must not ask for more, which comes only when the poll has returned.
#[test]
fn a_child_is_dropped_where_no_budget_is_left() {
    without_pidfd(|| {
        for rt in [current_thread(), runtime(2)] {
            rt.block_on(async {
                let child = cat();
                let id = child.id().unwrap();
                while heist::task::coop::has_budget_remaining() {
                    heist::task::consume_budget().await;
                }
                drop(child);
                while children::state(id).is_some() {
                    heist::time::sleep(std::time::Duration::from_millis(1)).await;
                }
            });
        }
    });
}
