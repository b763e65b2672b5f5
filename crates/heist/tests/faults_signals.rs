//! System calls that are interrupted: a storm of signals, whose handler does not have them
//! restarted, over all threads of a runtime that is busy. And writes to sockets, which raise none.

mod support;

use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use heist::process::Command;
use heist_testing::{Rng, scaled};
use std::io::{ErrorKind, Read, Write};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use support::runtime;

/// A signal that nobody else uses.
const NUISANCE: i32 = libc::SIGURG;

static INTERRUPTIONS: AtomicUsize = AtomicUsize::new(0);
static BROKEN_PIPES: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count(signal: libc::c_int) {
    let counter = if signal == NUISANCE { &INTERRUPTIONS } else { &BROKEN_PIPES };
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Counts this signal, and makes it interrupt whatever its thread waits for.
fn install(signal: libc::c_int) {
    // SAFETY: (type) all zeros is a valid value: no flags, so no SA_RESTART, and an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = count as extern "C" fn(libc::c_int) as usize;
    // SAFETY: (FFI) the handler adds to an atomic, which a handler may do.
    let done = unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
    assert_eq!(done, 0);
}

/// All threads but the caller's.
fn others() -> Vec<i32> {
    // SAFETY: (FFI) it takes nothing.
    let own = unsafe { libc::gettid() };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let ids = tasks.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|id| *id != own).collect()
}

/// Interrupts all other threads again and again.
fn storm(is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        for thread in others() {
            let process = std::process::id();
            // SAFETY: (FFI) it takes any number; a thread that has ended is an error.
            unsafe { libc::syscall(libc::SYS_tgkill, process, thread, NUISANCE) };
        }
        thread::yield_now();
    }
}

/// There and back, with another size each time.
async fn echo_tcp(number: u64) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = heist::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        stream.write_all(&all).await.unwrap();
    });
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut rng = Rng::for_thread(number);
    let sent: Vec<u8> = (0..1 + rng.below(500_000)).map(|_| rng.next_u64() as u8).collect();
    stream.write_all(&sent).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut back = Vec::new();
    stream.read_to_end(&mut back).await.unwrap();
    assert!(back == sent);
    server.await.unwrap();
}

async fn echo_udp() {
    let one = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let other = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    one.connect(other.local_addr().unwrap()).await.unwrap();
    other.connect(one.local_addr().unwrap()).await.unwrap();
    for number in 0..20u8 {
        one.send(&[number]).await.unwrap();
        let mut byte = [0];
        other.recv(&mut byte).await.unwrap();
        assert_eq!(byte, [number]);
    }
}

/// Blocking threads wait in a read, which the standard library begins again.
async fn blocking_pipe() {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let (mut reader, mut writer) = (std::fs::File::from(reader), std::fs::File::from(writer));
    let reads = heist::task::spawn_blocking(move || {
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        all
    });
    for _ in 0..10 {
        heist::task::yield_now().await;
        writer.write_all(b"0123456789").unwrap();
    }
    drop(writer);
    assert_eq!(reads.await.unwrap().len(), 100);
}

async fn child() {
    let mut command = Command::new("cat");
    let mut cat = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = cat.stdin.take().unwrap();
    input.write_all(b"through a child").await.unwrap();
    drop(input);
    let output = cat.wait_with_output().await.unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"through a child");
}

async fn time() {
    let begin = std::time::Instant::now();
    let pause = std::time::Duration::from_millis(3);
    heist::time::sleep(pause).await;
    assert!(begin.elapsed() >= pause, "a signal has ended a sleep");
}

#[test]
fn interrupted_system_calls_go_unnoticed() {
    install(NUISANCE);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| storm(&is_over));
        let rt = runtime(2);
        let rounds = scaled(30);
        let tasks: Vec<_> = (0..4)
            .map(|number| {
                rt.spawn(async move {
                    for round in 0..rounds {
                        echo_tcp(number * rounds + round).await;
                        echo_udp().await;
                        blocking_pipe().await;
                        time().await;
                        if round % 4 == 0 {
                            child().await;
                        }
                    }
                })
            })
            .collect();
        // Before the storm ends: the scope waits for it.
        let results: Vec<_> = tasks.into_iter().map(|task| rt.block_on(task)).collect();
        // A runtime goes down in the middle of it.
        drop(rt);
        is_over.store(true, Ordering::Relaxed);
        results.into_iter().for_each(Result::unwrap);
    });
    assert!(INTERRUPTIONS.load(Ordering::Relaxed) > 0);
}

/// Where a program has ended what Rust does by default, which is to ignore SIGPIPE.
#[test]
fn a_write_that_reaches_nobody_raises_no_signal() {
    install(libc::SIGPIPE);
    runtime(1).block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut tcp = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        tcp.shutdown().await.unwrap();
        assert_eq!(tcp.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);

        let (mut unix, peer) = UnixStream::pair().unwrap();
        drop(peer);
        assert_eq!(unix.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
    assert_eq!(BROKEN_PIPES.load(Ordering::Relaxed), 0);
}
