//! Consoles are found, asked and understood; what goes wrong is told, with what to do about it.

use heist::console::Config;
use heist::runtime::{Builder, Runtime};
use heist_cli::live::{Endpoint, LiveError, Query, Sort, TaskState, WorkerState};
use std::future::pending;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

fn runtime(config: Config) -> Runtime {
    Builder::new_multi_thread().worker_threads(2).name("live").console(config).build().unwrap()
}

/// As its user would say it.
fn endpoint(rt: &Runtime) -> Endpoint {
    Endpoint::find(Some(&rt.handle().console_address().unwrap().to_string())).unwrap()
}

#[test]
fn a_snapshot_is_understood() {
    let dir = tempfile::tempdir().unwrap();
    for config in [Config::unix(dir.path().join("s")), Config::tcp(([127, 0, 0, 1], 0))] {
        let rt = runtime(config);
        let named = heist::task::Builder::new().name("a & b=c? é");
        let task = named.spawn_on(pending::<()>(), rt.handle()).unwrap();
        let _other = rt.spawn(pending::<()>());
        let query = Query { tasks: 5, sort: Sort::Polls, filter: "a & b=c? é".into() };
        let ask = || endpoint(&rt).snapshot(&query).unwrap();
        let polls = |snapshot: &heist_cli::live::Snapshot| {
            snapshot.histograms.poll_time.iter().map(|bucket| bucket.count).sum::<u64>()
        };
        let mut snapshot = ask();
        while snapshot.tasks[0].state != TaskState::Waiting || polls(&snapshot) < 2 {
            snapshot = ask();
        }
        assert_eq!(snapshot.pid, std::process::id());
        assert_eq!(snapshot.runtime.name.as_deref(), Some("live"));
        assert_eq!(snapshot.workers.len(), 2);
        assert!(snapshot.workers.iter().all(|worker| worker.state != WorkerState::Other));
        let [found] = &snapshot.tasks[..] else { panic!("{snapshot:?}") };
        assert_eq!((found.id.to_string(), found.polls), (task.id().to_string(), 1));
        assert_eq!((snapshot.tasks_matched, snapshot.tasks_tracked), (1, 2));
        assert_eq!(polls(&snapshot), 2);
        assert_eq!(snapshot.histograms.poll_time.last().unwrap().le_ns, None);
        for sort in [Sort::Busy, Sort::Polls, Sort::Delay, Sort::Id] {
            let query = Query { sort, ..Query::default() };
            assert_eq!(endpoint(&rt).snapshot(&query).unwrap().tasks.len(), 2);
        }
    }
}

#[test]
fn a_trace_is_fetched() {
    let dir = tempfile::tempdir().unwrap();
    let rt = runtime(Config::unix(dir.path().join("s")));
    rt.block_on(rt.spawn(async {})).unwrap();
    let mut bytes = Vec::new();
    let length = endpoint(&rt).trace(&mut bytes).unwrap();
    assert_eq!(length, bytes.len() as u64);
    assert_eq!(heist::trace::Trace::from_bytes(bytes).unwrap().pid(), std::process::id());
    let full = endpoint(&rt).trace(&mut &mut [0; 10][..]).unwrap_err();
    assert!(matches!(full, LiveError::Output(_)), "{full}");
    let silent = runtime(Config::unix(dir.path().join("t")).record(false));
    let refused = endpoint(&silent).trace(&mut Vec::new()).unwrap_err();
    assert!(matches!(refused, LiveError::Refused { status: 404, .. }), "{refused}");
}

/// The error message for this target.
fn error(target: &str) -> String {
    let asked = Endpoint::find(Some(target)).and_then(|found| found.snapshot(&Query::default()));
    asked.unwrap_err().to_string()
}

#[test]
fn errors_say_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    assert!(error("banana").contains("give a pid"));
    let path = dir.path().join("s");
    let path = path.to_str().unwrap();
    assert!(error(path).contains("was it started with HEIST_CONSOLE"));
    drop(UnixListener::bind(path).unwrap());
    assert!(error(path).contains("nobody answers"));
    for other in [dir.path(), Path::new("/dev/null")] {
        assert!(error(other.to_str().unwrap()).contains(" is no socket; give a pid"));
    }
    let pid = std::process::id();
    let no_console = format!("process {pid} has no console; start it with HEIST_CONSOLE=1");
    assert_eq!(error(&pid.to_string()), no_console);
    // No pid is that high.
    assert!(error("4294967295").contains("there is no process 4294967295"));
}

