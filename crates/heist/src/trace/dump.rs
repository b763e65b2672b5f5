//! Writing the records in memory to a file.

use super::Trace;
use super::buffer::Copied;
use super::event::{EventKind, Lane, StallKind, StringId, TaskId};
use super::format::Header;
use super::recorder::Recorder;
use super::scribe::Scribe;
use super::word::{Item, Word};
use super::writer::Writer;
use crate::env::{SystemCall, without_signals};
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The runtime whose record is written.
pub(crate) struct Subject<'a> {
    pub(crate) recorder: &'a Recorder,
    /// The scribes of the workers, by index.
    pub(crate) scribes: Vec<&'a Scribe>,
    pub(crate) seats: usize,
    /// The name of a task that exists, or has ended recently.
    pub(crate) name_of: fn(u64) -> Option<Arc<str>>,
}

impl Subject<'_> {
    /// Writes the current record.
    pub(crate) fn write(&self, out: impl Write) -> io::Result<()> {
        // All copies first, so that events recorded meanwhile are in none of them.
        let mut outside = self.recorder.copy_outside();
        let workers = self.scribes.iter().enumerate();
        let workers = workers.map(|(number, scribe)| (Lane::Worker(number as u16), scribe.copy()));
        let mut lanes: Vec<(Lane, Copied)> = workers.collect();
        // The current time: in a program in which nothing happens any more, only this shows it.
        let (dumped, _) = Word::of(EventKind::Dumped);
        outside.words.extend([Word::time(self.recorder.nanos()).0, dumped.0]);
        lanes.push((Lane::Outside, outside));
        let mut dump = Dump {
            writer: Writer::new(out, &self.header())?,
            locations: HashMap::new(),
            tasks: BTreeSet::new(),
        };
        for (lane, copied) in &lanes {
            dump.lane(*lane, copied)?;
        }
        for task in std::mem::take(&mut dump.tasks) {
            if let Some(name) = (self.name_of)(task) {
                dump.writer.name(TaskId(task), &name)?;
            }
        }
        dump.writer.finish().map(drop)
    }

    fn header(&self) -> Header {
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(Path::file_name).unwrap_or_default();
        Header {
            started: self.recorder.started,
            program: program.to_string_lossy().into_owned(),
            pid: std::process::id(),
            workers: self.scribes.len() as u16,
            seats: self.seats as u16,
        }
    }
}

struct Dump<W> {
    writer: Writer<W>,
    locations: HashMap<u64, StringId>,
    /// The tasks that are named in the trace.
    tasks: BTreeSet<u64>,
}

impl<W: Write> Dump<W> {
    fn lane(&mut self, lane: Lane, copied: &Copied) -> io::Result<()> {
        if copied.lost > 0 {
            self.writer.lost(lane, copied.lost)?;
        }
        for word in &copied.words {
            let word = self.translate(Word(*word))?;
            self.writer.words(lane, [word])?;
        }
        Ok(())
    }

    /// Texts have ids in a file, but addresses or numbers of system calls in memory.
    fn translate(&mut self, word: Word) -> io::Result<Word> {
        Ok(match word.item() {
            Some(Item::Location(address)) => Word::location(self.location(address)?.0.into()),
            Some(Item::Stall { worker, kind: StallKind::Blocked(number) }) => {
                let call = self.writer.string(&SystemCall::new(number.0).to_string())?;
                let kind = StallKind::Blocked(call);
                Word::of(EventKind::Stall { worker, task: TaskId(0), kind }).0
            }
            Some(Item::SpawnedAt { task } | Item::Polled { task, .. } | Item::StallTask(task)) => {
                self.tasks.insert(task.0);
                word
            }
            _ => word,
        })
    }

    fn location(&mut self, address: u64) -> io::Result<StringId> {
        if let Some(id) = self.locations.get(&address) {
            return Ok(*id);
        }
        let location: *const Location<'static> =
            std::ptr::with_exposed_provenance(address as usize);
        // SAFETY: (type) only Scribe::tell() makes such a word, of a reference that lives forever.
        let location = unsafe { &*location };
        let id = self.writer.string(&location.to_string())?;
        self.locations.insert(address, id);
        Ok(id)
    }
}

/// Writes a temporary file, which then replaces `path`. A pipe or a device is written directly.
/// Signals for failed writes are suppressed.
///
/// # Errors
/// Returns errors of the file. After [`io::ErrorKind::FileTooLarge`] the part of the trace that
/// fits remains, if it is readable. After other errors nothing remains, because a file that fills
/// the disk does harm.
pub(crate) fn to_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fill(File::options().write(true).open(path)?, write);
    }
    let beside = beside(path);
    let written = File::create_new(&beside).and_then(|file| fill(file, write));
    let is_kept = match &written {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::FileTooLarge && Trace::open(&beside).is_ok(),
    };
    let placed = if is_kept { fs::rename(&beside, path) } else { Ok(()) };
    if !is_kept || placed.is_err() {
        // The error of creating or writing the file is reported.
        let _ = fs::remove_file(&beside);
    }
    written.and(placed)
}

fn fill(file: File, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    // Dropping the buffer after an error may write once more.
    without_signals(|| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    })
}

/// A unique name.
fn beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // Relaxed: the numbers only have to differ.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{number}.tmp", std::process::id()));
    name.into()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::io::Read;
    use std::os::unix::fs::FileTypeExt;

    #[test]
    fn nothing_is_left_of_a_dump_that_failed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace");
        let failed = to_file(&path, |out| {
            out.write_all(b"half of it")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_pipe_is_written_to_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        // Opened for writing too, so that it need not wait for the other end.
        let mut pipe = File::options().read(true).write(true).open(&path).unwrap();
        to_file(&path, |out| out.write_all(b"all")).unwrap();
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
        let mut read = [0; 3];
        pipe.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"all");
    }
}
