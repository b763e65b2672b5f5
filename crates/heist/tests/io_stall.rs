//! I/O and timers beside workers that are stuck or have stepped aside (L3): the reactor goes with
//! the seat, and where nobody sits somebody looks.
//!
//! Nothing here is decided by the clock: what must happen is waited for, however long it takes.

use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::{TcpListener, TcpStream};
use heist::runtime::{Builder, Runtime};
use heist::task::{JoinHandle, block_in_place};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

fn runtime(workers: usize, is_watched: bool) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all();
    if !is_watched {
        builder.stall_threshold(None);
    }
    builder.build().unwrap()
}

/// Sends back what comes.
async fn echo(mut stream: TcpStream) {
    let mut buffer = [0; 64];
    loop {
        match stream.read(&mut buffer).await.unwrap() {
            0 => return,
            count => stream.write_all(&buffer[..count]).await.unwrap(),
        }
    }
}

/// A server on this runtime; its address.
fn serve(rt: &Runtime) -> SocketAddr {
    let listener = rt.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    rt.spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            heist::spawn(echo(stream));
        }
    });
    address
}

/// A plain client, on a thread that is no worker's.
struct Client(std::net::TcpStream);

impl Client {
    fn connect(address: SocketAddr) -> Client {
        let mut client = Client(std::net::TcpStream::connect(address).unwrap());
        client.ping(0);
        client
    }

    fn ping(&mut self, number: u8) {
        self.0.write_all(&[number]).unwrap();
        let mut reply = [0];
        self.0.read_exact(&mut reply).unwrap();
        assert_eq!(reply, [number]);
    }
}

/// Connections that were served before, and new ones, are served while `block` goes on in a task on
/// each worker.
fn served_beside(
    workers: usize,
    is_watched: bool,
    block: impl Fn() + Send + Sync + 'static,
    let_go: impl FnOnce(),
) {
    let rt = runtime(workers, is_watched);
    let address = serve(&rt);
    let mut clients: Vec<Client> = (0..8).map(|_| Client::connect(address)).collect();
    let block = Arc::new(block);
    let (begun, begins) = mpsc::channel();
    let stuck: Vec<JoinHandle<()>> = (0..workers)
        .map(|_| {
            let (block, begun) = (Arc::clone(&block), begun.clone());
            rt.spawn(async move {
                begun.send(()).unwrap();
                block();
            })
        })
        .collect();
    (0..workers).for_each(|_| begins.recv().unwrap());
    for number in 1..4 {
        clients.iter_mut().for_each(|client| client.ping(number));
    }
    Client::connect(address).ping(4);
    assert!(stuck.iter().all(|task| !task.is_finished()), "they are let go below");
    let_go();
    stuck.into_iter().for_each(|task| rt.block_on(task).unwrap());
    clients.iter_mut().for_each(|client| client.ping(5));
}

/// L3: blocked in a system call, and found by sysmon.
#[test]
fn l3_served_beside_workers_that_wait_for_a_lock() {
    for workers in [1, 2, 4] {
        let lock = Arc::new(Mutex::new(()));
        let held = Arc::clone(&lock);
        let guard = held.lock().unwrap();
        served_beside(workers, true, move || drop(lock.lock().unwrap()), || drop(guard));
    }
}

/// L3: burning CPU.
#[test]
fn l3_served_beside_workers_that_burn() {
    for workers in [1, 2] {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let burn = move || while !seen.load(Ordering::Relaxed) {};
        served_beside(workers, true, burn, || is_over.store(true, Ordering::Relaxed));
    }
}

/// L3, L5: the seat is given away by the worker itself; nobody watches for stalls, so the guard
/// must see what comes.
#[test]
fn l3_served_beside_workers_that_step_aside() {
    for workers in [1, 2, 4] {
        let lock = Arc::new(Mutex::new(()));
        let held = Arc::clone(&lock);
        let guard = held.lock().unwrap();
        let block = move || block_in_place(|| drop(lock.lock().unwrap()));
        served_beside(workers, false, block, || drop(guard));
    }
}

/// L3: a source that is registered after its reactor was left, by a thread that has no seat.
#[test]
fn l3_a_registration_at_a_vacant_seat() {
    let rt = runtime(1, false);
    let (begun, begins) = mpsc::channel();
    let (let_go, wait) = mpsc::channel::<()>();
    let stuck = rt.spawn(async move {
        begun.send(()).unwrap();
        block_in_place(|| wait.recv().unwrap());
    });
    begins.recv().unwrap();
    let listener = rt.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let client = thread::spawn(move || drop(std::net::TcpStream::connect(address).unwrap()));
    let (mut stream, _) = rt.block_on(listener.accept()).unwrap();
    assert_eq!(rt.block_on(stream.read(&mut [0])).unwrap(), 0, "the client has gone");
    client.join().unwrap();
    let_go.send(()).unwrap();
    rt.block_on(stuck).unwrap();
}

/// L3, L6: a worker that steps aside again and again, beside requests.
#[test]
fn l3_stepping_aside_beside_requests() {
    for is_watched in [false, true] {
        let rt = runtime(2, is_watched);
        let address = serve(&rt);
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let stepping = rt.spawn(async move {
            while !seen.load(Ordering::Relaxed) {
                block_in_place(thread::yield_now);
                heist::task::yield_now().await;
            }
        });
        let mut clients: Vec<Client> = (0..4).map(|_| Client::connect(address)).collect();
        for number in 0..=255 {
            clients.iter_mut().for_each(|client| client.ping(number));
        }
        is_over.store(true, Ordering::Relaxed);
        rt.block_on(stepping).unwrap();
    }
}

/// W1, F3: a worker that always has something to run still looks at its reactor.
#[test]
fn w1_a_worker_that_never_rests_serves_its_sockets() {
    for is_pinned in [false, true] {
        let rt = runtime(1, false);
        let address = serve(&rt);
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let busy = async move {
            while !seen.load(Ordering::Relaxed) {
                heist::task::yield_now().await;
            }
        };
        let busy = if is_pinned { rt.spawn_pinned(|| busy) } else { rt.spawn(busy) };
        let mut client = Client::connect(address);
        (0..100).for_each(|number| client.ping(number));
        is_over.store(true, Ordering::Relaxed);
        rt.block_on(busy).unwrap();
    }
}
