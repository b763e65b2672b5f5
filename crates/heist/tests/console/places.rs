//! Where consoles listen, and where they do not.

use crate::client::{get, snapshot};
use heist::console::{Address, Config, StartError};
use heist::runtime::{Builder, Runtime};
use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

fn build(config: Config) -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(1).console(config).build()
}

fn why(config: Config) -> StartError {
    let error = build(config).unwrap_err().into_inner().unwrap();
    *error.downcast().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn without_a_console_nobody_listens() {
    let rt = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    assert_eq!(rt.handle().console_address(), None);
}

#[test]
fn the_socket_is_the_users_alone_and_goes_with_the_runtime() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a b");
    let rt = build(Config::unix(&path)).unwrap();
    assert_eq!(rt.handle().console_address(), Some(&Address::Unix(path.clone())));
    assert!(fs::metadata(&path).unwrap().file_type().is_socket());
    assert_eq!(mode(&path), 0o600);
    drop(rt);
    assert!(!path.exists());
}

#[test]
fn what_a_dead_process_has_left_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let rt = build(Config::unix(&path)).unwrap();
    let address = rt.handle().console_address().unwrap();
    assert!(get(address, "/").contains("/metrics"));
}

#[test]
fn a_socket_with_a_listener_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let other = UnixListener::bind(&path).unwrap();
    let used = Address::Unix(path.clone());
    assert!(matches!(why(Config::unix(&path)), StartError::InUse(address) if address == used));
    // Also if its queue is full.
    other.set_nonblocking(true).unwrap();
    let first = build(Config::unix(dir.path().join("t"))).unwrap();
    let again = why(Config::unix(dir.path().join("t")));
    assert!(matches!(again, StartError::InUse(_)), "{again}");
    drop(first);
    let rt = build(Config::tcp(([127, 0, 0, 1], 0))).unwrap();
    let Some(&Address::Tcp(address)) = rt.handle().console_address() else { panic!() };
    assert!(matches!(why(Config::tcp(address)), StartError::InUse(_)));
}

#[test]
fn files_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("precious");
    fs::write(&path, "data").unwrap();
    assert!(matches!(why(Config::unix(&path)), StartError::NotASocket(found) if found == path));
    assert_eq!(fs::read_to_string(&path).unwrap(), "data");
    // Also one that has come into the socket's place.
    let path = dir.path().join("s");
    let rt = build(Config::unix(&path)).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "data").unwrap();
    drop(rt);
    assert_eq!(fs::read_to_string(&path).unwrap(), "data");
}

#[test]
fn nobody_else_is_listened_to() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:192.0.2.1]:0"] {
        let error = why(Config::tcp(address.parse::<std::net::SocketAddr>().unwrap()));
        assert!(matches!(error, StartError::NotLoopback(_)), "{error}");
        assert!(error.to_string().contains("use 127.0.0.1"), "{error}");
    }
}

#[test]
fn places_that_cannot_be_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let long = dir.path().join("x".repeat(200));
    assert!(matches!(why(Config::unix(long)), StartError::Io { .. }));
    let nowhere = why(Config::unix(dir.path().join("no/such/directory")));
    assert!(nowhere.to_string().contains("No such file"), "{nowhere}");
}

const CHILD: &str = "HEIST_TEST_CONSOLE_CHILD";

/// In a process of its own: two runtimes as the environment has them, until nobody wants them any
/// more.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let build = || Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let both = [build(), build()];
    for rt in &both {
        match rt.handle().console_address() {
            Some(address) => eprintln!("listens {address}"),
            None => eprintln!("silent"),
        }
    }
    let _ = io::stdin().read(&mut [0]);
}

struct Process {
    child: Child,
    /// What it has said, up to where its runtimes listen.
    said: Vec<String>,
}

/// A shell says under which umask: the worst one.
fn run(runtime_dir: &Path, console: &str) -> Process {
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 000; exec \"$0\" --exact places::child --nocapture"]);
    shell.arg(std::env::current_exe().unwrap()).env(CHILD, "1").env("HEIST_CONSOLE", console);
    shell.env("XDG_RUNTIME_DIR", runtime_dir);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut said = Vec::new();
    let is_address = |line: &String| line.starts_with("listens ") || line == "silent";
    for line in lines {
        said.push(line);
        if said.iter().filter(|line| is_address(line)).count() == 2 {
            break;
        }
    }
    Process { child, said }
}

impl Process {
    fn addresses(&self) -> Vec<PathBuf> {
        let lines = self.said.iter();
        lines.filter_map(|line| line.strip_prefix("listens ")).map(PathBuf::from).collect()
    }

    fn warnings(&self) -> Vec<&String> {
        self.said.iter().filter(|line| line.starts_with("heist: there is no console. ")).collect()
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn the_environment_gives_every_runtime_a_console() {
    let dir = tempfile::tempdir().unwrap();
    let process = run(dir.path(), "1");
    let pid = process.child.id();
    let own = dir.path().join("heist");
    let paths = [format!("{pid}.sock"), format!("{pid}-2.sock")].map(|name| own.join(name));
    assert_eq!(process.addresses(), paths);
    assert_eq!(mode(&own), 0o700);
    for path in &paths {
        assert_eq!(mode(path), 0o600);
        assert_eq!(snapshot(&Address::Unix(path.clone()), "")["pid"], pid);
    }
    process.end();
    assert!(paths.iter().all(|path| !path.exists()));
}

#[test]
fn a_path_in_the_environment_is_numbered() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("c");
    let process = run(dir.path(), path.to_str().unwrap());
    assert_eq!(process.addresses(), [path.clone(), dir.path().join("c.2")]);
    assert_eq!(mode(&path), 0o600);
    process.end();
    assert!(!path.exists());
}

#[test]
fn a_bad_setting_of_the_environment_is_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    for (console, warning) in [
        ("yes", "HEIST_CONSOLE=yes: set it to 1"),
        ("0.0.0.0:0", "HEIST_CONSOLE: the console does not listen on 0.0.0.0:0"),
        ("/no/such/place", "HEIST_CONSOLE: the console cannot listen on /no/such/place"),
    ] {
        let process = run(dir.path(), console);
        assert_eq!(process.addresses(), Vec::<PathBuf>::new());
        assert_eq!(process.warnings().len(), 2, "{:?}", process.said);
        assert!(process.warnings()[0].contains(warning), "{:?}", process.said);
        process.end();
    }
    let process = run(dir.path(), "0");
    assert_eq!(process.said, ["silent", "silent"]);
    process.end();
}

/// A directory of that name may be anybody's, or a link to one.
#[test]
fn a_directory_that_is_not_private_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("heist");
    let refused = || {
        let process = run(dir.path(), "1");
        assert!(process.warnings()[0].contains("not this user's alone"), "{:?}", process.said);
        assert_eq!(process.addresses(), Vec::<PathBuf>::new());
        process.end();
    };
    fs::create_dir(&own).unwrap();
    fs::set_permissions(&own, Permissions::from_mode(0o755)).unwrap();
    refused();
    fs::remove_dir(&own).unwrap();
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, Permissions::from_mode(0o700)).unwrap();
    symlink(&elsewhere, &own).unwrap();
    refused();
    assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 0);
}
