//! `Child`.

use super::reaper::{Reaper, Waited};
use super::{ChildStderr, ChildStdin, ChildStdout, orphans};
use crate::io::{AsyncRead, AsyncReadExt};
use crate::reactor::Reactors;
use crate::runtime::{Handle, is_rt_shutdown_err};
use crate::task::coop;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::process::{ExitStatus, Output};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A child process that [`Command::spawn`](super::Command::spawn) has started.
///
/// Dropping it does not end the process, unless [`kill_on_drop`](super::Command::kill_on_drop) is
/// set; see the [module documentation](super#dropped-children).
///
/// # Examples
///
/// ```
/// use heist::process::Command;
///
/// # #[heist::main]
/// # async fn main() -> std::io::Result<()> {
/// let mut child = Command::new("true").spawn()?;
/// assert!(child.id().is_some());
/// assert!(child.wait().await?.success());
/// assert_eq!(child.id(), None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Child {
    process: Process,
    /// This end of the child's standard input, if it is [piped](std::process::Stdio::piped). Take
    /// it out to keep it open during [`wait`](Self::wait).
    pub stdin: Option<ChildStdin>,
    /// This end of the child's standard output, if it is piped.
    pub stdout: Option<ChildStdout>,
    /// This end of the child's standard error, if it is piped.
    pub stderr: Option<ChildStderr>,
}

#[derive(Debug)]
enum Process {
    /// As far as is known.
    Runs(Running),
    Exited(ExitStatus),
}

/// A process that is waited for even if its `Child` is dropped.
struct Running {
    /// `None` only during the drop.
    reaper: Option<Reaper>,
    kill_on_drop: bool,
}

impl Child {
    /// Makes a `Child` of a process that was just started. If the runtime cannot wait for it or use
    /// its pipes, the process is killed, because the caller gets an error.
    pub(super) fn new(
        mut child: std::process::Child,
        reactors: &Arc<Reactors>,
        kill_on_drop: bool,
    ) -> io::Result<Child> {
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        let reaper = Reaper::new(child, reactors).map_err(|(mut child, error)| {
            let _ = child.kill();
            orphans::abandon(child);
            error
        })?;
        let mut running = Running { reaper: Some(reaper), kill_on_drop: true };
        let stdin = stdin.map(|end| ChildStdin::new(end, reactors)).transpose()?;
        let stdout = stdout.map(|end| ChildStdout::new(end, reactors)).transpose()?;
        let stderr = stderr.map(|end| ChildStderr::new(end, reactors)).transpose()?;
        running.kill_on_drop = kill_on_drop;
        Ok(Child { process: Process::Runs(running), stdin, stdout, stderr })
    }

