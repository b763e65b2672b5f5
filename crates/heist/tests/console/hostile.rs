//! Clients that do not mean well, or do not know better. Whatever they do, the console answers
//! others, and the runtime runs.

use crate::client::{Asked, Stream, answer, ask, connect, get, read, start, started, talk};
use heist::console::{Address, Config};
use heist_testing::Rng;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Longer than a well-behaved client needs, and shorter than a hostile one takes.
const SOON: Duration = Duration::from_millis(300);

fn impatient() -> Asked {
    start(|path| Config::unix(path).client_timeout(SOON), |_| {})
}

/// Somebody else is answered, and tasks run.
fn is_well(asked: &Asked) {
    assert_eq!(asked.rt.block_on(asked.rt.spawn(async { 5 })).unwrap(), 5);
    assert!(get(&asked.address, "/").contains("/v1/snapshot"));
}

/// Like [`is_well`], but retries: the console may be full for a moment, or the machine too slow.
fn gets_well(asked: &Asked) {
    assert_eq!(asked.rt.block_on(asked.rt.spawn(async { 5 })).unwrap(), 5);
    while !talk(&asked.address, b"GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200") {}
}

#[test]
fn wrong_requests_are_told_what_is_wrong() {
    let asked = started();
    let status = |request: &str| read(&talk(&asked.address, request.as_bytes())).0;
    assert_eq!(status("GET /nothing HTTP/1.1\r\n\r\n"), 404);
    assert_eq!(status("GET /../etc/passwd HTTP/1.1\r\n\r\n"), 404);
    assert_eq!(status("POST / HTTP/1.1\r\n\r\n"), 405);
    assert_eq!(status("GET / HTTP/3\r\n\r\n"), 400);
    assert_eq!(status("GET\r\n\r\n"), 400);
    for wrong in ["tasks=many", "tasks=-1", "sort=size", "colour=red", "tasks=%zz"] {
        assert_eq!(status(&format!("GET /v1/snapshot?{wrong} HTTP/1.1\r\n\r\n")), 400, "{wrong}");
    }
    let (_, sentence) = ask(&asked.address, "/v1/snapshot?sort=size");
    assert_eq!(sentence, "sort=size: not busy, polls, delay or id\n");
    is_well(&asked);
}

#[test]
fn garbage_does_no_harm() {
    let asked = started();
    let mut rng = Rng::new(heist_testing::seed());
    for _ in 0..heist_testing::scaled(200) {
        let length = rng.below(4000) as usize;
        let mut bytes: Vec<_> = (0..length).map(|_| rng.next_u64() as u8).collect();
        if rng.below(2) == 0 {
            bytes.extend_from_slice(b"\r\n\r\n");
        }
        let mut stream = connect(&asked.address);
        let _ = stream.write_all(&bytes);
        if rng.below(2) == 0 && bytes.ends_with(b"\n\r\n") {
            let status = read(&answer(&mut stream)).0;
            assert!(status == 400 || status == 503, "{status}");
        }
    }
    gets_well(&asked);
}

#[test]
fn a_request_has_its_limits() {
    let asked = started();
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(100_000));
    assert_eq!(read(&talk(&asked.address, long.as_bytes())).0, 413);
    let headers = format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(10_000));
    assert_eq!(read(&talk(&asked.address, headers.as_bytes())).0, 413);
    let endless = "x".repeat(8 * 1024);
    assert_eq!(read(&talk(&asked.address, endless.as_bytes())).0, 413);
    let just = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(8000));
    assert_eq!(read(&talk(&asked.address, just.as_bytes())).0, 200);
    is_well(&asked);
}

/// One byte at a time, and never all of them.
#[test]
fn a_slow_client_is_sent_away() {
    let asked = impatient();
    let mut slow: Vec<_> = (0..8).map(|_| connect(&asked.address)).collect();
    for byte in b"GET / HT" {
        slow.iter_mut().for_each(|stream| _ = stream.write_all(&[*byte]));
        gets_well(&asked);
    }
    for mut stream in slow {
        assert_eq!(read(&answer(&mut stream)).0, 408);
    }
}

