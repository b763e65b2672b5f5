//! A child process.

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
/// Dropping it does not end the process, unless [`kill_on_drop`](super::Command::kill_on_drop) says
/// so; what becomes of it is told in the [module](super#children-that-nobody-waits-for).
#[derive(Debug)]
pub struct Child {
    process: Process,
    /// Our end of its standard input, if that is [piped](std::process::Stdio::piped). Take it out
    /// to keep it open beside [`wait`](Self::wait).
    pub stdin: Option<ChildStdin>,
    /// Our end of its standard output, if that is piped.
    pub stdout: Option<ChildStdout>,
    /// Our end of its standard error, if that is piped.
    pub stderr: Option<ChildStderr>,
}

#[derive(Debug)]
enum Process {
    /// As far as we know.
    Runs(Running),
    Exited(ExitStatus),
}

/// Somebody waits for it whatever happens.
struct Running {
    /// `None` while it is dropped, and only then.
    reaper: Option<Reaper>,
    kill_on_drop: bool,
}

impl Child {
    /// For a process that was just started. If the runtime cannot wait for it or use its pipes it
    /// is killed, as its starter is told that there is none.
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

    /// Its number in the system; `None` once [`wait`](Self::wait) or [`try_wait`](Self::try_wait)
    /// has told that it has exited, for then the number may be another's.
    pub fn id(&self) -> Option<u32> {
        match &self.process {
            Process::Runs(running) => running.reaper.as_ref().map(Reaper::id),
            Process::Exited(_) => None,
        }
    }

    /// Waits until it has exited. Our end of its standard input is closed first, if it was not
    /// taken out: it may wait for more. Once it is told the status stays the same.
    ///
    /// May be dropped at any time, and called again.
    ///
    /// A child whose output is piped, and that writes more than fits into the pipe, does not exit
    /// until somebody reads it: see [`wait_with_output`](Self::wait_with_output).
    ///
    /// # Errors
    /// If somebody else has waited for it, so that its status is lost.
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

    /// Its status, if it has exited.
    ///
    /// # Errors
    /// If somebody else has waited for it.
    ///
    /// ```
    /// # use heist::process::Command;
    /// # use std::process::Stdio;
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

    /// Sends it `SIGKILL`, without waiting for its end. Does nothing if it is known to have exited.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn start_kill(&mut self) -> io::Result<()> {
        match &mut self.process {
            Process::Runs(running) => running.reaper().kill(),
            Process::Exited(_) => Ok(()),
        }
    }

    /// Kills it, and waits for its end.
    ///
    /// ```
    /// # use heist::process::Command;
    /// # use std::os::unix::process::ExitStatusExt;
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut sleep = Command::new("sleep").arg("1000").spawn()?;
    /// sleep.kill().await?;
    /// assert_eq!(sleep.wait().await?.signal(), Some(libc::SIGKILL));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`start_kill`](Self::start_kill) and [`wait`](Self::wait).
    pub async fn kill(&mut self) -> io::Result<()> {
        self.start_kill()?;
        self.wait().await?;
        Ok(())
    }

    /// Waits for its end while reading what it writes to standard output and standard error, as far
    /// as they are piped. Our end of its standard input is closed first, if it was not taken out.
    ///
    /// # Errors
    /// Those of [`wait`](Self::wait), and those of reading.
    pub async fn wait_with_output(mut self) -> io::Result<Output> {
        let (mut stdout, mut stderr) = (self.stdout.take(), self.stderr.take());
        // The pipes are kept until all is done: a child that writes on after one of them has failed
        // would be ended by SIGPIPE, and would seem to have gone wrong by itself.
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
            // Its runtime is gone, but perhaps it is awaited in another.
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