    /// Returns the process id, or `None` if the process is known to have exited, because the id may
    /// then belong to another process.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut child = Command::new("true").spawn()?;
    /// assert!(child.id().is_some());
    /// child.wait().await?;
    /// assert_eq!(child.id(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn id(&self) -> Option<u32> {
        match &self.process {
            Process::Runs(running) => running.reaper.as_ref().map(Reaper::id),
            Process::Exited(_) => None,
        }
    }

    /// Waits until the process has exited, and returns its status. Later calls return the same
    /// status.
    ///
    /// This closes [`stdin`](Self::stdin) first, unless it was taken out, because the child may
    /// wait for the end of its input. A child that writes more to a pipe than fits into it does not
    /// exit until the pipe is read; see [`wait_with_output`](Self::wait_with_output).
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe: it can be dropped at any time and called again.
    ///
    /// # Errors
    ///
    /// Returns an error if other code has waited for the process, so that its status is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut child = Command::new("sh").args(["-c", "exit 3"]).spawn()?;
    /// assert_eq!(child.wait().await?.code(), Some(3));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        poll_fn(|cx| self.poll_wait(cx)).await
    }

    fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        let budget = ready!(coop::poll_proceed(cx));
        let status = match &mut self.process {
            Process::Runs(running) => ready!(running.poll_wait(cx)),
            Process::Exited(status) => Ok(*status),
        };
        budget.made_progress();
        if let Ok(status) = status {
            self.process = Process::Exited(status);
        }
        Poll::Ready(status)
    }

    /// Returns the status of the process if it has exited, without waiting.
    ///
    /// # Errors
    ///
    /// Returns an error if other code has waited for the process.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    /// use std::process::Stdio;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut cat = Command::new("cat").stdin(Stdio::piped()).spawn()?;
    /// assert_eq!(cat.try_wait()?, None);
    /// cat.wait().await?;
    /// assert!(cat.try_wait()?.is_some_and(|status| status.success()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let status = match &mut self.process {
            Process::Runs(running) => running.reaper().try_wait()?,
            Process::Exited(status) => return Ok(Some(*status)),
        };
        if let Some(status) = status {
            self.process = Process::Exited(status);
        }
        Ok(status)
    }

    /// Sends `SIGKILL` to the process, without waiting for its end. Does nothing if the process is
    /// known to have exited.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut sleep = Command::new("sleep").arg("1000").spawn()?;
    /// sleep.start_kill()?;
    /// assert!(!sleep.wait().await?.success());
    /// # Ok(())
    /// # }
    /// ```
    pub fn start_kill(&mut self) -> io::Result<()> {
        match &mut self.process {
            Process::Runs(running) => running.reaper().kill(),
            Process::Exited(_) => Ok(()),
        }
    }

    /// Kills the process and waits for its end.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the signal has been sent, and [`wait`](Self::wait) can be called.
    ///
    /// # Errors
    ///
    /// Returns errors like [`start_kill`](Self::start_kill) and [`wait`](Self::wait).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::process::Command;
    /// use std::os::unix::process::ExitStatusExt;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut sleep = Command::new("sleep").arg("1000").spawn()?;
    /// sleep.kill().await?;
    /// assert_eq!(sleep.wait().await?.signal(), Some(libc::SIGKILL));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn kill(&mut self) -> io::Result<()> {
        self.start_kill()?;
        self.wait().await?;
        Ok(())
    }

    /// Waits until the process has exited, and collects its output as far as that is piped.
    ///
    /// This closes [`stdin`](Self::stdin) first, unless it was taken out.
    ///
    /// # Cancel safety
    ///
    /// This method is not cancel safe: if the future is dropped, the output read so far is lost.
    ///
    /// # Errors
    ///
    /// Returns errors like [`wait`](Self::wait), and errors of reading the pipes.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::AsyncWriteExt;
    /// use heist::process::Command;
    /// use std::process::Stdio;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut wc = Command::new("wc").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    /// let mut stdin = wc.stdin.take().unwrap();
    /// // Written beside the wait: neither side waits for the other with a full pipe.
    /// heist::spawn(async move { stdin.write_all(&[0; 1 << 20]).await });
    /// let output = wc.wait_with_output().await?;
    /// assert_eq!(output.stdout.trim_ascii(), b"1048576");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn wait_with_output(mut self) -> io::Result<Output> {
        let (mut stdout, mut stderr) = (self.stdout.take(), self.stderr.take());
        // The pipes are kept until the end: if one of them failed and were closed, a child that
        // continues to write would be ended by SIGPIPE, as if the fault were its own.
        let (status, stdout, stderr) = crate::tokio_parts::try_join!(
            self.wait(),
            read_all(&mut stdout),
            read_all(&mut stderr)
        )?;
        Ok(Output { status, stdout, stderr })
    }
}

async fn read_all(pipe: &mut Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

impl Running {
    fn reaper(&mut self) -> &mut Reaper {
        self.reaper.as_mut().expect("a process that is dropped is not used")
    }

    fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        loop {
            let error = match ready!(self.reaper().poll_wait(cx)) {
                Waited::Exited(status) => return Poll::Ready(Ok(status)),
                Waited::Lost(error) => return Poll::Ready(Err(error)),
                Waited::NoNews(error) => error,
            };
            // Its runtime has been shut down, but it may be awaited in another.
            let here = Handle::try_current().ok().and_then(|handle| handle.reactors_if_io());
            match here.filter(|here| is_rt_shutdown_err(&error) && !self.reaper().is_in(here)) {
                Some(here) => self.reaper().move_to(&here)?,
                None => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut reaper) = self.reaper.take() else { return };
        if self.kill_on_drop {
            let _ = reaper.kill();
        }
        if let Ok(None) = reaper.try_wait() {
            orphans::adopt(reaper);
        }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.reaper.as_ref().map(Reaper::id);
        f.debug_struct("Running").field("id", &id).finish()
    }
}
