//! Child processes: how they are started, awaited and killed.

use crate::support;
use crate::support::children::{self, wait_until_exited};
use crate::support::runtime;
use heist::process::Command;
use heist::runtime::{Builder, Runtime};
use std::future::poll_fn;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::process::Stdio;
use std::task::Poll;

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn runtimes() -> [Runtime; 3] {
    [current_thread(), runtime(1), runtime(2)]
}

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(script);
    command
}

/// Runs until it is told to end by the end of its input.
fn cat() -> Command {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command
}

async fn is_pending(future: std::pin::Pin<&mut impl Future>) -> bool {
    let mut future = future;
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
}

#[test]
fn the_status_of_a_child_is_its_own() {
    for rt in runtimes() {
        rt.block_on(async {
            for code in [0, 1, 77, 255] {
                let mut child = sh(&format!("exit {code}")).spawn().unwrap();
                assert!(child.id().is_some());
                assert_eq!(child.wait().await.unwrap().code(), Some(code));
            }
            assert_eq!(sh("kill -9 $$").status().await.unwrap().signal(), Some(libc::SIGKILL));
        });
    }
}

#[test]
fn a_child_can_be_awaited_again() {
    current_thread().block_on(async {
        let mut child = sh("exit 3").spawn().unwrap();
        let first = child.wait().await.unwrap();
        assert_eq!(child.id(), None, "its number may be another's");
        for _ in 0..3 {
            assert_eq!(child.wait().await.unwrap(), first);
            assert_eq!(child.try_wait().unwrap(), Some(first));
        }
        assert_eq!(first.code(), Some(3));
    });
}

#[test]
fn try_wait_tells_whether_it_runs() {
    current_thread().block_on(async {
        let mut child = cat().spawn().unwrap();
        for _ in 0..10 {
            assert_eq!(child.try_wait().unwrap(), None);
        }
        let pid = child.id().unwrap();
        drop(child.stdin.take());
        wait_until_exited(pid);
        assert!(child.try_wait().unwrap().unwrap().success());
        assert_eq!(children::state(pid), None, "it was waited for");
        assert_eq!(child.id(), None);
        assert!(child.wait().await.unwrap().success());
    });
}

/// It would wait for its input for ever.
#[test]
fn wait_closes_the_input() {
    for rt in runtimes() {
        let status = rt.block_on(async { cat().spawn().unwrap().wait().await });
        assert!(status.unwrap().success());
    }
}

#[test]
fn a_wait_may_be_dropped() {
    for rt in runtimes() {
        rt.block_on(async {
            let mut child = cat().spawn().unwrap();
            let input = child.stdin.take();
            for _ in 0..20 {
                assert!(is_pending(pin!(child.wait())).await);
                heist::task::yield_now().await;
            }
            drop(input);
            assert!(child.wait().await.unwrap().success());
        });
    }
}

/// A child that exits while nobody waits is not missed.
#[test]
fn a_child_that_has_exited_long_ago_can_be_awaited() {
    for rt in runtimes() {
        rt.block_on(async {
            let mut child = Command::new("true").spawn().unwrap();
            assert!(is_pending(pin!(child.wait())).await || child.id().is_none());
            child.id().into_iter().for_each(wait_until_exited);
            assert!(child.wait().await.unwrap().success());
        });
    }
}

#[test]
fn kill_ends_a_child_and_waits_for_it() {
    for rt in runtimes() {
        rt.block_on(async {
            let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
            let pid = child.id().unwrap();
            child.kill().await.unwrap();
            assert_eq!(children::state(pid), None);
            assert_eq!(child.wait().await.unwrap().signal(), Some(libc::SIGKILL));
            // Once more does no harm.
            child.start_kill().unwrap();
            child.kill().await.unwrap();
        });
    }
}

#[test]
fn a_child_that_has_exited_may_be_killed() {
    current_thread().block_on(async {
        let mut child = sh("exit 5").spawn().unwrap();
        wait_until_exited(child.id().unwrap());
        child.start_kill().unwrap();
        child.kill().await.unwrap();
        assert_eq!(child.wait().await.unwrap().code(), Some(5), "it was too late to kill it");
    });
}

#[test]
fn start_kill_does_not_wait() {
    current_thread().block_on(async {
        let mut child = cat().spawn().unwrap();
        let pid = child.id().unwrap();
        child.start_kill().unwrap();
        wait_until_exited(pid);
        assert!(children::is_zombie(pid));
        assert_eq!(child.wait().await.unwrap().signal(), Some(libc::SIGKILL));
    });
}

#[test]
fn kill_on_drop_kills_and_leaves_no_zombie() {
    for rt in runtimes() {
        rt.block_on(async {
            let mut command = Command::new("sleep");
            command.arg("1000").kill_on_drop(true);
            assert!(command.get_kill_on_drop());
            let child = command.spawn().unwrap();
            let pid = child.id().unwrap();
            drop(child);
            support::futures::until(|| children::state(pid).is_none()).await;

            // The future of the status, likewise.
            let before = children::all();
            let mut status = Box::pin(command.status());
            assert!(is_pending(status.as_mut()).await);
            let new: Vec<u32> = children::all().difference(&before).copied().collect();
            drop(status);
            support::futures::until(|| new.iter().all(|pid| children::state(*pid).is_none())).await;
        });
    }
}

/// By default a child goes on, and somebody waits for it when it ends.
#[test]
fn a_dropped_child_goes_on() {
    for rt in runtimes() {
        rt.block_on(async {
            let mut child = cat().spawn().unwrap();
            let (pid, input) = (child.id().unwrap(), child.stdin.take());
            drop(child);
            for _ in 0..100 {
                assert!(matches!(children::state(pid), Some('R' | 'S' | 'D')));
                heist::task::yield_now().await;
            }
            drop(input);
            support::futures::until(|| children::state(pid).is_none()).await;
        });
    }
}

