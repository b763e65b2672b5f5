//! The index of a trace: its chunks, texts and names.

use super::super::error::ReadError;
use super::super::event::{Lane, StringId, TaskId};
use super::super::format::{
    self, CHUNK_HEAD, ChunkHead, Header, PREFIX, kind, lane_of, u16_at, u32_at, u64_at,
};
use super::source::Source;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

#[derive(Debug, Default)]
pub(super) struct Index {
    /// The positions of the chunks of words.
    lanes: BTreeMap<Lane, Vec<u64>>,
    lost: BTreeMap<Lane, u64>,
    /// All texts, concatenated.
    text: String,
    strings: Vec<Range<usize>>,
    names: HashMap<TaskId, StringId>,
    is_complete: bool,
}

/// Reads the header of the trace, and those of all chunks.
pub(super) fn read(source: &Source) -> Result<(Header, Index), ReadError> {
    let mut prefix = [0; PREFIX];
    if source.length() < PREFIX as u64 {
        return Err(ReadError::NotATrace);
    }
    source.read(&mut prefix, 0)?;
    let length = Header::length(&prefix)?;
    if source.length() < length as u64 {
        return Err(ReadError::corrupt(source.length(), "the file ends within its header"));
    }
    let mut bytes = vec![0; length];
    source.read(&mut bytes, 0)?;
    let header = Header::from_bytes(&bytes)?;

    let mut index = Index::default();
    let mut offset = length as u64;
    while let Some(chunk) = chunk_at(source, offset)? {
        if index.is_complete {
            return Err(ReadError::corrupt(offset, "the file goes on behind its end"));
        }
        index.add(source, offset, chunk)?;
        offset += CHUNK_HEAD as u64 + u64::from(chunk.length);
    }
    Ok((header, index))
}

/// Reads the header of the chunk at `offset`, if the chunk is complete.
fn chunk_at(source: &Source, offset: u64) -> Result<Option<ChunkHead>, ReadError> {
    let left = source.length() - offset;
    if left < CHUNK_HEAD as u64 {
        return Ok(None);
    }
    let mut bytes = [0; CHUNK_HEAD];
    source.read(&mut bytes, offset)?;
    let head = ChunkHead::from_bytes(&bytes, offset)?;
    Ok((u64::from(head.length) <= left - CHUNK_HEAD as u64).then_some(head))
}

/// Reads the payload of the chunk at `offset` into `buffer`.
pub(super) fn read_payload(
    source: &Source,
    offset: u64,
    buffer: &mut Vec<u8>,
) -> Result<(), ReadError> {
    let head = chunk_at(source, offset)?
        .ok_or(ReadError::corrupt(offset, "the file became shorter while it was read"))?;
    buffer.resize(head.length as usize, 0);
    source.read(buffer, offset + CHUNK_HEAD as u64)?;
    if format::checksum(buffer) != head.checksum {
        return Err(ReadError::corrupt(offset, "the checksum of a chunk is wrong"));
    }
    Ok(())
}

impl Index {
    fn add(&mut self, source: &Source, offset: u64, head: ChunkHead) -> Result<(), ReadError> {
        let mut payload = Vec::new();
        match head.kind {
            kind::WORDS => {
                if head.length == 0 || head.length % 8 != 0 {
                    return Err(ReadError::corrupt(offset, "words of eight bytes do not fit"));
                }
                self.lanes.entry(lane_of(head.lane)).or_default().push(offset);
            }
            kind::STRINGS => {
                read_payload(source, offset, &mut payload)?;
                self.add_strings(&payload)
                    .ok_or(ReadError::corrupt(offset, "these are no texts"))?;
            }
            kind::NAMES => {
                read_payload(source, offset, &mut payload)?;
                if payload.len() % 12 != 0 {
                    return Err(ReadError::corrupt(offset, "these are no names"));
                }
                self.names.extend(
                    payload
                        .chunks_exact(12)
                        .map(|entry| (TaskId(u64_at(entry, 0)), StringId(u32_at(entry, 8)))),
                );
            }
            kind::LOST => {
                read_payload(source, offset, &mut payload)?;
                if payload.len() != 8 {
                    return Err(ReadError::corrupt(offset, "this is no number"));
                }
                let lost = self.lost.entry(lane_of(head.lane)).or_default();
                *lost = lost.saturating_add(u64_at(&payload, 0));
            }
            kind::END => self.is_complete = true,
            // A kind of a later version, which this one can skip.
            _ => {}
        }
        Ok(())
    }

    fn add_strings(&mut self, mut payload: &[u8]) -> Option<()> {
        while !payload.is_empty() {
            let (length, rest) = payload.split_at_checked(2)?;
            let (text, rest) = rest.split_at_checked(u16_at(length, 0).into())?;
            let start = self.text.len();
            self.text.push_str(std::str::from_utf8(text).ok()?);
            self.strings.push(start..self.text.len());
            payload = rest;
        }
        Some(())
    }

    pub(super) fn lanes(&self) -> impl Iterator<Item = Lane> {
        self.lanes.keys().copied()
    }

    pub(super) fn chunks(&self, lane: Lane) -> &[u64] {
        self.lanes.get(&lane).map_or(&[], Vec::as_slice)
    }

    pub(super) fn text(&self, id: StringId) -> Option<&str> {
        let range = self.strings.get(id.0 as usize)?;
        Some(&self.text[range.clone()])
    }

    pub(super) fn name(&self, task: TaskId) -> Option<StringId> {
        self.names.get(&task).copied()
    }

    pub(super) fn lost(&self, lane: Lane) -> u64 {
        self.lost.get(&lane).copied().unwrap_or(0)
    }

    pub(super) fn is_truncated(&self) -> bool {
        !self.is_complete
    }
}
