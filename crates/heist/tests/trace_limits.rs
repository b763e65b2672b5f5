//! A recorder that cannot write its file does the program no harm: no signal, and one warning.
//!
//! Limits are the whole process's, so each program here is a child process: a test that runs in
//! it alone, with `HEIST_TEST_PROGRAM` set.

mod support;

use heist::runtime::{Builder, Runtime};
use heist::signal::unix::SignalKind;
use heist::trace::{Config, Trace};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::iter;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc;
use support::children::wait_until;

const IS_PROGRAM: &str = "HEIST_TEST_PROGRAM";
/// More than the header of a trace, less than the traces of the programs below.
const LIMIT: u64 = 100_000;

fn limit_files(bytes: u64) {
    let before = getrlimit(Resource::Fsize);
    let limit = Rlimit { current: (bytes != u64::MAX).then_some(bytes), ..before };
    setrlimit(Resource::Fsize, limit).unwrap();
}

/// One of the programs below, with a limit on the size of files. SIGXFSZ and SIGPIPE end it.
fn program(name: &str, limit: u64, variables: &[(&str, &Path)]) -> Command {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", name, "--nocapture"]).env(IS_PROGRAM, "1");
    child.envs(variables.iter().copied());
    let prepare = move || {
        limit_files(limit);
        Ok(())
    };
    // SAFETY: (FFI) it makes system calls, and nothing else.
    unsafe { child.pre_exec(prepare) };
    child
}

fn run(name: &str, limit: u64, variables: &[(&str, &Path)]) -> Output {
    program(name, limit, variables).output().unwrap()
}

fn is_program() -> bool {
    let is_program = std::env::var_os(IS_PROGRAM).is_some();
    if is_program {
        // A Rust program ignores SIGPIPE, until it says that it does not.
        // SAFETY: (FFI) the default is a disposition for any signal.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    }
    is_program
}

/// What the runtime has said.
fn warnings(output: &Output) -> Vec<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    said.lines().filter(|line| line.starts_with("heist: ")).map(str::to_owned).collect()
}

fn assert_well(output: &Output) {
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("came to the end"), "{output:?}");
}

fn assert_one_warning(output: &Output, of: &str) {
    let said = warnings(output);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(of), "{said:?}");
}

/// All that is in the directory: traces of these names that were cut, with events.
fn assert_cut_traces(directory: &Path, names: &[&str]) {
    let files = fs::read_dir(directory).unwrap().map(|file| file.unwrap().file_name());
    assert_eq!(files.collect::<BTreeSet<_>>(), names.iter().map(OsString::from).collect());
    for name in names {
        let trace = Trace::open(directory.join(name)).unwrap();
        assert!(trace.is_truncated(), "{name}");
        let events: Result<Vec<_>, _> = trace.events().unwrap().collect();
        assert!(!events.unwrap().is_empty());
    }
}

/// Has the recorder write down more than the limit.
fn yield_often(runtime: &Runtime) {
    let yields = async {
        for _ in 0..50_000 {
            heist::task::yield_now().await;
        }
    };
    runtime.block_on(runtime.spawn(yields)).unwrap();
}

fn recording(config: Config) -> Runtime {
    Builder::new_multi_thread().worker_threads(1).trace(config).build().unwrap()
}

#[test]
fn a_program_that_shuts_down() {
    if is_program() {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        yield_often(&runtime);
        drop(runtime);
        println!("came to the end");
    }
}

#[test]
fn a_program_that_exits() {
    if is_program() {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        yield_often(&runtime);
        println!("came to the end");
        std::process::exit(0);
    }
}

#[test]
fn a_dump_at_the_end_is_cut_at_the_limit() {
    for program in ["a_program_that_shuts_down", "a_program_that_exits"] {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("trace");
        let output = run(program, LIMIT, &[("HEIST_TRACE", &file)]);
        assert_well(&output);
        assert_one_warning(&output, "File too large");
        assert_cut_traces(directory.path(), &["trace"]);
    }
}