/// Asks for much and takes nothing of it.
fn never_reads(address: &Address) -> Box<dyn Stream> {
    let mut stream = connect(address);
    let request = b"GET /v1/snapshot?tasks=4096 HTTP/1.1\r\n\r\n";
    // Some are turned away before they have asked.
    let _ = stream.write_all(request);
    stream
}

/// Asks, and does not wait for the answer.
fn asks(asked: &Asked, target: &str) -> UnixStream {
    let Address::Unix(path) = &asked.address else { panic!("{:?}", asked.address) };
    let mut stream = UnixStream::connect(path).unwrap();
    write!(stream, "GET {target} HTTP/1.1\r\n\r\n").unwrap();
    stream
}

/// Enough tasks for a snapshot not to fit into what the system keeps for a socket.
fn fill(asked: &Asked) {
    for _ in 0..4096 {
        asked.rt.spawn(std::future::pending::<()>());
    }
}

#[test]
fn clients_that_never_read_take_no_place_for_ever() {
    let asked = impatient();
    fill(&asked);
    let lazy: Vec<_> = (0..100).map(|_| never_reads(&asked.address)).collect();
    gets_well(&asked);
    for mut stream in lazy {
        // Until it is cut off.
        while stream.write_all(b"x").is_ok() {}
        let answer = answer(&mut stream);
        if answer.starts_with("HTTP/1.1 200") {
            let length = answer.split("Content-Length: ").nth(1).unwrap();
            let length: usize = length.split('\r').next().unwrap().parse().unwrap();
            assert!(answer.len() < length, "in the middle");
        }
    }
}

/// There is room for some of the answers. The other clients wait until those have been read, or
/// their clients are gone.
#[test]
fn unread_answers_are_bounded() {
    let asked = started();
    fill(&asked);
    let mut lazy: Vec<_> = (0..24).map(|_| asks(&asked, "/v1/snapshot?tasks=4096")).collect();
    // What is wrong is refused at once. Between two refusals there is time for an answer.
    for _ in 0..2 * lazy.len() {
        assert_eq!(read(&talk(&asked.address, b"GET\r\n\r\n")).0, 400);
    }
    let is_answered = |stream: &UnixStream| {
        stream.set_nonblocking(true).unwrap();
        let has_some = (&*stream).read_exact(&mut [0; 1]).is_ok();
        stream.set_nonblocking(false).unwrap();
        has_some
    };
    let answered = lazy.iter().filter(|stream| is_answered(stream)).count();
    assert!((1..lazy.len()).contains(&answered), "{answered} snapshots are in memory at once");
    // They go.
    lazy.drain(..answered);
    for mut stream in lazy {
        assert_eq!(read(&answer(&mut stream)).0, 200);
    }
}

#[test]
fn a_snapshot_has_no_more_tasks_than_there_may_be() {
    let asked = started();
    fill(&asked);
    fill(&asked);
    let said = crate::client::snapshot(&asked.address, "tasks=100000");
    assert_eq!(said["tasks"].as_array().unwrap().len(), 4096);
    assert_eq!(said["tasks_matched"], 8192);
}

