//! Operations of files and standard streams on blocking threads: one at a time, with a buffer that
//! is moved to the thread and back.

use super::ReadBuf;
use crate::runtime::{Handle, ShutDown};
use crate::task::{JoinError, JoinHandle, coop};
use std::error::Error;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::task::{Context, Poll, ready};

/// The default for the maximum that one operation reads or writes; Tokio's figure.
pub(crate) const MAX_BUF_SIZE: usize = 2 * 1024 * 1024;

/// Runs `operation` on a blocking thread and waits for it. If the future is dropped, the operation
/// continues.
pub(crate) async fn run<T: Send + 'static>(
    api: &'static str,
    operation: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let handle = Handle::current_for(api).spawn_blocking(operation);
    handle.await.map_err(failure)?
}

/// The error of an operation that was not run. Operations are never aborted: one that was cancelled
/// for no other reason belongs to a runtime that has been shut down.
pub(crate) fn failure(error: JoinError) -> io::Error {
    if error.is_cancelled() && error.source().is_none() {
        return ShutDown.into();
    }
    error.into()
}

/// Takes a unit of the task's budget if the operation is ready (W9).
pub(crate) fn poll_counted<R>(
    cx: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
) -> Poll<R> {
    let progress = ready!(coop::poll_proceed(cx));
    let output = ready!(poll(cx));
    progress.made_progress();
    Poll::Ready(output)
}

/// The operation in progress, or else the buffer. `D` tells which operation it was, and its result.
#[derive(Debug)]
pub(crate) struct Background<D> {
    /// Empty while an operation has the memory.
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

    /// Starts an operation with the buffer. No other operation may be in progress.
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

    /// Starts an operation that runs even if the runtime is shut down before it has a thread,
    /// because its caller has been told that it will. The caller must get the handle before it
    /// fills the buffer: if there is no runtime, bytes to be written must not be mistaken for bytes
    /// read.
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

    /// The result of the operation in progress when it has ended; `None` if there is none. Takes no
    /// budget.
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

/// Bytes that were read and not taken yet, or that are to be written.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// Kept while it is long enough, so that it is zeroed once and not for each read.
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

    /// Moves as many bytes as fit into `room`.
    pub(crate) fn move_to(&mut self, room: &mut ReadBuf<'_>) {
        let count = self.len().min(room.remaining());
        room.put_slice(&self.memory[self.start..self.start + count]);
        self.start += count;
    }

    /// Replaces the contents with a copy of at most `max` bytes.
    pub(crate) fn copy_from(&mut self, slices: &[IoSlice<'_>], max: usize) -> usize {
        self.memory.clear();
        for slice in slices {
            let count = slice.len().min(max - self.memory.len());
            self.memory.extend_from_slice(&slice[..count]);
        }
        (self.start, self.end) = (0, self.memory.len());
        self.end
    }

    /// Replaces the contents with the result of one read.
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

    /// Writes the contents. The buffer is empty afterwards, even if that fails.
    pub(crate) fn write_to(&mut self, mut sink: impl Write) -> io::Result<()> {
        let result = sink.write_all(&self.memory[self.start..self.end]);
        self.clear();
        result
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Is interrupted before each piece, like a thread that receives a signal.
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