/// Not even a header.
#[test]
fn an_incomplete_header_is_removed() {
    for limit in [0, 10] {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("trace");
        let output = run("a_program_that_shuts_down", limit, &[("HEIST_TRACE", &file)]);
        assert_well(&output);
        assert_one_warning(&output, "File too large");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_device_that_is_full_hurts_nobody() {
    let output = run("a_program_that_shuts_down", LIMIT, &[("HEIST_TRACE", "/dev/full".as_ref())]);
    assert_well(&output);
    assert_one_warning(&output, "No space left on device");
}

/// The variable with the file to which the programs below dump.
const FILE: &str = "HEIST_TEST_FILE";

/// What the next program says if it had no core for so long that it has dumped its trace before
/// that was long.
const TOO_EARLY: &str = "a stall came too early";

#[test]
fn a_program_that_is_dumped_while_it_runs() {
    if !is_program() {
        return;
    }
    let directory = PathBuf::from(std::env::var_os(FILE).unwrap());
    let [stall, panic, signal, own] =
        ["stall", "panic", "signal", "own"].map(|name| directory.join(name));
    let config = Config::new().dump_on_stall(&stall).dump_on_panic(&panic).dump_on_signal(&signal);
    let runtime = recording(config);
    yield_often(&runtime);
    if stall.exists() {
        return println!("{TOO_EARLY}");
    }

    for _ in 0..3 {
        let _ = fs::remove_file(&signal);
        support::signals::raise(SignalKind::user_defined2());
        wait_until(|| signal.exists());
    }

    let (release, blocked) = mpsc::channel::<()>();
    let task = runtime.spawn(async move { blocked.recv().unwrap() });
    // Tasks have to wait for the worker, or it is no stall.
    let others: Vec<_> = (0..4).map(|_| runtime.spawn(async {})).collect();
    wait_until(|| stall.exists());
    release.send(()).unwrap();
    runtime.block_on(task).unwrap();
    others.into_iter().for_each(|other| runtime.block_on(other).unwrap());

    runtime.block_on(runtime.spawn(async { panic!("on purpose") })).unwrap_err();
    wait_until(|| panic.exists());

    // The program's own dump is an error, and no warning.
    let error = runtime.handle().dump_trace(own).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    println!("came to the end");
}

#[test]
fn dumps_of_a_program_that_runs_are_cut_at_the_limit() {
    let program = "a_program_that_is_dumped_while_it_runs";
    let (directory, output) = iter::repeat_with(|| {
        let directory = tempfile::tempdir().unwrap();
        let output = run(program, LIMIT, &[(FILE, directory.path())]);
        (directory, output)
    })
    .find(|(_, output)| !String::from_utf8_lossy(&output.stdout).contains(TOO_EARLY))
    .unwrap();
    assert_well(&output);
    assert_one_warning(&output, "File too large");
    assert_cut_traces(directory.path(), &["own", "panic", "signal", "stall"]);
}

#[test]
fn a_program_whose_pipe_loses_its_reader() {
    if !is_program() {
        return;
    }
    let pipe = std::env::var_os(FILE).unwrap();
    let runtime = recording(Config::new().dump_at_shutdown(&pipe));
    yield_often(&runtime);
    let reader = std::thread::spawn(move || {
        let mut start = [0; 16];
        fs::File::open(pipe).unwrap().read_exact(&mut start).unwrap();
    });
    drop(runtime);
    reader.join().unwrap();
    println!("came to the end");
}

#[test]
fn a_pipe_without_a_reader_hurts_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    let output = run("a_program_whose_pipe_loses_its_reader", LIMIT, &[(FILE, &pipe)]);
    assert_well(&output);
    assert_one_warning(&output, "Broken pipe");
}

#[test]
fn a_program_that_is_asked_for_its_trace() {
    if !is_program() {
        return;
    }
    let place = std::env::var_os(FILE).unwrap();
    let mut builder = Builder::new_multi_thread();
    let console = heist::console::Config::unix(&place);
    let runtime = builder.worker_threads(1).console(console).build().unwrap();
    yield_often(&runtime);
    let mut client = UnixStream::connect(place).unwrap();
    client.write_all(b"GET /v1/trace HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("File too large"), "{answer}");
    println!("came to the end");
}

#[test]
fn the_console_says_that_its_trace_is_too_large() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("socket");
    let output = run("a_program_that_is_asked_for_its_trace", LIMIT, &[(FILE, &place)]);
    assert_well(&output);
    assert_eq!(warnings(&output), [""; 0]);
}

/// Stderr is a file that is as large as it may be.
#[test]
fn a_warning_that_cannot_be_written_hurts_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let full = directory.path().join("stderr");
    fs::write(&full, vec![b'\n'; LIMIT as usize]).unwrap();
    let nowhere = directory.path().join("none/trace");
    let mut child = program("a_program_that_shuts_down", LIMIT, &[("HEIST_TRACE", &nowhere)]);
    child.stderr(fs::File::options().append(true).open(&full).unwrap());
    assert_well(&child.output().unwrap());
    assert_eq!(fs::metadata(&full).unwrap().len(), LIMIT);
}

#[test]
fn a_program_without_descriptors() {
    if !is_program() {
        return;
    }
    // Stdin, stdout, stderr.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(3), ..limit }).unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime.block_on(runtime.spawn(async {})).unwrap();
    println!("came to the end");
}

#[test]
fn a_program_without_threads() {
    if !is_program() {
        return;
    }
    for call in [libc::SYS_clone3, libc::SYS_clone] {
        support::seccomp::forbid(call, libc::EAGAIN);
    }
    let mut builder = Builder::new_current_thread();
    let runtime = builder.stall_threshold(None).build().unwrap();
    runtime.block_on(async { heist::spawn(async {}).await.unwrap() });
    println!("came to the end");
}

/// The program does not know that it is to be recorded, and would run without.
#[test]
fn a_bad_setting_of_the_environment_does_no_harm() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace");
    let output = run("a_program_without_descriptors", LIMIT, &[("HEIST_TRACE", &file)]);
    assert_well(&output);
    assert_one_warning(&output, "Too many open files");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);

    let output = run("a_program_without_threads", u64::MAX, &[("HEIST_TRACE", &file)]);
    assert_well(&output);
    assert_one_warning(&output, "stalls, panics and SIGUSR2 leave no trace");
    assert!(!Trace::open(&file).unwrap().is_truncated());
}