/// Nobody is given a second file while the first is read, and others are answered meanwhile.
#[test]
fn there_is_one_trace_at_a_time() {
    let asked = started();
    let yields = async {
        for _ in 0..100_000 {
            heist::task::yield_now().await;
        }
    };
    asked.rt.block_on(asked.rt.spawn(yields)).unwrap();
    let mut first = asks(&asked, "/v1/trace");
    first.read_exact(&mut [0; 16]).unwrap();
    let mut second = asks(&asked, "/v1/trace");
    // It has asked later, and is answered.
    is_well(&asked);
    second.set_nonblocking(true).unwrap();
    assert_eq!(second.read(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(first);
    second.set_nonblocking(false).unwrap();
    second.read_exact(&mut [0; 16]).unwrap();
}

/// A trace takes room on a disk: there is one at a time, and others are answered beside it.
#[test]
fn traces_that_nobody_reads_are_no_burden() {
    let asked = impatient();
    asked
        .rt
        .block_on(asked.rt.spawn(async {
            for _ in 0..100_000 {
                heist::task::yield_now().await;
            }
        }))
        .unwrap();
    let lazy: [_; 5] = std::array::from_fn(|_| {
        let mut stream = connect(&asked.address);
        let _ = stream.write_all(b"GET /v1/trace HTTP/1.1\r\n\r\n");
        gets_well(&asked);
        stream
    });
    for mut stream in lazy {
        while stream.write_all(b"x").is_ok() {}
    }
    gets_well(&asked);
}

/// Limits the number of open files of the process, which is usually 1024.
fn allow_files(count: u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: (FFI) it writes to what it is given.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) }, 0);
    limit.rlim_cur = limit.rlim_cur.max(count.min(limit.rlim_max));
    // SAFETY: (FFI) it reads what it is given.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
}

#[test]
fn a_thousand_clients_are_all_answered_or_turned_away() {
    allow_files(2048);
    let asked = started();
    let mut all: Vec<_> = (0..1000).map(|_| connect(&asked.address)).collect();
    assert_eq!(asked.rt.block_on(asked.rt.spawn(async { 5 })).unwrap(), 5);
    for stream in &mut all {
        let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n");
    }
    let answers: Vec<_> = all.iter_mut().map(answer).collect();
    let count = |status| answers.iter().filter(|answer| read(answer).0 == status).count();
    let (served, turned_away) = (count(200), count(503));
    assert!(served >= 32, "{served}");
    assert_eq!(served + turned_away, 1000);
    assert!(turned_away >= 500, "{turned_away}");
    gets_well(&asked);
}

#[test]
fn those_who_leave_in_the_middle_are_not_missed() {
    let asked = started();
    fill(&asked);
    for round in 0..heist_testing::scaled(100) {
        let request = b"GET /v1/snapshot?tasks=4096 HTTP/1.1\r\n\r\n";
        let mut stream = connect(&asked.address);
        let _ = stream.write_all(&request[..request.len().min(round as usize)]);
        if round % 3 == 0 {
            let _ = stream.write_all(&request[request.len().min(round as usize)..]);
            let _ = stream.read(&mut [0; 100]);
        }
    }
    gets_well(&asked);
}

/// Idle, in the middle of a request, and in the middle of an answer.
#[test]
fn a_runtime_goes_down_beside_clients() {
    for end in 0..3 {
        let Asked { rt, address, dir: _dir } = started();
        (0..4096).for_each(|_| drop(rt.spawn(std::future::pending::<()>())));
        let idle = connect(&address);
        let mut half = connect(&address);
        half.write_all(b"GET /").unwrap();
        let lazy = never_reads(&address);
        match end {
            0 => drop(rt),
            1 => rt.shutdown_timeout(Duration::from_secs(3600)),
            _ => rt.shutdown_background(),
        }
        for mut stream in [idle, half, lazy] {
            // Comes to an end.
            let _ = answer(&mut stream);
        }
        let Address::Unix(path) = address else { panic!("{address:?}") };
        while path.exists() {
            assert_eq!(end, 2, "it is gone when the runtime is");
            std::thread::yield_now();
        }
    }
}

/// A page in a browser can have the browser ask a port of this machine, by a name that it has made
/// up.
#[test]
fn a_port_answers_to_its_own_names_only() {
    let any = ([127, 0, 0, 1], 0);
    let asked = start(|_| Config::tcp(any), |_| {});
    let status = |host: &str| {
        let request = format!("GET / HTTP/1.1\r\n{host}\r\n\r\n");
        read(&talk(&asked.address, request.as_bytes())).0
    };
    assert_eq!(status(&format!("Host: {}", asked.address)), 200);
    assert_eq!(status("host: LOCALHOST:1"), 200);
    assert_eq!(status("Host: evil.example"), 403);
    assert_eq!(status("Host: 127.0.0.1.evil.example"), 403);
    assert_eq!(status("X: y"), 403);
    is_well(&asked);
}
