//! `Command`.

use super::{Child, orphans};
use crate::env::turns;
use crate::runtime::Handle;
use std::ffi::OsStr;
use std::future::Future;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

/// Starts processes, like [`std::process::Command`].
///
/// # Examples
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
    /// Creates a command for `program`, which is searched for in `PATH` unless it contains a slash.
    ///
    /// It has no arguments, and inherits the environment, working directory and standard streams of
    /// this process.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let output = Command::new("echo").arg("hello").output().await?;
    /// assert_eq!(output.stdout, b"hello\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn new<S: AsRef<OsStr>>(program: S) -> Command {
        Command::from(std::process::Command::new(program))
    }

    /// Returns the underlying command of the standard library.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// let mut command = Command::new("ls");
    /// command.arg("-l");
    /// assert_eq!(command.as_std().get_args().collect::<Vec<_>>(), ["-l"]);
    /// ```
    pub fn as_std(&self) -> &std::process::Command {
        &self.std
    }

    /// Returns a mutable reference to the underlying command of the standard library.
    pub fn as_std_mut(&mut self) -> &mut std::process::Command {
        &mut self.std
    }

    /// Converts into a command of the standard library. [`kill_on_drop`](Self::kill_on_drop) is
    /// lost.
    pub fn into_std(self) -> std::process::Command {
        self.std
    }

    /// Adds an argument.
    pub fn arg<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Command {
        self.std.arg(arg);
        self
    }

    /// Adds several arguments.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let output = Command::new("echo").arg("-n").args(["a", "b"]).output().await?;
    /// assert_eq!(output.stdout, b"a b");
    /// # Ok(())
    /// # }
    /// ```
    pub fn args<I, S>(&mut self, args: I) -> &mut Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.std.args(args);
        self
    }

    /// Sets an environment variable.
    pub fn env<K, V>(&mut self, key: K, val: V) -> &mut Command
    where
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.env(key, val);
        self
    }

    /// Sets several environment variables.
    pub fn envs<I, K, V>(&mut self, vars: I) -> &mut Command
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.envs(vars);
        self
    }

    /// Removes an environment variable.
    pub fn env_remove<K: AsRef<OsStr>>(&mut self, key: K) -> &mut Command {
        self.std.env_remove(key);
        self
    }

    /// Removes all environment variables.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let output = Command::new("env").env_clear().env("KEY", "value").output().await?;
    /// assert_eq!(output.stdout, b"KEY=value\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn env_clear(&mut self) -> &mut Command {
        self.std.env_clear();
        self
    }

    /// Sets the working directory.
    ///
    /// Use an absolute path for the program then: it is unspecified from which directory a relative
    /// path starts.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let output = Command::new("pwd").current_dir("/").output().await?;
    /// assert_eq!(output.stdout, b"/\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn current_dir<P: AsRef<Path>>(&mut self, dir: P) -> &mut Command {
        self.std.current_dir(dir);
        self
    }

    /// Sets the standard input. By default it is inherited, also for [`output`](Self::output).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    /// use std::process::Stdio;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut cat = Command::new("cat");
    /// cat.stdin(std::fs::File::open("Cargo.toml")?).stdout(Stdio::null());
    /// assert!(cat.status().await?.success());
    /// # Ok(())
    /// # }
    /// ```
    pub fn stdin<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stdin(cfg);
        self
    }

    /// Sets the standard output. By default it is inherited, and piped for
    /// [`output`](Self::output).
    pub fn stdout<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stdout(cfg);
        self
    }

    /// Sets the standard error. By default it is inherited, and piped for [`output`](Self::output).
    pub fn stderr<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stderr(cfg);
        self
    }

    /// Sets whether the process is killed when its [`Child`], or the future of
    /// [`status`](Self::status) or [`output`](Self::output), is dropped. The default is `false`.
    ///
    /// In both cases the process is waited for in the background; see the
    /// [module documentation](super#dropped-children).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let child = Command::new("sleep").arg("1000").kill_on_drop(true).spawn()?;
    /// drop(child); // ends the process
    /// # Ok(())
    /// # }
    /// ```
    pub fn kill_on_drop(&mut self, kill_on_drop: bool) -> &mut Command {
        self.kill_on_drop = kill_on_drop;
        self
    }

    /// Returns whether the process is killed on drop; see [`kill_on_drop`](Self::kill_on_drop).
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// Sets the user id of the process.
    pub fn uid(&mut self, id: u32) -> &mut Command {
        self.std.uid(id);
        self
    }

    /// Sets the group id of the process.
    pub fn gid(&mut self, id: u32) -> &mut Command {
        self.std.gid(id);
        self
    }

    /// Sets the first element of the argument list, which is usually the program's name.
    pub fn arg0<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Command {
        self.std.arg0(arg);
        self
    }

    /// Sets the process group of the process; 0 creates a new one.
    ///
    /// Ctrl-C reaches only the foreground group, so a child in another group is not interrupted
    /// with its parent.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut child = Command::new("sleep").arg("1000").process_group(0).spawn()?;
    /// // Its group has its own id, so a signal can be sent to it and all its children.
    /// let group = child.id().unwrap() as i32;
    /// // SAFETY: a call without pointers.
    /// assert_eq!(unsafe { libc::killpg(group, libc::SIGTERM) }, 0);
    /// child.wait().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn process_group(&mut self, pgroup: i32) -> &mut Command {
        self.std.process_group(pgroup);
        self
    }

    /// Calls `f` in the child after the fork and before the program starts. If `f` fails, so does
    /// [`spawn`](Self::spawn).
    ///
    /// # Safety
    ///
    /// The child has only one thread, and locks that other threads held at the time of the fork are
    /// never released. `f` may therefore do only what a signal handler may do: it must not
    /// allocate, nor use anything of this crate. See
    /// [`std`](std::os::unix::process::CommandExt::pre_exec).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut command = Command::new("sh");
    /// command.args(["-c", "umask"]);
    /// // SAFETY: umask may be called in a signal handler.
    /// unsafe {
    ///     command.pre_exec(|| {
    ///         libc::umask(0o77);
    ///         Ok(())
    ///     });
    /// }
    /// assert_eq!(command.output().await?.stdout, b"0077\n");
    /// # Ok(())
    /// # }
    /// ```
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
    ///
    /// Returns an error if there is no such program, or if a system call fails. Then no process
    /// remains.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut child = Command::new("true").spawn()?;
    /// assert!(child.wait().await?.success());
    /// let error = Command::new("/no/such/program").spawn().unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics, before it starts a process, if the calling thread is in no runtime or if its runtime
    /// has no I/O; see [`enable_io`](crate::runtime::Builder::enable_io).
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        self.spawn_for("Command::spawn")
    }

    #[track_caller]
    fn spawn_for(&mut self, api: &str) -> io::Result<Child> {
        let reactors = Handle::current_for(api).reactors_for_io(api);
        orphans::take_in(&reactors);
        // The child inherits the time slice of this thread.
        turns::lengthen();
        Child::new(self.std.spawn()?, &reactors, self.kill_on_drop)
    }

    /// Starts the process and waits for its end. Its pipes, if there are any, are closed.
    ///
    /// The process is started immediately, not when the future is first polled.
    ///
    /// # Errors
    ///
    /// Returns errors like [`spawn`](Self::spawn) and [`wait`](Child::wait).
    ///
    /// # Panics
    ///
    /// Panics like [`spawn`](Self::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let status = Command::new("sh").args(["-c", "exit 3"]).status().await?;
    /// assert_eq!(status.code(), Some(3));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        let child = self.spawn_for("Command::status");
        async {
            let mut child = child?;
            // Otherwise the child might wait for this end to read or write.
            (child.stdin, child.stdout, child.stderr) = (None, None, None);
            child.wait().await
        }
    }

    /// Starts the process, waits for its end and collects its output.
    ///
    /// The process is started immediately, not when the future is first polled. This sets standard
    /// output and standard error to piped.
    ///
    /// # Errors
    ///
    /// Returns errors like [`spawn`](Self::spawn) and
    /// [`wait_with_output`](Child::wait_with_output).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let output = Command::new("sh").args(["-c", "echo out; echo err >&2"]).output().await?;
    /// assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics like [`spawn`](Self::spawn).
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
