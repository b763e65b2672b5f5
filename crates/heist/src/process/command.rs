//! What to start, and how.

use super::{Child, orphans};
use crate::env::turns;
use crate::runtime::Handle;
use std::ffi::OsStr;
use std::future::Future;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

/// Starts processes. Built as [`std::process::Command`] is, with the same meaning.
///
/// ```
/// use heist::process::Command;
///
/// # #[heist::main]
/// # async fn main() -> std::io::Result<()> {
/// let status = Command::new("sh").args(["-c", "exit $CODE"]).env("CODE", "7").status().await?;
/// assert_eq!(status.code(), Some(7));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Command {
    std: std::process::Command,
    kill_on_drop: bool,
}

impl Command {
    /// For `program`, which is looked for in `PATH` unless it has a slash in it. Without arguments;
    /// with the environment, working directory and standard streams of this process.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Command {
        Command::from(std::process::Command::new(program))
    }

    /// The command of the standard library that this one is made of.
    pub fn as_std(&self) -> &std::process::Command {
        &self.std
    }

    /// The same, to be changed.
    pub fn as_std_mut(&mut self) -> &mut std::process::Command {
        &mut self.std
    }

    /// The same. What [`kill_on_drop`](Self::kill_on_drop) says is forgotten.
    pub fn into_std(self) -> std::process::Command {
        self.std
    }

    /// Adds an argument.
    pub fn arg<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Command {
        self.std.arg(arg);
        self
    }

    /// Adds arguments.
    pub fn args<I, S>(&mut self, args: I) -> &mut Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.std.args(args);
        self
    }

    /// Sets a variable of the environment.
    pub fn env<K, V>(&mut self, key: K, val: V) -> &mut Command
    where
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.env(key, val);
        self
    }

    /// Sets variables of the environment.
    pub fn envs<I, K, V>(&mut self, vars: I) -> &mut Command
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.envs(vars);
        self
    }

    /// Leaves out a variable of this process's environment.
    pub fn env_remove<K: AsRef<OsStr>>(&mut self, key: K) -> &mut Command {
        self.std.env_remove(key);
        self
    }

    /// Leaves out all of them.
    pub fn env_clear(&mut self) -> &mut Command {
        self.std.env_clear();
        self
    }

    /// Where it works. Give the program an absolute path then: which directory a relative one
    /// starts from is not promised.
    pub fn current_dir<P: AsRef<Path>>(&mut self, dir: P) -> &mut Command {
        self.std.current_dir(dir);
        self
    }

    /// Its standard input. That of this process by default, also for [`output`](Self::output).
    pub fn stdin<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stdin(cfg);
        self
    }

    /// Its standard output. That of this process by default; piped for [`output`](Self::output).
    pub fn stdout<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stdout(cfg);
        self
    }

    /// Its standard error. That of this process by default; piped for [`output`](Self::output).
    pub fn stderr<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stderr(cfg);
        self
    }

    /// Whether the process is killed when its [`Child`] is dropped, or the future of
    /// [`status`](Self::status) or [`output`](Self::output). Not by default. In either case nobody
    /// needs to wait for it, see the [module](super#children-that-nobody-waits-for).
    pub fn kill_on_drop(&mut self, kill_on_drop: bool) -> &mut Command {
        self.kill_on_drop = kill_on_drop;
        self
    }

    /// What [`kill_on_drop`](Self::kill_on_drop) says.
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// The user it runs as.
    pub fn uid(&mut self, id: u32) -> &mut Command {
        self.std.uid(id);
        self
    }

    /// The group it runs as.
    pub fn gid(&mut self, id: u32) -> &mut Command {
        self.std.gid(id);
        self
    }

    /// What the program is told to be its name.
    pub fn arg0<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Command {
        self.std.arg0(arg);
        self
    }

    /// The process group that it joins; 0 for one of its own. Ctrl-C reaches only the group in the
    /// foreground, so a child in another is not interrupted with its parent.
    pub fn process_group(&mut self, pgroup: i32) -> &mut Command {
        self.std.process_group(pgroup);
        self
    }

    /// Calls `f` in the child, after it was forked and before the program begins. If it fails, so
    /// does [`spawn`](Self::spawn).
    ///
    /// # Safety
    /// The child has one thread, and whatever locks others held at the time of the fork are held
    /// for ever. So `f` may do only what a signal handler may: it must not allocate, nor use
    /// anything of this crate. See [`std`](std::os::unix::process::CommandExt::pre_exec).
    pub unsafe fn pre_exec<F>(&mut self, f: F) -> &mut Command
    where
        F: FnMut() -> io::Result<()> + Send + Sync + 'static,
    {
        // SAFETY: (FFI) what std asks of `f` is what is asked of it above.
        unsafe { self.std.pre_exec(f) };
        self
    }

    /// Starts the process.
    ///
    /// # Errors
    /// If there is no such program, or the system refuses. Then nothing has been started, or it has
    /// been killed.
    ///
    /// # Panics
    /// If it is called outside of a runtime, or in one without I/O (see
    /// [`Builder::enable_io`](crate::runtime::Builder::enable_io)). Nothing is started then.
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        self.spawn_for("Command::spawn")
    }

    #[track_caller]
    fn spawn_for(&mut self, api: &str) -> io::Result<Child> {
        let reactors = Handle::current_for(api).reactors_for_io(api);
        orphans::take_in(&reactors);
        // It would inherit those of who starts it.
        turns::lengthen();
        Child::new(self.std.spawn()?, &reactors, self.kill_on_drop)
    }

    /// Starts the process, and waits for its end. It is started at once, not when the future is
    /// first polled. Pipes, if there are any, are closed.
    ///
    /// # Errors
    /// Those of [`spawn`](Self::spawn) and of [`wait`](Child::wait).
    ///
    /// # Panics
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        let child = self.spawn_for("Command::status");
        async {
            let mut child = child?;
            // Else it might wait for us to read or to write.
            (child.stdin, child.stdout, child.stderr) = (None, None, None);
            child.wait().await
        }
    }

    /// Starts the process, and waits for its end and for what it writes. It is started at once, not
    /// when the future is first polled. Standard output and standard error are piped from now on.
    ///
    /// # Errors
    /// Those of [`spawn`](Self::spawn) and of [`wait_with_output`](Child::wait_with_output).
    ///
    /// # Panics
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + use<> {
        self.std.stdout(Stdio::piped());
        self.std.stderr(Stdio::piped());
        let child = self.spawn_for("Command::output");
        async { child?.wait_with_output().await }
    }
}

impl From<std::process::Command> for Command {
    fn from(std: std::process::Command) -> Command {
        Command { std, kill_on_drop: false }
    }
}
