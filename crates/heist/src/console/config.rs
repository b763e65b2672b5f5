//! `Config`: the settings of a console.

use super::error::StartError;
use super::place::{self, Listener};
use super::server::Server;
use super::source::Source;
use super::stalls::RecentStalls;
use crate::env::log;
use crate::scheduler::{self, Scheduler};
use crate::task::tracker::Tracker;
use rustix::event::{EventfdFlags, eventfd};
use std::env::{self, VarError};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const VARIABLE: &str = "HEIST_CONSOLE";

/// Guessed: about 200 bytes each, and more than a client looks at.
const MAX_TASKS: usize = 65_536;
/// Guessed: no honest client on the same machine is slower.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);

/// The address and limits of a runtime's console; see
/// [`Builder::console`](crate::runtime::Builder::console).
///
/// # Examples
///
/// ```
/// use heist::console::Config;
/// use heist::runtime::Builder;
/// use std::time::Duration;
///
/// let config = Config::tcp(([127, 0, 0, 1], 0))
///     .max_tasks(1000)
///     .client_timeout(Duration::from_secs(1))
///     .record(false);
/// let rt = Builder::new_multi_thread().console(config).build().unwrap();
/// assert!(rt.handle().console_address().is_some());
/// ```
#[derive(Debug, Clone)]
pub struct Config {
    pub(super) place: Place,
    pub(super) max_tasks: usize,
    pub(super) client_timeout: Duration,
    records: bool,
}

/// The address to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The default socket of this process.
    Own,
    Path(PathBuf),
    /// A path for several runtimes: all but the first append a number.
    SharedPath(PathBuf),
    Tcp(SocketAddr),
}