#[test]
fn many_children_at_once() {
    for rt in [current_thread(), runtime(2)] {
        rt.block_on(async {
            let wait = |code: u8| {
                let mut child =
                    sh(&format!("read line; exit {code}")).stdin(Stdio::piped()).spawn().unwrap();
                let pid = child.id().unwrap();
                heist::spawn(async move {
                    assert_eq!(child.wait().await.unwrap().code(), Some(code.into()));
                    pid
                })
            };
            let waiting: Vec<_> = (0..200).map(wait).collect();
            for task in waiting {
                let pid = task.await.unwrap();
                assert_eq!(children::state(pid), None);
            }
        });
    }
}

#[test]
fn a_program_that_does_not_exist_is_an_error() {
    current_thread().block_on(async {
        let mut command = Command::new("/no/such/program");
        let not_found = std::io::ErrorKind::NotFound;
        assert_eq!(command.spawn().unwrap_err().kind(), not_found);
        assert_eq!(command.status().await.unwrap_err().kind(), not_found);
        assert_eq!(command.output().await.unwrap_err().kind(), not_found);
        assert_eq!(
            Command::new("/").spawn().unwrap_err().kind(),
            std::io::ErrorKind::PermissionDenied
        );
    });
}

#[test]
fn without_io_it_panics_and_starts_nothing() {
    let message = |f: &dyn Fn()| {
        let payload = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
        payload.downcast_ref::<String>().cloned().unwrap()
    };
    let file = std::env::temp_dir().join(format!("heist-nothing-{}", std::process::id()));
    let start = |api: &str| {
        let mut command = Command::new("touch");
        command.arg(&file);
        match api {
            "Command::spawn" => drop(command.spawn()),
            "Command::status" => drop(command.status()),
            _ => drop(command.output()),
        }
    };
    let without_io = Builder::new_current_thread().enable_time().build().unwrap();
    for api in ["Command::spawn", "Command::status", "Command::output"] {
        let said = message(&|| start(api));
        assert!(said.starts_with(api), "{said}");
        let said = message(&|| without_io.block_on(async { start(api) }));
        assert!(said.starts_with(api) && said.contains("enable_io"), "{said}");
    }
    let after = std::process::Command::new("true").status().unwrap();
    assert!(after.success() && !file.exists());
}

/// A child may be awaited in another runtime than the one that started it, also if that is gone.
#[test]
fn a_child_outlives_its_runtime() {
    let start = |rt: &Runtime| {
        let _entered = rt.enter();
        let mut child = cat().spawn().unwrap();
        let input = child.stdin.take();
        (child, input)
    };
    for (first, second) in [(runtime(1), current_thread()), (current_thread(), runtime(1))] {
        let (mut child, input) = start(&first);
        second.block_on(async { assert!(is_pending(pin!(child.wait())).await) });
        drop(first);
        second.block_on(async { assert!(is_pending(pin!(child.wait())).await) });
        drop(input);
        assert!(second.block_on(child.wait()).unwrap().success());
        let (mut child, input) = start(&second);
        drop(second);
        // The child runs on as long as there is input, and an end would be no error.
        let error = wait_in_no_runtime(&mut child).unwrap_err();
        assert!(heist::runtime::is_rt_shutdown_err(&error), "{error}");
        drop(input);
        assert!(current_thread().block_on(child.wait()).unwrap().success());
    }
}

/// Polls in no runtime until it is ready.
fn wait_in_no_runtime(
    child: &mut heist::process::Child,
) -> std::io::Result<std::process::ExitStatus> {
    let mut wait = pin!(child.wait());
    loop {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        if let Poll::Ready(result) = wait.as_mut().poll(&mut cx) {
            return result;
        }
        std::thread::yield_now();
    }
}

/// L3: a child's exit is told though the only worker is stuck in a task.
#[test]
fn l3_an_exit_is_told_beside_a_stuck_worker() {
    use std::io::{Read, Write};
    let rt = runtime(1);
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let (mut child, input) = rt.block_on(async {
        let mut child = cat().spawn().unwrap();
        let input = child.stdin.take();
        (child, input)
    });
    let waits = rt.spawn(async move {
        child.wait().await.unwrap();
        writer.write_all(&[1]).unwrap();
    });
    let stuck = rt.spawn(async move {
        drop(input);
        reader.read_exact(&mut [0]).unwrap();
    });
    rt.block_on(async { (waits.await.unwrap(), stuck.await.unwrap()) });
}

/// Somebody else waits for our child: then nobody knows how it ended.
#[test]
fn a_status_that_somebody_else_has_taken_is_an_error() {
    for rt in runtimes() {
        rt.block_on(async {
            let mut child = cat().spawn().unwrap();
            let pid = child.id().unwrap();
            let input = child.stdin.take();
            let mut wait = pin!(child.wait());
            assert!(is_pending(wait.as_mut()).await);
            drop(input);
            let id = rustix::process::Pid::from_raw(pid as i32);
            rustix::process::waitpid(id, rustix::process::WaitOptions::empty()).unwrap();
            let error = wait.await.unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::ECHILD));
        });
    }
}

/// W9: each wait takes one unit of the budget.
#[test]
fn w9_wait_takes_budget() {
    let rt = current_thread();
    let ready = rt.block_on(async {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().await.unwrap();
        let count = async move {
            let mut ready = 0;
            for _ in 0..200 {
                ready += usize::from(!is_pending(pin!(child.wait())).await);
            }
            ready
        };
        heist::spawn(count).await.unwrap()
    });
    assert_eq!(ready, 128);
}
