//! The parts of a file that are no events: its header, the heads of its chunks, their checksums.
//! `FORMAT.md` has the tables.

mod checksum;

pub(super) use checksum::checksum;

use super::error::ReadError;
use super::event::Lane;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) const MAGIC: [u8; 8] = *b"HEISTTRC";
pub(super) const VERSION: u16 = 3;
/// Those before have fewer kinds of events, and are read as well.
pub(super) const OLDEST: u16 = 1;

/// Magic, version and the length of the rest of the header.
pub(super) const PREFIX: usize = 12;
/// The header's fields before the program's name.
const FIELDS: usize = 16;
pub(super) const CHUNK_HEAD: usize = 16;
/// So much of each lane is in memory at a time, here and there.
pub(super) const MAX_PAYLOAD: usize = 64 * 1024;
/// Longer texts are cut.
pub(super) const MAX_TEXT: usize = 4096;

/// Which chunk belongs to no worker.
const OUTSIDE: u16 = u16::MAX;

/// What a chunk holds.
pub(super) mod kind {
    pub(in crate::trace) const STRINGS: u8 = 1;
    pub(in crate::trace) const NAMES: u8 = 2;
    pub(in crate::trace) const WORDS: u8 = 3;
    pub(in crate::trace) const LOST: u8 = 4;
    pub(in crate::trace) const END: u8 = 5;
}

/// What a trace says about the program that it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The wall clock when the recorder began: the times of events count from here.
    pub started: SystemTime,
    /// The program's name.
    pub program: String,
    /// Its process id.
    pub pid: u32,
    /// How many workers there are, spares included.
    pub workers: u16,
    /// How many seats.
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

    /// How long the header is altogether, as its first bytes say.
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

    /// From as many bytes as [`Header::length`] has said.
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

/// What stands before a chunk's payload.
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

    /// `offset` is where the bytes are, for the error.
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

/// As much of a text as a file takes.
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
