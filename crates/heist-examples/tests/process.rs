//! What concerns the whole process: its threads and its file descriptors. One test after the other.

use axum::Router;
use axum::routing::get;
use heist::hyper::serve;
use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::{TcpListener, TcpStream};
use heist::runtime::Builder;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::{self, File};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many threads of companions there are.
fn companions() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok());
    names.filter(|name| name.trim() == "heist-tokio").count()
}

#[test]
fn a_companion_is_one_thread_if_it_is_enabled() {
    let _alone = alone();
    // That of the other test ends in the background.
    while companions() > 0 {
        std::thread::yield_now();
    }
    let plain = Builder::new_multi_thread().enable_io().enable_time().build().unwrap();
    plain.block_on(plain.spawn(async {})).unwrap();
    assert_eq!(companions(), 0);
    let full = Builder::new_multi_thread().enable_all().build().unwrap();
    // Its thread gives itself its name.
    while companions() < 1 {
        std::thread::yield_now();
    }
    drop(full);
    while companions() > 0 {
        std::thread::yield_now();
    }
}

async fn ask(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

/// EMFILE: a connection waits until files are closed, and is served then. The client's descriptor
/// is there before the last ones are taken.
#[test]
fn a_server_without_file_descriptors_goes_on_when_there_are_some() {
    let _alone = alone();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(|| async { "hello" }));
        heist::spawn(serve(listener, router).into_future());
        assert!(ask(address).await.unwrap().ends_with("hello"));

        setrlimit(Resource::Nofile, Rlimit { current: Some(256), ..getrlimit(Resource::Nofile) })
            .unwrap();
        for _ in 0..3 {
            let socket = heist::net::TcpSocket::new_v4().unwrap();
            let mut files = Vec::new();
            while let Ok(file) = File::open("/dev/null") {
                files.push(file);
            }
            let mut waiting = socket.connect(address).await.unwrap();
            waiting.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
            // Accepting has failed by the time that the system has nothing else to do, several
            // times.
            heist::time::sleep(std::time::Duration::from_millis(30)).await;
            drop(files);
            let mut answer = String::new();
            waiting.read_to_string(&mut answer).await.unwrap();
            assert!(answer.ends_with("hello"), "{answer}");
        }
        assert!(ask(address).await.unwrap().ends_with("hello"));
    });
}
