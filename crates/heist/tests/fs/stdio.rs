//! The standard streams. Each test runs this program once more, with its streams in hand, and as a
//! part that `child` plays.

use crate::held::{Held, cancel, poll_once, runtime_with_one_blocking_thread};
use heist::io::{self, AsyncReadExt, AsyncWriteExt, BufReader};
use heist::runtime::{Builder, Runtime, is_rt_shutdown_err};
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, ExitStatus, Stdio, exit};
use std::task::Poll;

const PART: &str = "HEIST_STDIO_PART";
/// What a part returns whose assertions have held.
const GOOD: i32 = 42;

/// Runs in the other process only.
#[test]
fn child() {
    let Ok(part) = std::env::var(PART) else { return };
    let part = PARTS.iter().find(|(name, _)| *name == part).unwrap().1;
    let good = catch_unwind(part).is_ok();
    // Not by way of the test harness, which would write to what may be closed.
    exit(if good { GOOD } else { 1 });
}

const PARTS: [(&str, fn()); 8] = [
    ("echo", echo),
    ("both outputs", both_outputs),
    ("down", down),
    ("vectored", vectored),
    ("broken pipe", broken_pipe),
    ("cancelled read", cancelled_read),
    ("budget", budget),
    ("leaves a read behind", leaves_a_read_behind),
];

fn start(part: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["stdio::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(PART, part)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[track_caller]
fn assert_good(status: ExitStatus, child: &str) {
    assert_eq!(status.code(), Some(GOOD), "{child}");
}

/// Runs a part with this input; returns what it wrote to both outputs. The test harness writes a
/// line to the first before it begins.
#[track_caller]
fn run(part: &str, input: &[u8]) -> (Vec<u8>, String) {
    let mut child = start(part);
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input).unwrap());
        child.wait_with_output().unwrap()
    });
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_good(output.status, &stderr);
    (output.stdout, stderr)
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn echo() {
    runtime().block_on(async {
        let (mut stdin, mut stdout) = (io::stdin(), io::stdout());
        io::copy(&mut stdin, &mut stdout).await.unwrap();
        assert_eq!(stdin.read(&mut [0; 4]).await.unwrap(), 0, "the end stays the end");
        stdout.flush().await.unwrap();
    });
}

#[test]
fn what_comes_in_goes_out() {
    let input: Vec<u8> = (0..3_000_000u32).map(|number| ((number * 7) >> 3) as u8).collect();
    let (stdout, _) = run("echo", &input);
    assert!(stdout.ends_with(&input));
}

fn both_outputs() {
    runtime().block_on(async {
        let (mut stdout, mut stderr) = (io::stdout(), io::stderr());
        assert_eq!((stdout.as_raw_fd(), stderr.as_raw_fd()), (1, 2));
        assert_eq!(io::stdin().as_raw_fd(), 0);
        stdout.write_all(b"<out without an end of line>").await.unwrap();
        stderr.write_all(b"<err>").await.unwrap();
        stderr.flush().await.unwrap();
        // Flushes: the rest of this process writes nothing.
        stdout.shutdown().await.unwrap();
    });
    // SAFETY: (FFI) it ends the process, without what the standard library does at its end.
    unsafe { libc::_exit(GOOD) };
}

#[test]
fn both_outputs_are_written_to() {
    let (stdout, stderr) = run("both outputs", b"");
    assert!(stdout.ends_with(b"<out without an end of line>"));
    assert!(stderr.contains("<err>"), "{stderr}");
}

/// More than one operation may write, in slices.
fn vectored() {
    runtime().block_on(async {
        let mut stdout = io::stdout();
        assert!(io::AsyncWrite::is_write_vectored(&stdout));
        let half = vec![b'a'; 1024 * 1024 + 1];
        let slices = [IoSlice::new(&half), IoSlice::new(b""), IoSlice::new(&half)];
        assert_eq!(stdout.write_vectored(&slices).await.unwrap(), 2 * 1024 * 1024);
        stdout.write_all(b"<end>").await.unwrap();
        stdout.flush().await.unwrap();
    });
}

#[test]
fn a_write_takes_as_much_as_one_operation_may() {
    let (stdout, _) = run("vectored", b"");
    assert!(stdout.ends_with(b"a<end>"));
    let count = stdout.iter().rev().skip(5).take_while(|byte| **byte == b'a').count();
    assert_eq!(count, 2 * 1024 * 1024);
}

/// What was accepted waits for the only thread when the runtime goes down.
fn down() {
    let rt = runtime_with_one_blocking_thread();
    let held = Held::begin(rt.handle());
    let mut stderr = io::stderr();
    rt.block_on(stderr.write_all(b"<accepted>")).unwrap();
    let closure = rt.spawn_blocking(|| {});
    let release = std::thread::spawn(move || {
        while !closure.is_finished() {
            std::thread::yield_now();
        }
        held.release();
    });
    let handle = rt.handle().clone();
    drop(rt);
    release.join().unwrap();
    for _ in 0..2 {
        let error = handle.block_on(stderr.write_all(b"<refused>")).unwrap_err();
        assert!(is_rt_shutdown_err(&error), "{error}");
        let error = handle.block_on(stderr.flush()).unwrap_err();
        assert!(is_rt_shutdown_err(&error), "{error}");
    }
    let mut stdin = io::stdin();
    for _ in 0..2 {
        let error = handle.block_on(stdin.read(&mut [0; 4])).unwrap_err();
        assert!(is_rt_shutdown_err(&error), "{error}");
    }
}

