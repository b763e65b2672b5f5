//! The file that is written.

use std::fs::{self, File};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

/// A file that appears under its name when it is whole; or standard output, for the name `-`.
#[derive(Debug)]
pub(super) struct Output {
    to: To,
    bytes: u64,
}

#[derive(Debug)]
enum To {
    Stdout(BufWriter<Stdout>),
    File {
        file: BufWriter<File>,
        temporary: Temporary,
        path: PathBuf,
    },
    /// A device or a pipe: there is nothing to rename over it.
    Special(BufWriter<File>),
}

/// A file that is removed unless it has got its name.
#[derive(Debug)]
struct Temporary(Option<PathBuf>);

impl Output {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let to = if path.as_os_str() == "-" {
            To::Stdout(BufWriter::new(io::stdout()))
        } else if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            To::Special(BufWriter::new(File::create(path)?))
        } else {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{}.tmp", std::process::id()));
            let temporary = PathBuf::from(name);
            let file = BufWriter::with_capacity(1 << 18, File::create(&temporary)?);
            To::File { file, temporary: Temporary(Some(temporary)), path: path.to_owned() }
        };
        Ok(Output { to, bytes: 0 })
    }

    /// Returns how much was written.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.flush()?;
        if let To::File { file, mut temporary, path } = self.to {
            drop(file);
            if let Some(name) = &temporary.0 {
                fs::rename(name, path)?;
            }
            temporary.0 = None;
        }
        Ok(self.bytes)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.to {
            To::Stdout(out) => out.write(bytes)?,
            To::File { file, .. } | To::Special(file) => file.write(bytes)?,
        };
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Stdout(out) => out.flush(),
            To::File { file, .. } | To::Special(file) => file.flush(),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(name) = &self.0 {
            // Nothing more can be done about it here, and the reason has been told.
            let _ = fs::remove_file(name);
        }
    }
}
