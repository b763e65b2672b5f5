//! The parts of a file other than events: its header, the headers of its chunks, and their
//! checksums. `FORMAT.md` has the tables.

mod checksum;

pub(super) use checksum::checksum;

use super::error::ReadError;
use super::event::Lane;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) const MAGIC: [u8; 8] = *b"HEISTTRC";
pub(super) const VERSION: u16 = 3;
/// Older versions have fewer kinds of events, and can be read too.
pub(super) const OLDEST: u16 = 1;

/// Magic, version and the length of the rest of the header.
pub(super) const PREFIX: usize = 12;
/// The header's fields before the program's name.
const FIELDS: usize = 16;
pub(super) const CHUNK_HEAD: usize = 16;
/// The size of a chunk: the part of each lane that is in memory at a time.
pub(super) const MAX_PAYLOAD: usize = 64 * 1024;
/// Longer texts are cut.
pub(super) const MAX_TEXT: usize = 4096;

/// The lane number of chunks that belong to no worker.
const OUTSIDE: u16 = u16::MAX;

/// The contents of a chunk.
pub(super) mod kind {
    pub(in crate::trace) const STRINGS: u8 = 1;
    pub(in crate::trace) const NAMES: u8 = 2;
    pub(in crate::trace) const WORDS: u8 = 3;
    pub(in crate::trace) const LOST: u8 = 4;
    pub(in crate::trace) const END: u8 = 5;
}

/// The header of a trace, which describes the recorded program.
///
/// # Examples
///
/// ```
/// use heist::trace::{Header, Trace, Writer};
///
/// let header = Header {
///     started: std::time::SystemTime::now(),
///     program: "example".to_owned(),
///     pid: 1,
///     workers: 2,
///     seats: 1,
/// };
/// let trace = Trace::from_bytes(Writer::new(Vec::new(), &header)?.finish()?)?;
/// assert_eq!((trace.program(), trace.workers()), ("example", 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The wall-clock time at which the recorder started, from which the times of events count.
    pub started: SystemTime,
    /// The name of the program.
    pub program: String,
    /// The process id.
    pub pid: u32,
    /// The number of workers, including spares.
    pub workers: u16,
    /// The number of seats: how many workers can run at the same time.
    pub seats: u16,
}

impl Header {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let program = cut(&self.program);
        let since_epoch = self.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        let started = u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX);
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(((FIELDS + program.len()) as u16).to_le_bytes());
        bytes.extend(started.to_le_bytes());
        bytes.extend(self.pid.to_le_bytes());
        bytes.extend(self.workers.to_le_bytes());
        bytes.extend(self.seats.to_le_bytes());
        bytes.extend(program.as_bytes());
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }

    /// The length of the whole header, according to its first bytes.
    pub(super) fn length(prefix: &[u8; PREFIX]) -> Result<usize, ReadError> {
        if prefix[..8] != MAGIC {
            return Err(ReadError::NotATrace);
        }
        let found = u16_at(prefix, 8);
        if !(OLDEST..=VERSION).contains(&found) {
            return Err(ReadError::Version { found });
        }
        Ok(PREFIX + usize::from(u16_at(prefix, 10)) + 4)
    }

    /// Parses a header of the length that [`Header::length`] returned.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let (signed, signature) = bytes.split_at(bytes.len() - 4);
        if checksum(signed) != u32_at(signature, 0) {
            return Err(ReadError::corrupt(0, "the header's checksum is wrong"));
        }
        let fields = &signed[PREFIX..];
        if fields.len() < FIELDS {
            return Err(ReadError::corrupt(10, "the header is too short"));
        }
        let program = std::str::from_utf8(&fields[FIELDS..])
            .map_err(|_| ReadError::corrupt(0, "the program's name is not UTF-8"))?;
        Ok(Header {
            started: UNIX_EPOCH + Duration::from_nanos(u64_at(fields, 0)),
            program: program.to_owned(),
            pid: u32_at(fields, 8),
            workers: u16_at(fields, 12),
            seats: u16_at(fields, 14),
        })
    }
}

/// The header of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkHead {
    pub(super) kind: u8,
    pub(super) lane: u16,
    pub(super) length: u32,
    pub(super) checksum: u32,
}

impl ChunkHead {
    pub(super) fn new(kind: u8, lane: u16, payload: &[u8]) -> Self {
        debug_assert!(payload.len() <= MAX_PAYLOAD);
        ChunkHead { kind, lane, length: payload.len() as u32, checksum: checksum(payload) }
    }

    pub(super) fn to_bytes(self) -> [u8; CHUNK_HEAD] {
        let mut bytes = [0; CHUNK_HEAD];
        bytes[0] = self.kind;
        bytes[2..4].copy_from_slice(&self.lane.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.checksum.to_le_bytes());
        let own = checksum(&bytes[..12]);
        bytes[12..].copy_from_slice(&own.to_le_bytes());
        bytes
    }

    /// `offset` is the position of the bytes, for errors.
    pub(super) fn from_bytes(bytes: &[u8; CHUNK_HEAD], offset: u64) -> Result<Self, ReadError> {
        if checksum(&bytes[..12]) != u32_at(bytes, 12) {
            return Err(ReadError::corrupt(offset, "the checksum of a chunk's head is wrong"));
        }
        let head = ChunkHead {
            kind: bytes[0],
            lane: u16_at(bytes, 2),
            length: u32_at(bytes, 4),
            checksum: u32_at(bytes, 8),
        };
        if head.length as usize > MAX_PAYLOAD {
            return Err(ReadError::corrupt(offset, "a chunk is longer than chunks are"));
        }
        Ok(head)
    }
}

/// The number of a lane in a file.
pub(super) fn lane_number(lane: Lane) -> io::Result<u16> {
    match lane {
        Lane::Outside => Ok(OUTSIDE),
        Lane::Worker(OUTSIDE) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "trace::Writer: worker 65535 cannot be written; workers count from 0 to 65534",
        )),
        Lane::Worker(number) => Ok(number),
    }
}

pub(super) fn lane_of(number: u16) -> Lane {
    if number == OUTSIDE { Lane::Outside } else { Lane::Worker(number) }
}

/// A text, truncated to the maximal length.
pub(super) fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes_at(bytes, at))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes_at(bytes, at))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes_at(bytes, at))
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut result = [0; N];
    result.copy_from_slice(&bytes[at..at + N]);
    result
}
