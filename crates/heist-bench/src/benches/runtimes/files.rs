//! Files whose contents the system has in its cache, as a server of static files finds them.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use heist_testing::Rng;
use tempfile::NamedTempFile;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, SeekFrom};

use super::{AsyncRuntime, Story, on_worker, sides, subject};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::benches::cpu_time;
use crate::unit::Unit;

/// More than there are workers, as in a server.
const TASKS: u64 = 64;

/// Of each task in a sample, which makes a sample some 10 ms long.
const READS: u64 = 200;

/// Bytes of a read.
const PIECE: usize = 4096;

/// Words of the file. Each is its own number.
const WORDS: u64 = 1 << 20;

const WORD: usize = size_of::<u64>();

pub fn bench() -> Bench {
    Bench::new(
        "file_read_4k",
        "64 tasks that read 4 KiB of a cached file 200 times, at random places; per read",
        Unit::Us,
        Pace::Once,
    )
    .row("file_read_4k_cpu", "the same; CPU time for a read", Unit::Us)
    .side(Runtime::Heist, side::<sides::Heist>)
    .side(Runtime::Tokio, side::<sides::Tokio>)
}

/// A runtime with files.
pub trait ReadsFiles: AsyncRuntime {
    type File: AsyncRead + AsyncSeek + Unpin + Send + 'static;

    /// Opens a file for reading. Must be called by a task of the runtime.
    fn open(path: PathBuf) -> impl Future<Output = io::Result<Self::File>> + Send;
}

fn side<F: ReadsFiles>(
    setup: &Setup,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<F>, Fault> {
    subject::<F, Reads<F>, _>(setup, |setup| Reads {
        reads: setup.scaled(READS),
        files: Vec::new(),
        source: None,
    })
}

/// `F` is the runtime of the side; a story knows it by a narrower interface.
struct Reads<F: ReadsFiles> {
    reads: u64,
    /// One for each task, opened once.
    files: Vec<F::File>,
    /// Removed when the side ends.
    source: Option<NamedTempFile>,
}

impl<F: ReadsFiles> Reads<F> {
    fn open<R: AsyncRuntime>(&mut self, runtime: &R) -> io::Result<()> {
        let mut source = NamedTempFile::new()?;
        let words: Vec<u8> = (0..WORDS).flat_map(u64::to_ne_bytes).collect();
        source.write_all(&words)?;
        for _ in 0..TASKS {
            self.files.push(on_worker(runtime, F::open(source.path().to_owned()))?);
        }
        self.source = Some(source);
        Ok(())
    }
}

impl<F: ReadsFiles> Story for Reads<F> {
    fn ready<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<(), Fault> {
        self.open(runtime).map_err(Fault::Setup)
    }

    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let (reads, files) = (self.reads, std::mem::take(&mut self.files));
        let cpu = cpu_time();
        let (elapsed, read) = on_worker(runtime, read_all::<F>(files, reads));
        let cpu = cpu_time() - cpu;
        let mut right = 0;
        for (file, found) in read.map_err(Fault::Setup)? {
            self.files.push(file);
            right += found;
        }
        let expected = TASKS * reads;
        if right != expected {
            return Err(Fault::Wrong { what: "reads of the right bytes", expected, found: right });
        }
        let per_read = |time: Duration| time.as_secs_f64() * 1e6 / expected as f64;
        Ok(Sample::Values([elapsed, cpu].map(per_read).to_vec()))
    }
}

type Read<F> = io::Result<Vec<(<F as ReadsFiles>::File, u64)>>;

/// Returns the time that all reads took, and of each task its file and how many reads found what
/// they should.
async fn read_all<F: ReadsFiles>(files: Vec<F::File>, reads: u64) -> (Duration, Read<F>) {
    let start = Instant::now();
    let spawn = |(number, file)| F::spawn(read_some(file, Rng::new(number), reads));
    let tasks: Vec<_> = (0..).zip(files).map(spawn).collect();
    let mut read = Vec::with_capacity(tasks.len());
    for task in tasks {
        read.push(F::join(task).await);
    }
    (start.elapsed(), read.into_iter().collect())
}

/// The reads of one task.
async fn read_some<T>(mut file: T, mut rng: Rng, reads: u64) -> io::Result<(T, u64)>
where
    T: AsyncRead + AsyncSeek + Unpin,
{
    let mut room = [0; PIECE];
    let mut right = 0;
    for _ in 0..reads {
        let first = rng.below(WORDS - (PIECE / WORD) as u64);
        file.seek(SeekFrom::Start(first * WORD as u64)).await?;
        file.read_exact(&mut room).await?;
        let word = |bytes: Option<&[u8; WORD]>| bytes.map(|bytes| u64::from_ne_bytes(*bytes));
        let last = first + (PIECE / WORD) as u64 - 1;
        let found = (word(room.first_chunk()), word(room.last_chunk()));
        right += u64::from(found == (Some(first), Some(last)));
    }
    Ok((file, right))
}