/// Answers a request with these bytes.
fn impostor(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(answer);
    });
    address
}

#[test]
fn impostors_are_not_believed() {
    assert!(error(&impostor(b"")).contains("went silent"));
    assert!(error(&impostor(b"SSH-2.0-x\r\n")).contains("it is no HTTP"));
    assert!(error(&impostor(b"HTTP/1.1 200 OK\r\n\r\n{}")).contains("how long it is"));
    assert!(error(&impostor(b"HTTP/1.1 200 OK\r\nX: y")).contains("it is no HTTP"));
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{}";
    assert!(error(&impostor(half)).contains("went silent"));
    let huge = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
    assert!(error(&impostor(huge)).contains("it has 99999999999 bytes"));
    let other = b"HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{\"version\":7}";
    assert!(error(&impostor(other)).contains("of version 7"));
    let refused = b"HTTP/1.1 503 No\r\nContent-Length: 5\r\n\r\nlater";
    assert!(error(&impostor(refused)).contains("says 503: later"));
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\xff";
    assert!(error(&impostor(bytes)).contains("it is no text"));
}

const CHILD: &str = "HEIST_TEST_LIVE_CHILD";
const TARGET: &str = "HEIST_TEST_LIVE_TARGET";

/// Runs in a process of its own: several runtimes, until the parent closes the pipe.
#[test]
fn child() {
    let Some(count) = std::env::var_os(CHILD) else { return };
    let build = || Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let _all: Vec<_> = (0..count.to_str().unwrap().parse().unwrap()).map(|_| build()).collect();
    eprintln!("ready");
    let _ = std::io::stdin().read(&mut [0]);
}

/// In a process of its own, as consoles are found by the environment: looks for one.
#[test]
fn finder() {
    let Some(target) = std::env::var_os(TARGET) else { return };
    let target = target.into_string().unwrap();
    match Endpoint::find(Some(target.as_str()).filter(|target| !target.is_empty())) {
        Ok(endpoint) => {
            let pid = endpoint.snapshot(&Query::default()).unwrap().pid;
            assert_eq!(endpoint.pid(), Some(pid));
            eprintln!("found {pid}");
        }
        Err(error @ LiveError::Several(_)) => eprintln!("several: {error}"),
        Err(error) => eprintln!("error: {error}"),
    }
}

fn start(dir: &Path, test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env("XDG_RUNTIME_DIR", dir);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn program(dir: &Path, runtimes: u32) -> Child {
    let mut command = start(dir, "child");
    command.env(CHILD, runtimes.to_string()).env("HEIST_CONSOLE", "1");
    let mut child = command.spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    assert!(stderr.lines().map(Result::unwrap).any(|line| line == "ready"));
    child
}

fn find(dir: &Path, target: &str) -> String {
    let output = start(dir, "finder").env(TARGET, target).output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

fn end(mut child: Child) {
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn programs_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let none = find(dir.path(), "");
    assert!(none.contains("start one with HEIST_CONSOLE=1"), "{none}");
    let one = program(dir.path(), 1);
    let pid = one.id().to_string();
    // A dead process has left this behind.
    drop(UnixListener::bind(dir.path().join("heist/1.sock")).unwrap());
    for target in ["", &pid, dir.path().join(format!("heist/{pid}.sock")).to_str().unwrap()] {
        assert_eq!(find(dir.path(), target).trim(), format!("found {pid}"));
    }
    let two = program(dir.path(), 2);
    let said = find(dir.path(), "");
    assert!(said.contains("there are 3 consoles") && said.contains(&pid), "{said}");
    assert_eq!(find(dir.path(), &pid).trim(), format!("found {pid}"));
    let said = find(dir.path(), &two.id().to_string());
    assert!(said.contains("there are 2 consoles"), "{said}");
    end(one);
    end(two);
}
