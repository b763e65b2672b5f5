//! The pipes of children: streams of megabytes, ends of input, broken pipes, conversions.

use crate::support::runtime;
use heist::io::{AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use heist::process::{ChildStdin, ChildStdout, Command};
use heist::runtime::{Builder, Runtime};
use rustix::fs::{OFlags, fcntl_getfl};
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::pin::Pin;
use std::process::Stdio;
use std::task::Poll;

const MEGABYTES: usize = 4 << 20;

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

/// Bytes that are different everywhere.
fn bytes(len: usize) -> Vec<u8> {
    let mut random = heist_testing::Rng::new(heist_testing::seed());
    (0..len.div_ceil(8)).flat_map(|_| random.next_u64().to_ne_bytes()).take(len).collect()
}

/// Both directions at once, many times what fits into a pipe.
#[test]
fn megabytes_go_through_a_child() {
    for rt in runtimes() {
        rt.block_on(async {
            let mut cat =
                Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let (mut to, mut from) = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap());
            let sent = bytes(MEGABYTES);
            let sends = {
                let sent = sent.clone();
                heist::spawn(async move { to.write_all(&sent).await.unwrap() })
            };
            let mut received = Vec::new();
            from.read_to_end(&mut received).await.unwrap();
            sends.await.unwrap();
            assert!(received == sent);
            assert!(cat.wait().await.unwrap().success());
        });
    }
}

/// Many children at once, each with pieces of odd sizes.
#[test]
fn many_children_stream_at_once() {
    let rt = runtime(2);
    let stream = |number: usize| {
        rt.spawn(async move {
            let mut command = Command::new("cat");
            let mut cat = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut to = cat.stdin.take().unwrap();
            let sent = bytes(100_000 + number);
            let writes = async {
                for piece in sent.chunks(997 + 131 * number) {
                    to.write_all(piece).await.unwrap();
                }
                drop(to);
            };
            let (output, ()) = heist::join!(cat.wait_with_output(), writes);
            assert!(output.unwrap().stdout == sent);
        })
    };
    let tasks: Vec<_> = (0..30).map(stream).collect();
    tasks.into_iter().for_each(|task| rt.block_on(task).unwrap());
}

#[test]
fn output_has_both_streams_however_long() {
    for rt in runtimes() {
        rt.block_on(async {
            // The child writes to both in turn: reading one to its end first would take forever.
            let script = "i=0; while [ $i -lt 3000 ]; do \
                          echo 'a line that goes to standard output, and another one' ; \
                          echo 'this one goes to standard error, to be told apart' >&2 ; \
                          i=$((i+1)); done; exit 4";
            let output = sh(script).output().await.unwrap();
            assert_eq!(output.status.code(), Some(4));
            let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
            assert_eq!((lines(&output.stdout), lines(&output.stderr)), (3000, 3000));
            assert!(output.stdout.starts_with(b"a line") && output.stderr.starts_with(b"this one"));
        });
    }
}

/// What is not piped is not there.
#[test]
fn pipes_are_there_if_they_were_asked_for() {
    current_thread().block_on(async {
        let mut command = sh("echo out; echo error >&2");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        assert!(child.stdin.is_none() && child.stdout.is_none());
        let mut text = String::new();
        child.stderr.take().unwrap().read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "error\n");
        let output = child.wait_with_output().await.unwrap();
        assert!(output.stdout.is_empty() && output.stderr.is_empty());
    });
}

/// `status` waits for no pipe: neither for input that nobody sends, nor for output that nobody
/// reads.
#[test]
fn status_closes_the_pipes() {
    current_thread().block_on(async {
        let mut command = sh("cat; yes | head -c 1000000; echo done > /dev/null");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        assert!(command.status().await.unwrap().success());
    });
}

#[test]
fn a_conversation_line_by_line() {
    for rt in runtimes() {
        rt.block_on(async {
            let mut child = sh("while read line; do echo \"<$line>\"; done")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut to = child.stdin.take().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            for number in 0..200 {
                to.write_all(format!("{number}\n").as_bytes()).await.unwrap();
                assert_eq!(lines.next_line().await.unwrap().unwrap(), format!("<{number}>"));
            }
            drop(to);
            assert_eq!(lines.next_line().await.unwrap(), None);
            assert!(child.wait().await.unwrap().success());
        });
    }
}

/// A writer that waits for room is told that there is nobody any more.
#[test]
fn a_reader_that_dies_is_a_broken_pipe() {
    for rt in runtimes() {
        rt.block_on(async {
            let mut child =
                Command::new("sleep").arg("1000").stdin(Stdio::piped()).spawn().unwrap();
            let mut to = child.stdin.take().unwrap();
            let writes = heist::spawn(async move {
                loop {
                    if let Err(error) = to.write_all(&[0; 8192]).await {
                        return error.kind();
                    }
                }
            });
            heist::task::yield_now().await;
            child.kill().await.unwrap();
            assert_eq!(writes.await.unwrap(), ErrorKind::BrokenPipe);
        });
    }
}

#[test]
fn several_buffers_are_written_at_once() {
    current_thread().block_on(async {
        let mut command = Command::new("cat");
        let mut cat = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut to = cat.stdin.take().unwrap();
        assert!(to.is_write_vectored());
        let parts = [IoSlice::new(b"one "), IoSlice::new(b""), IoSlice::new(b"two")];
        assert_eq!(to.write_vectored(&parts).await.unwrap(), 7);
        to.flush().await.unwrap();
        to.shutdown().await.unwrap();
        drop(to);
        assert_eq!(cat.wait_with_output().await.unwrap().stdout, b"one two");
    });
}