#[test]
fn what_was_accepted_is_written_though_the_runtime_goes_down() {
    let (_, stderr) = run("down", b"");
    assert!(stderr.contains("<accepted>") && !stderr.contains("<refused>"), "{stderr}");
}

fn broken_pipe() {
    std::io::stderr().write_all(b"<ready>").unwrap();
    // Until the other end of what is written to is closed.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    runtime().block_on(async {
        let mut stdout = io::stdout();
        assert_eq!(stdout.write(b"a line\n").await.unwrap(), 7);
        assert_eq!(stdout.write(b"a line\n").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(stdout.write(b"a line\n").await.unwrap(), 7);
        assert_eq!(stdout.flush().await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_failed_write_is_reported_by_the_next_write_or_flush() {
    let mut child = start("broken pipe");
    // By then the test harness has written what it writes.
    wait_for(&mut child, "<ready>");
    drop(child.stdout.take());
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert_good(output.status, &String::from_utf8_lossy(&output.stderr));
}

fn cancelled_read() {
    let rt = runtime();
    let _entered = rt.enter();
    let mut stdin = BufReader::with_capacity(1, io::stdin());
    cancel(stdin.get_mut().read(&mut [0; 64]));
    std::io::stderr().write_all(b"<cancelled>").unwrap();
    let text = rt.block_on(async {
        let mut text = [0; 5];
        stdin.read_exact(&mut text).await.unwrap();
        text
    });
    assert_eq!(&text, b"hello");
}

#[test]
fn what_a_cancelled_read_has_read_is_given_to_the_next() {
    let mut child = start("cancelled read");
    wait_for(&mut child, "<cancelled>");
    child.stdin.as_mut().unwrap().write_all(b"hello").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_good(output.status, &String::from_utf8_lossy(&output.stderr));
}

/// Waits until the child has written `words` to its standard error.
fn wait_for(child: &mut Child, words: &str) {
    let (stderr, mut said) = (child.stderr.as_mut().unwrap(), Vec::new());
    while !String::from_utf8_lossy(&said).contains(words) {
        let mut byte = [0];
        assert_eq!(stderr.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&said));
        said.push(byte[0]);
    }
}

/// What is there already takes its part of the budget (W9).
fn budget() {
    let rt = runtime();
    let mut stdin = io::stdin();
    {
        let _entered = rt.enter();
        cancel(stdin.read(&mut [0; 1000]));
    }
    std::io::stderr().write_all(b"<ready>").unwrap();
    rt.block_on(async {
        let count = std::cell::Cell::new(0);
        let mut reading = std::pin::pin!(async {
            loop {
                stdin.read_exact(&mut [0]).await.unwrap();
                count.set(count.get() + 1);
            }
        });
        while count.get() == 0 {
            let first = std::future::poll_fn(|cx| {
                let _: Poll<()> = reading.as_mut().poll(cx);
                Poll::Ready(())
            });
            first.await;
            heist::task::yield_now().await;
        }
        assert_eq!(count.get(), 128);
    });
}

#[test]
fn reading_what_is_there_already_spends_the_budget() {
    let mut child = start("budget");
    wait_for(&mut child, "<ready>");
    child.stdin.as_mut().unwrap().write_all(&[b'x'; 1000]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_good(output.status, &String::from_utf8_lossy(&output.stderr));
}

/// Nothing comes in, and nobody waits for it.
fn leaves_a_read_behind() {
    let rt = runtime();
    {
        let _entered = rt.enter();
        cancel(io::stdin().read(&mut [0; 4]));
    }
    rt.shutdown_background();
}

#[test]
fn a_read_that_nothing_comes_for_can_be_left_behind() {
    let mut child = start("leaves a read behind");
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert_good(output.status, &String::from_utf8_lossy(&output.stderr));
    drop(stdin);
}

#[test]
fn without_a_runtime_it_panics_and_says_what_needs_one() {
    let text = |call: &mut dyn FnMut()| {
        let payload = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        payload.downcast::<String>().map(|text| *text).unwrap()
    };
    let mut stdout = io::stdout();
    let texts = [
        text(&mut || drop(poll_once(io::stdin().read(&mut [0; 4])))),
        text(&mut || drop(poll_once(stdout.write(b"abc")))),
        text(&mut || drop(poll_once(io::stderr().write(b"abc")))),
    ];
    for (text, name) in texts.iter().zip(["Stdin", "Stdout", "Stderr"]) {
        assert!(text.contains(name) && text.contains("no runtime"), "{text}");
    }
}
