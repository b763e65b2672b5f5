//! Random operations on an open file, cancelled ones among them, beside a model of it: bytes and a
//! position.

use crate::held::{Held, poll_once, runtime_with_one_blocking_thread};
use heist::fs::File;
use heist::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, SeekFrom};
use heist::runtime::{Builder, Runtime};
use heist_testing::{Rng, scaled, seed};
use std::path::PathBuf;
use std::task::Poll;
use tempfile::TempDir;

/// The file as it should be.
#[derive(Default)]
struct Model {
    bytes: Vec<u8>,
    position: usize,
}

impl Model {
    fn read(&mut self, room: usize, read: &[u8]) {
        let left = self.bytes.get(self.position..).unwrap_or_default();
        assert_eq!(read, &left[..read.len().min(left.len())]);
        assert!(!read.is_empty() || room == 0 || left.is_empty(), "no end here");
        self.position += read.len();
    }

    fn write(&mut self, written: &[u8]) {
        let end = self.position + written.len();
        if !written.is_empty() {
            self.bytes.resize(self.bytes.len().max(end), 0);
            self.bytes[self.position..end].copy_from_slice(written);
            self.position = end;
        }
    }

    /// Where a seek leads, or `None` if it fails.
    fn seek(&mut self, to: SeekFrom) -> Option<u64> {
        let to = match to {
            SeekFrom::Start(start) => i64::try_from(start).ok()?,
            SeekFrom::End(end) => self.bytes.len() as i64 + end,
            SeekFrom::Current(current) => self.position as i64 + current,
        };
        self.position = usize::try_from(to).ok()?;
        Some(self.position as u64)
    }
}

struct Run {
    rng: Rng,
    model: Model,
    file: Option<File>,
    path: PathBuf,
    runtimes: [Runtime; 2],
    _dir: TempDir,
}

