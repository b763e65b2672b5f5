//! What a blocking thread does for a file or a standard stream: one operation at a time, with a buffer
//! that goes to the thread and comes back.

use super::ReadBuf;
use crate::runtime::{Handle, ShutDown};
use crate::task::{JoinError, JoinHandle, coop};
use std::error::Error;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::task::{Context, Poll, ready};

/// The most that one operation reads or writes, unless it is told otherwise; Tokio's figure.
pub(crate) const MAX_BUF_SIZE: usize = 2 * 1024 * 1024;

/// Has a thread run `operation`, and waits for it. If it is dropped meanwhile, the operation goes on.
pub(crate) async fn run<T: Send + 'static>(
    api: &'static str,
    operation: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let handle = Handle::current_for(api).spawn_blocking(operation);
    handle.await.map_err(failure)?
}

/// Why an operation was not done. Nobody aborts one: if it was cancelled for no other reason, its
/// runtime has gone down.
pub(crate) fn failure(error: JoinError) -> io::Error {
    if error.is_cancelled() && error.source().is_none() {
        return ShutDown.into();
    }
    error.into()
}

/// An operation that is ready takes a unit of the task's budget (W9).
pub(crate) fn poll_counted<R>(
    cx: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
) -> Poll<R> {
    let progress = ready!(coop::poll_proceed(cx));
    let output = ready!(poll(cx));
    progress.made_progress();
    Poll::Ready(output)
}

/// The operation that is going on, if there is one, and the buffer while there is none. `D` says
/// what an operation was, and what has come of it.
#[derive(Debug)]
pub(crate) struct Background<D> {
    /// Without memory while an operation has it.
    pub(crate) buffer: Buffer,
    running: Option<JoinHandle<(D, Buffer)>>,
}

impl<D: Send + 'static> Background<D> {
    pub(crate) fn new() -> Self {
        Background { buffer: Buffer::default(), running: None }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Has a thread do something with the buffer. Nothing else may be going on.
    pub(crate) fn start(
        &mut self,
        api: &'static str,
        operation: impl FnOnce(&mut Buffer) -> D + Send + 'static,
    ) {
        debug_assert!(self.running.is_none());
        let handle = Handle::current_for(api);
        let closure = with_buffer(std::mem::take(&mut self.buffer), operation);
        self.running = Some(handle.spawn_blocking(closure));
    }

    /// As [`start`](Self::start), for what the caller will not hear of again: it is done though the
    /// runtime go down before it has a thread. Who fills the buffer gets the handle first: if there is
    /// no runtime, what is to be written must not stay behind and be taken for what was read.
    pub(crate) fn start_mandatory(
        &mut self,
        handle: &Handle,
        operation: impl FnOnce(&mut Buffer) -> D + Send + 'static,
    ) -> io::Result<()> {
        debug_assert!(self.running.is_none());
        let closure = with_buffer(std::mem::take(&mut self.buffer), operation);
        self.running = Some(handle.spawn_mandatory_blocking(closure)?);
        Ok(())
    }

    /// What has come of the operation that was going on, once it has ended; `None` if there was none.
    /// Asks no budget.
    pub(crate) fn poll_done(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<D>>> {
        let Some(running) = &mut self.running else { return Poll::Ready(None) };
        let done = ready!(running.poll_output(cx.waker()));
        self.running = None;
        Poll::Ready(Some(match done {
            Ok((done, buffer)) => {
                self.buffer = buffer;
                Ok(done)
            }
            Err(error) => Err(failure(error)),
        }))
    }
}

fn with_buffer<D>(
    mut buffer: Buffer,
    operation: impl FnOnce(&mut Buffer) -> D,
) -> impl FnOnce() -> (D, Buffer) {
    move || {
        let done = operation(&mut buffer);
        (done, buffer)
    }
}

/// Bytes that were read and nobody has taken yet, or that are to be written.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// Kept, as long as it is long enough, so that it is cleared once and not for each read.
    memory: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    pub(crate) fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }

    /// Moves as much as there is room for.
    pub(crate) fn move_to(&mut self, room: &mut ReadBuf<'_>) {
        let count = self.len().min(room.remaining());
        room.put_slice(&self.memory[self.start..self.start + count]);
        self.start += count;
    }

    /// Copies as much as there may be in it, in place of what it holds.
    pub(crate) fn copy_from(&mut self, slices: &[IoSlice<'_>], max: usize) -> usize {
        self.memory.clear();
        for slice in slices {
            let count = slice.len().min(max - self.memory.len());
            self.memory.extend_from_slice(&slice[..count]);
        }
        (self.start, self.end) = (0, self.memory.len());
        self.end
    }

    /// Reads once, in place of what it holds.
    pub(crate) fn read_from(&mut self, mut source: impl Read, max: usize) -> io::Result<()> {
        self.clear();
        if self.memory.capacity() < max {
            self.memory = vec![0; max];
        } else if self.memory.len() < max {
            self.memory.resize(max, 0);
        }
        self.end = loop {
            match source.read(&mut self.memory[..max]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        Ok(())
    }

    /// Writes all it holds, and holds nothing afterwards, whatever has come of it.
    pub(crate) fn write_to(&mut self, mut sink: impl Write) -> io::Result<()> {
        let result = sink.write_all(&self.memory[self.start..self.end]);
        self.clear();
        result
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Is interrupted before each piece, as a thread that is sent a signal is.
    struct Interrupted<'a>(Vec<&'a [u8]>, bool);

    impl Read for Interrupted<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::Interrupted.into());
            }
            self.0.remove(0).read(room)
        }
    }

    fn bytes(buffer: &mut Buffer, count: usize) -> Vec<u8> {
        let mut memory = vec![0; count];
        let mut room = ReadBuf::new(&mut memory);
        buffer.move_to(&mut room);
        room.filled().to_vec()
    }

    #[test]
    fn a_read_that_is_interrupted_is_tried_again() {
        let mut buffer = Buffer::default();
        let mut source = Interrupted(vec![b"abc", b"", b"defgh"], false);
        buffer.read_from(&mut source, 8).unwrap();
        assert_eq!((bytes(&mut buffer, 2), buffer.len()), (b"ab".to_vec(), 1));
        buffer.read_from(&mut source, 8).unwrap();
        assert!(buffer.is_empty(), "the end");
        buffer.read_from(&mut source, 4).unwrap();
        assert_eq!(bytes(&mut buffer, 8), b"defg");
    }

    /// A buffer is used for reads and writes of all sizes in turn.
    #[test]
    fn a_buffer_holds_what_was_last_put_into_it() {
        let mut buffer = Buffer::default();
        buffer.read_from(&b"0123456789"[..], 10).unwrap();
        assert_eq!(bytes(&mut buffer, 4), b"0123");
        assert_eq!(buffer.copy_from(&[IoSlice::new(b"abc"), IoSlice::new(b"def")], 5), 5);
        let mut written = Vec::new();
        buffer.write_to(&mut written).unwrap();
        assert_eq!((written.as_slice(), buffer.len()), (&b"abcde"[..], 0));
        buffer.read_from(&b"xyz"[..], 100).unwrap();
        assert_eq!(bytes(&mut buffer, 100), b"xyz");
    }

    #[test]
    fn what_cannot_be_written_is_not_written_later() {
        let mut buffer = Buffer::default();
        buffer.copy_from(&[IoSlice::new(b"abcdef")], 10);
        let mut room = [0; 4];
        let error = buffer.write_to(&mut room[..]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WriteZero);
        assert_eq!((&room, buffer.is_empty()), (b"abcd", true));
    }
}