impl Config {
    /// Creates settings for the socket where `heist top` looks.
    ///
    /// That is `$XDG_RUNTIME_DIR/heist/<pid>.sock` or, without that variable,
    /// `heist-<uid>/<pid>.sock` in the directory for temporary files. Further runtimes of the
    /// process use `<pid>-2.sock` and so on.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use heist::console::{Config, directory};
    /// use heist::runtime::Builder;
    ///
    /// let rt = Builder::new_multi_thread().console(Config::new()).build()?;
    /// let address = rt.handle().console_address().expect("it listens").to_string();
    /// assert!(address.contains(&*directory().to_string_lossy()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        Self::at(Place::Own)
    }

    /// Creates settings for a Unix socket with the given path. Only this user can connect.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::console::{Address, Config};
    /// use heist::runtime::Builder;
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// let path = dir.path().join("console.sock");
    /// let rt = Builder::new_multi_thread().console(Config::unix(&path)).build().unwrap();
    /// assert_eq!(rt.handle().console_address(), Some(&Address::Unix(path)));
    /// ```
    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Self::at(Place::Path(path.into()))
    }

    /// Creates settings for a TCP port of this machine; port 0 lets the system choose one. Every
    /// user of the machine can connect.
    ///
    /// If the address is not a loopback address, [`build`](crate::runtime::Builder::build) returns
    /// [`StartError::NotLoopback`].
    pub fn tcp(address: impl Into<SocketAddr>) -> Self {
        Self::at(Place::Tcp(address.into()))
    }

    fn at(place: Place) -> Self {
        Config { place, max_tasks: MAX_TASKS, client_timeout: CLIENT_TIMEOUT, records: true }
    }

    /// Sets the maximum number of tasks with statistics of their own. The default is 65 536.
    ///
    /// Tasks that are spawned beyond that limit are only counted. Each task needs about 200 bytes.
    pub fn max_tasks(mut self, count: usize) -> Self {
        self.max_tasks = count;
        self
    }

    /// Sets how long a client may take to send its request, or to receive the answer. The default
    /// is 10 seconds.
    pub fn client_timeout(mut self, timeout: Duration) -> Self {
        self.client_timeout = timeout;
        self
    }

    /// Sets whether the runtime records what its workers do, so that clients can request a trace.
    /// The default is `true`.
    ///
    /// [`Builder::trace`](crate::runtime::Builder::trace) describes the cost, and takes precedence
    /// over this setting.
    pub fn record(mut self, is_so: bool) -> Self {
        self.records = is_so;
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

/// The settings of a builder. Without any, the environment decides.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings(pub(crate) Option<Config>);

impl Settings {
    /// Starts to listen, and has the runtime count what clients will request. If the environment
    /// asks for a console, errors are only warnings.
    pub(crate) fn prepare(&self, runtime: &mut scheduler::Config) -> Result<Prepared, StartError> {
        let (config, is_own) = match &self.0 {
            Some(config) => (config.clone(), true),
            None => match from_variable(env::var(VARIABLE)) {
                Ok(None) => return Ok(Prepared(None)),
                Ok(Some(config)) => (config, false),
                Err(message) => {
                    log::no_console(&message);
                    return Ok(Prepared(None));
                }
            },
        };
        match place::listen(&config.place) {
            Ok(listener) => Ok(Prepared(Some(Ready::new(config, listener, runtime)))),
            Err(error) if is_own => Err(error),
            Err(error) => {
                log::no_console(&format!("{VARIABLE}: {error}"));
                Ok(Prepared(None))
            }
        }
    }
}

/// Parses the variable; `None` if it asks for no console.
fn from_variable(variable: Result<String, VarError>) -> Result<Option<Config>, String> {
    let text = match variable {
        Ok(text) => text,
        Err(VarError::NotPresent) => return Ok(None),
        // A path may contain any bytes.
        Err(VarError::NotUnicode(path)) => {
            return Ok(Some(Config::at(Place::SharedPath(path.into()))));
        }
    };
    match text.trim() {
        "" | "0" => Ok(None),
        "1" => Ok(Some(Config::new())),
        path if path.contains('/') => Ok(Some(Config::at(Place::SharedPath(path.into())))),
        other => match other.parse::<SocketAddr>() {
            Ok(address) => Ok(Some(Config::tcp(address))),
            Err(_) => Err(format!(
                "{VARIABLE}={text}: set it to 1, to the path of a socket (with a / in it), or to a \
                 loopback address and port like 127.0.0.1:9100"
            )),
        },
    }
}

/// A console that listens but does not answer yet.
pub(crate) struct Prepared(Option<Ready>);

struct Ready {
    config: Config,
    listener: Listener,
    stalls: Arc<RecentStalls>,
}

impl Ready {
    fn new(config: Config, listener: Listener, runtime: &mut scheduler::Config) -> Self {
        let stalls = Arc::new(RecentStalls::default());
        stalls.listen(&mut runtime.stall);
        runtime.console = Some(listener.address().clone());
        runtime.tracker = Some(Tracker::new(config.max_tasks));
        Ready { config, listener, stalls }
    }
}

impl Prepared {
    /// Whether the console needs a recorder.
    pub(crate) fn records(&self) -> bool {
        self.0.as_ref().is_some_and(|ready| ready.config.records)
    }

    /// Starts to answer.
    pub(crate) fn start(self, scheduler: &Scheduler) -> io::Result<Console> {
        let Some(Ready { config, listener, stalls }) = self.0 else { return Ok(Console(None)) };
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let source = Source::new(scheduler.clone(), stalls);
        let server = Server::new(listener, Arc::clone(&stop), source, config.client_timeout);
        let thread = thread::Builder::new().name("heist-console".into());
        let thread = thread.spawn(move || server.run())?;
        Ok(Console(Some(Started { stop, thread: Some(thread) })))
    }
}

/// A console, if there is one. Dropping it stops it and waits for its thread.
#[derive(Debug, Default)]
pub(crate) struct Console(Option<Started>);

#[derive(Debug)]
struct Started {
    stop: Arc<OwnedFd>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Console {
    /// Stops the console without waiting for its thread.
    pub(crate) fn stop(&mut self) {
        if let Some(started) = &mut self.0 {
            started.ring();
            started.thread = None;
        }
    }
}

impl Started {
    fn ring(&self) {
        // Fails only if the counter overflows.
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.ring();
        // A panic of the thread could not be handled here.
        self.thread.take().into_iter().for_each(|thread| _ = thread.join());
    }
}

/// The path for runtime `number` of a process: all but the first append the number.
pub(super) fn numbered(path: &Path, number: usize) -> PathBuf {
    match number {
        1 => path.to_owned(),
        _ => {
            let mut path = path.as_os_str().to_owned();
            path.push(format!(".{number}"));
            path.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_a_switch_a_path_or_a_port() {
        let place = |text: &str| from_variable(Ok(text.into())).map(|c| c.map(|c| c.place));
        assert_eq!(from_variable(Err(VarError::NotPresent)).map(|c| c.is_none()), Ok(true));
        for off in ["", " ", "0"] {
            assert_eq!(place(off), Ok(None));
        }
        assert_eq!(place("1"), Ok(Some(Place::Own)));
        assert_eq!(place("./x"), Ok(Some(Place::SharedPath("./x".into()))));
        let tcp = |text: &str| Ok(Some(Place::Tcp(text.parse().unwrap())));
        assert_eq!(place(" 127.0.0.1:80 "), tcp("127.0.0.1:80"));
        // Refused later, by place::listen().
        assert_eq!(place("1.2.3.4:80"), tcp("1.2.3.4:80"));
        for nonsense in ["yes", "2", "localhost:80", "127.0.0.1", "127.0.0.1:65536"] {
            let message = place(nonsense).unwrap_err();
            assert!(message.starts_with(&format!("HEIST_CONSOLE={nonsense}: set it to 1")));
        }
    }

    #[test]
    fn the_second_path_has_a_number() {
        assert_eq!(numbered(Path::new("/x/y"), 1), Path::new("/x/y"));
        assert_eq!(numbered(Path::new("/x/y"), 2), Path::new("/x/y.2"));
    }
}
