//! A process that forks and goes on without `exec`: parent and child have signals of their own.

mod support;

use heist::runtime::{Builder, Runtime};
use heist::signal::unix::{SignalKind, signal};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::future::poll_fn;
use std::task::Poll;
use support::signals::raise;

const ROUNDS: usize = 2_000;

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Sends itself a signal, and waits for it, again and again. One that is lost is waited for for
/// ever.
fn talk_to_oneself(rt: &Runtime) {
    rt.block_on(async {
        let mut listener = signal(SignalKind::user_defined1()).unwrap();
        for _ in 0..ROUNDS {
            raise(SignalKind::user_defined1());
            listener.recv().await;
        }
    });
}

#[test]
fn parent_and_child_do_not_take_each_others_signals() {
    let rt = current_thread();
    let mut foreign = rt.block_on(async { signal(SignalKind::user_defined2()).unwrap() });
    talk_to_oneself(&rt);
    // SAFETY: (FFI) there are no threads of heist now. The child uses nothing that the thread of
    // the test harness may have locked, and does not return.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // Ended by force if it hangs.
        // SAFETY: (FFI) it takes any number.
        unsafe { libc::alarm(60) };
        raise(SignalKind::user_defined2());
        talk_to_oneself(&current_thread());
        // SAFETY: (FFI) it takes any number.
        unsafe { libc::_exit(7) };
    }
    let child = Pid::from_raw(pid).expect("fork");
    let mut status = None;
    while status.is_none() {
        // Both at once.
        talk_to_oneself(&rt);
        status = waitpid(Some(child), WaitOptions::NOHANG).unwrap();
    }
    assert_eq!(status.unwrap().1.exit_status(), Some(7));
    let is_told = poll_fn(|cx| Poll::Ready(foreign.poll_recv(cx).is_ready()));
    assert!(!rt.block_on(is_told), "the child's signal was told to the parent");
}