impl Run {
    fn new(seed: u64) -> Run {
        let flavors = [runtime_with_one_blocking_thread(), {
            Builder::new_current_thread().max_blocking_threads(1).build().unwrap()
        }];
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "").unwrap();
        let (rng, model) = (Rng::new(seed), Model::default());
        let mut run = Run { rng, model, file: None, path, runtimes: flavors, _dir: dir };
        run.open(0);
        run
    }

    /// Opens the file. Tasks may then read it themselves, unlike its other handles.
    fn open(&mut self, which: usize) {
        let mut options = File::options();
        let opening = options.read(true).write(true).open(&self.path);
        self.file = Some(self.runtimes[which].block_on(opening).unwrap());
        self.model.position = 0;
    }

    fn below(&mut self, bound: u64) -> usize {
        self.rng.below(bound) as usize
    }

    fn position(&mut self) -> SeekFrom {
        let by = self.below(60) as i64 - 20;
        match self.below(3) {
            0 => SeekFrom::Start(self.rng.below(50)),
            1 => SeekFrom::End(by - 20),
            _ => SeekFrom::Current(by),
        }
    }

    fn bytes(&mut self) -> Vec<u8> {
        let count = self.below(12);
        (0..count).map(|_| self.rng.next_u64() as u8).collect()
    }

    fn step(&mut self) {
        let which = self.below(2);
        match self.below(13) {
            0 | 1 => self.read(which),
            2 | 3 => self.cancelled_read(which),
            4 | 5 => self.write(which),
            6 => self.cancelled_write(which),
            7 => self.seek(which),
            8 => self.cancelled_seek(which),
            9 => self.set_len(which),
            10 => self.cancelled_set_len(which),
            11 => self.exchange(which),
            _ => {
                let max = self.below(16) + 1;
                self.file.as_mut().unwrap().set_max_buf_size(max);
            }
        }
    }

    fn read(&mut self, which: usize) {
        let mut room = vec![0; self.below(20)];
        let file = self.file.as_mut().unwrap();
        let count = self.runtimes[which].block_on(file.read(&mut room)).unwrap();
        self.model.read(room.len(), &room[..count]);
    }

    fn cancelled_read(&mut self, which: usize) {
        let mut room = vec![0; self.below(20)];
        let held = self.hold(which);
        let _entered = self.runtimes[which].enter();
        if let Poll::Ready(read) = poll_once(self.file.as_mut().unwrap().read(&mut room)) {
            let count = read.unwrap();
            self.model.read(room.len(), &room[..count]);
        }
        held.into_iter().for_each(Held::release);
    }

    fn write(&mut self, which: usize) {
        let bytes = self.bytes();
        let file = self.file.as_mut().unwrap();
        let count = self.runtimes[which].block_on(file.write(&bytes)).unwrap();
        self.model.write(&bytes[..count]);
    }

    /// It waits for what was going on before it, if for anything.
    fn cancelled_write(&mut self, which: usize) {
        let bytes = self.bytes();
        let held = self.hold(which);
        let _entered = self.runtimes[which].enter();
        if let Poll::Ready(written) = poll_once(self.file.as_mut().unwrap().write(&bytes)) {
            self.model.write(&bytes[..written.unwrap()]);
        }
        held.into_iter().for_each(Held::release);
    }

    fn seek(&mut self, which: usize) {
        let to = self.position();
        let sought = self.runtimes[which].block_on(self.file.as_mut().unwrap().seek(to)).ok();
        assert_eq!(sought, self.model.seek(to));
    }

    /// It is begun at once, because nothing else is going on, and is done.
    fn cancelled_seek(&mut self, which: usize) {
        let to = self.position();
        self.quiet(which);
        let held = self.hold(which);
        let _entered = self.runtimes[which].enter();
        let _ = poll_once(self.file.as_mut().unwrap().seek(to));
        self.model.seek(to);
        held.into_iter().for_each(Held::release);
        // Else a seek that follows reports what has come of this one.
        let _ = self.runtimes[which].block_on(self.file.as_mut().unwrap().flush());
    }

    fn set_len(&mut self, which: usize) {
        let len = self.below(50);
        let file = self.file.as_ref().unwrap();
        self.runtimes[which].block_on(file.set_len(len as u64)).unwrap();
        self.model.bytes.resize(len, 0);
        let metadata = self.runtimes[which].block_on(file.metadata()).unwrap();
        assert_eq!(metadata.len(), len as u64);
    }

    fn cancelled_set_len(&mut self, which: usize) {
        let len = self.below(50);
        self.quiet(which);
        let held = self.hold(which);
        let _entered = self.runtimes[which].enter();
        let _ = poll_once(self.file.as_ref().unwrap().set_len(len as u64));
        self.model.bytes.resize(len, 0);
        held.into_iter().for_each(Held::release);
    }

    /// Goes on with another handle on the same file, or with the file opened anew.
    fn exchange(&mut self, which: usize) {
        if self.below(2) == 0 {
            self.quiet(which);
            return self.open(which);
        }
        let file = self.file.take().unwrap();
        self.file = Some(if self.below(2) == 0 {
            let clone = self.runtimes[which].block_on(file.try_clone()).unwrap();
            assert_eq!(clone.max_buf_size(), file.max_buf_size());
            clone
        } else {
            File::from_std(self.runtimes[which].block_on(file.into_std()))
        });
    }

    /// Waits until nothing is going on.
    fn quiet(&mut self, which: usize) {
        self.runtimes[which].block_on(self.file.as_mut().unwrap().flush()).unwrap();
    }

    /// Holds the blocking thread now and then, so that what is begun has to wait.
    fn hold(&mut self, which: usize) -> Option<Held> {
        (self.below(2) == 0).then(|| Held::begin(self.runtimes[which].handle()))
    }

    fn end(mut self) {
        self.quiet(0);
        let mut file = self.file.take().unwrap();
        let bytes = self.runtimes[0].block_on(async {
            file.rewind().await.unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).await.unwrap();
            bytes
        });
        assert_eq!(bytes, self.model.bytes);
    }
}

#[test]
fn a_file_is_what_its_model_is() {
    for round in 0..scaled(40) {
        let seed = seed() ^ round;
        println!("HEIST_STRESS_SEED={seed} replays this round as the first");
        let mut run = Run::new(seed);
        (0..300).for_each(|_| run.step());
        run.end();
    }
}
