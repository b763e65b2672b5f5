//! What sockets ask of the thread and of what they are given, and what they say if it is not so.

use crate::support::net::TempDir;
use heist::net::unix::pipe;
use heist::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use heist::net::{UnixDatagram, UnixListener, UnixStream};
use heist::runtime::{Builder, Runtime};
use std::future::Future;
use std::net;
use std::os::unix::net as unix;
use std::panic::{self, AssertUnwindSafe};
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Waker};

/// The message of the panic of `act`, and the file it points to.
#[track_caller]
fn panic_of<T>(act: impl FnOnce() -> T) -> (String, String) {
    static HOOK: Mutex<()> = Mutex::new(());
    static SEEN: Mutex<(String, String)> = Mutex::new((String::new(), String::new()));
    let _one_hook = HOOK.lock().unwrap();
    let usual = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or_default().to_owned();
        *SEEN.lock().unwrap() = (message, info.location().unwrap().file().to_owned());
    }));
    let result = panic::catch_unwind(AssertUnwindSafe(|| drop(act())));
    panic::set_hook(usual);
    assert!(result.is_err(), "no panic");
    SEEN.lock().unwrap().clone()
}

/// Polls once, in no runtime.
fn poll<F: Future>(future: F) {
    let _ = pin!(future).poll(&mut Context::from_waker(Waker::noop()));
}

fn without_io() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// Each of these, with its name, needs a runtime.
fn everything(dir: &TempDir) -> Vec<(&'static str, Box<dyn Fn() + '_>)> {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let stream = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    stream.set_nonblocking(true).unwrap();
    let udp = net::UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let (unix_stream, _) = unix::UnixStream::pair().unwrap();
    unix_stream.set_nonblocking(true).unwrap();
    let unix_datagram = unix::UnixDatagram::unbound().unwrap();
    unix_datagram.set_nonblocking(true).unwrap();
    let unix_listener = unix::UnixListener::bind(dir.path("listener")).unwrap();
    unix_listener.set_nonblocking(true).unwrap();
    let tcp = listener.try_clone().unwrap();
    let bound = || {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        socket
    };
    let addr = listener.local_addr().unwrap();
    let again = dir.path("bound");
    vec![
        (
            "TcpListener::from_std",
            Box::new(move || drop(TcpListener::from_std(tcp.try_clone().unwrap()))),
        ),
        ("TcpListener::bind", Box::new(|| poll(TcpListener::bind("127.0.0.1:0")))),
        (
            "TcpStream::from_std",
            Box::new(move || drop(TcpStream::from_std(stream.try_clone().unwrap()))),
        ),
        ("TcpStream::connect", Box::new(move || poll(TcpStream::connect(addr)))),
        ("TcpSocket::listen", Box::new(move || drop(bound().listen(1)))),
        ("TcpSocket::connect", Box::new(move || poll(bound().connect(addr)))),
        (
            "UdpSocket::from_std",
            Box::new(move || drop(UdpSocket::from_std(udp.try_clone().unwrap()))),
        ),
        ("UdpSocket::bind", Box::new(|| poll(UdpSocket::bind("127.0.0.1:0")))),
        (
            "UnixStream::from_std",
            Box::new(move || drop(UnixStream::from_std(unix_stream.try_clone().unwrap()))),
        ),
        ("UnixStream::pair", Box::new(|| drop(UnixStream::pair()))),
        ("UnixStream::connect", Box::new(|| poll(UnixStream::connect(dir.path("listener"))))),
        (
            "UnixListener::from_std",
            Box::new(move || drop(UnixListener::from_std(unix_listener.try_clone().unwrap()))),
        ),
        (
            "UnixListener::bind",
            Box::new(move || {
                let _ = std::fs::remove_file(&again);
                drop(UnixListener::bind(&again));
            }),
        ),
        (
            "UnixDatagram::from_std",
            Box::new(move || drop(UnixDatagram::from_std(unix_datagram.try_clone().unwrap()))),
        ),
        ("UnixDatagram::pair", Box::new(|| drop(UnixDatagram::pair()))),
        ("UnixDatagram::unbound", Box::new(|| drop(UnixDatagram::unbound()))),
        ("pipe", Box::new(|| drop(pipe::pipe()))),
    ]
}

#[test]
fn without_a_runtime_there_is_a_panic_that_says_so() {
    let dir = TempDir::new();
    for (api, act) in everything(&dir) {
        let (message, _) = panic_of(&act);
        assert!(
            message.starts_with(&format!("{api}: there is no runtime on this thread")),
            "{message}"
        );
    }
}

#[test]
fn without_io_there_is_a_panic_that_says_how_to_get_it() {
    let dir = TempDir::new();
    let rt = without_io();
    let _in_it = rt.enter();
    for (api, act) in everything(&dir) {
        let (message, _) = panic_of(&act);
        assert!(message.starts_with(&format!("{api}: this runtime does no I/O")), "{message}");
        assert!(message.contains("enable_io"), "{message}");
    }
}

#[test]
fn a_panic_points_to_the_caller() {
    let dir = TempDir::new();
    for (api, act) in everything(&dir) {
        let (_, file) = panic_of(&act);
        // In an async fn there is no caller to point to.
        let is_async =
            ["::connect", "Listener::bind", "Socket::bind"].iter().any(|end| api.ends_with(end));
        if !is_async || api == "UnixListener::bind" {
            assert_eq!(file, file!(), "{api}");
        }
    }
}

#[test]
fn a_name_cannot_be_looked_up_without_a_runtime() {
    let (message, _) = panic_of(|| poll(heist::net::lookup_host("localhost:80")));
    assert!(message.contains("lookup of a host's name: there is no runtime"), "{message}");
}

/// With debug assertions, as in tests.
#[test]
fn a_socket_that_blocks_is_refused() {
    let rt = crate::support::runtime(1);
    let _in_it = rt.enter();
    let dir = TempDir::new();
    let tcp = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = tcp.local_addr().unwrap();
    let stream = move || net::TcpStream::connect(addr).unwrap();
    let udp = || net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let all: Vec<(&str, (String, String))> = vec![
        ("TcpStream::from_std", panic_of(|| TcpStream::from_std(stream()))),
        ("TcpStream::from_std", panic_of(|| TcpStream::try_from(stream()))),
        ("TcpListener::from_std", panic_of(|| TcpListener::from_std(tcp))),
        ("UdpSocket::from_std", panic_of(|| UdpSocket::from_std(udp()))),
        (
            "UnixStream::from_std",
            panic_of(|| UnixStream::from_std(unix::UnixStream::pair().unwrap().0)),
        ),
        (
            "UnixListener::from_std",
            panic_of(|| UnixListener::from_std(unix::UnixListener::bind(dir.path("x")).unwrap())),
        ),
        (
            "UnixDatagram::from_std",
            panic_of(|| UnixDatagram::from_std(unix::UnixDatagram::unbound().unwrap())),
        ),
    ];
    for (api, (message, file)) in all {
        assert!(message.starts_with(&format!("{api}: the socket blocks")), "{message}");
        assert!(message.contains("set_nonblocking(true)"), "{message}");
        assert_eq!(file, file!());
    }
}
