//! The source of a trace: a file, or bytes in memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A file, or bytes in memory.
#[derive(Debug)]
pub(super) enum Source {
    File { file: File, length: u64 },
    Bytes(Vec<u8>),
}

impl Source {
    /// # Errors
    /// If the file cannot be read at arbitrary positions.
    pub(super) fn file(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            let what = "not a regular file: a trace is read at many places, so copy it to one";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(Source::File { file, length: metadata.len() })
    }

    pub(super) fn length(&self) -> u64 {
        match self {
            Source::File { length, .. } => *length,
            Source::Bytes(bytes) => bytes.len() as u64,
        }
    }

    pub(super) fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Source::File { file, .. } => file.read_exact_at(buffer, offset),
            Source::Bytes(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let rest = bytes.get(start..).and_then(|rest| rest.get(..buffer.len()));
                buffer.copy_from_slice(rest.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}