fn blocks(pipe: &impl AsFd) -> bool {
    !fcntl_getfl(pipe).unwrap().contains(OFlags::NONBLOCK)
}

/// The child's ends block, as programs expect; ours do not, until they are given away.
#[test]
fn only_our_ends_do_not_block() {
    current_thread().block_on(async {
        // The third field of fdinfo has the flags, in octal; 04000 is O_NONBLOCK.
        let script = "for fd in 0 1 2; do grep flags /proc/self/fdinfo/$fd; done";
        let mut child = sh(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let to: ChildStdin = child.stdin.take().unwrap();
        let errors = child.stderr.take().unwrap();
        assert!(!blocks(&to) && !blocks(child.stdout.as_ref().unwrap()) && !blocks(&errors));
        assert_eq!(to.as_raw_fd(), to.as_fd().as_raw_fd());
        let to: OwnedFd = to.into_owned_fd().unwrap();
        let errors = errors.into_owned_fd().unwrap();
        assert!(blocks(&to) && blocks(&errors));
        let output = child.wait_with_output().await.unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let flags: Vec<u32> = text
            .lines()
            .map(|line| u32::from_str_radix(line.split_whitespace().nth(1).unwrap(), 8).unwrap())
            .collect();
        assert_eq!(flags.len(), 3, "{text}");
        assert!(flags.iter().all(|flags| flags & OFlags::NONBLOCK.bits() == 0), "{text}");
    });
}

/// From one child to the next, through no hands of ours.
#[test]
fn children_may_be_connected() {
    current_thread().block_on(async {
        let mut first = sh("yes | head -n 50000").stdout(Stdio::piped()).spawn().unwrap();
        let pipe: Stdio = first.stdout.take().unwrap().try_into().unwrap();
        let mut second =
            Command::new("wc").arg("-l").stdin(pipe).stdout(Stdio::piped()).spawn().unwrap();
        assert!(first.wait().await.unwrap().success());
        let mut text = String::new();
        second.stdout.take().unwrap().read_to_string(&mut text).await.unwrap();
        assert_eq!(text.trim(), "50000");
        assert!(second.wait().await.unwrap().success());

        // The other way about: a child that writes to the input of another.
        let mut last =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let pipe: Stdio = last.stdin.take().unwrap().try_into().unwrap();
        assert!(Command::new("echo").arg("hello").stdout(pipe).status().await.unwrap().success());
        assert_eq!(last.wait_with_output().await.unwrap().stdout, b"hello\n");
    });
}

/// Pipes of a child that the standard library has started.
#[test]
fn pipes_of_the_standard_library_can_be_taken_over() {
    current_thread().block_on(async {
        let mut command = std::process::Command::new("cat");
        let mut cat = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut to = ChildStdin::from_std(cat.stdin.take().unwrap()).unwrap();
        let mut from = ChildStdout::from_std(cat.stdout.take().unwrap()).unwrap();
        let mut reply = [0; 5];
        to.write_all(b"hello").await.unwrap();
        from.read_exact(&mut reply).await.unwrap();
        assert_eq!(&reply, b"hello");
        // And given back: they block again.
        let mut to = std::fs::File::from(to.into_owned_fd().unwrap());
        let mut from = std::fs::File::from(from.into_owned_fd().unwrap());
        to.write_all(b"again").unwrap();
        from.read_exact(&mut reply).unwrap();
        assert_eq!(&reply, b"again");
        drop(to);
        assert!(cat.wait().unwrap().success());
    });
}

/// A pipe whose runtime has gone says so, and can be given away.
#[test]
fn pipes_after_shutdown() {
    let rt = runtime(1);
    let mut child = rt.block_on(async {
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    });
    let mut from = child.stdout.take().unwrap();
    drop(rt);
    let error = current_thread().block_on(from.read(&mut [0])).unwrap_err();
    assert!(heist::runtime::is_rt_shutdown_err(&error), "{error}");
    let mut from = std::fs::File::from(from.into_owned_fd().unwrap());
    drop(child.stdin.take());
    assert_eq!(from.read(&mut [0]).unwrap(), 0);
    current_thread().block_on(child.wait()).unwrap();
}

/// A read that is dropped takes no bytes along.
#[test]
fn a_cancelled_read_loses_nothing() {
    current_thread().block_on(async {
        let mut command = Command::new("cat");
        let mut cat = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut to, mut from) = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap());
        for number in 0..50u8 {
            {
                let mut byte = [0];
                let mut read = Box::pin(from.read(&mut byte));
                let is_pending =
                    poll_fn(|cx| Poll::Ready(Pin::new(&mut read).poll(cx).is_pending())).await;
                assert!(is_pending);
                to.write_all(&[number]).await.unwrap();
            }
            assert_eq!(from.read_u8().await.unwrap(), number);
        }
        drop(to);
        assert_eq!(from.read_u8().await.unwrap_err().kind(), ErrorKind::UnexpectedEof);
        let status: io::Result<_> = cat.wait().await;
        assert!(status.unwrap().success());
    });
}
