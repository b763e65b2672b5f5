//! What is embedded in the page, as its script reads it. Times are nanoseconds since the first
//! event.

use super::super::follow::Sitting;
use super::histogram::Bar;
use serde::Serialize;
use std::io::{self, Write};

/// Longer texts are cut: the page has room for no more.
const TEXT: usize = 120;

#[derive(Debug, Serialize)]
pub(super) struct Page<'a> {
    pub(super) program: &'a str,
    pub(super) pid: u32,
    pub(super) started_ms: u64,
    pub(super) start_ns: u64,
    pub(super) length_ns: u64,
    pub(super) workers: usize,
    pub(super) seat_count: usize,
    pub(super) is_truncated: bool,
    pub(super) lost: u64,
    pub(super) events: u64,
    pub(super) polls: u64,
    pub(super) estimated: u64,
    pub(super) wakes: u64,
    pub(super) steals: u64,
    pub(super) stall_count: u64,
    pub(super) hidden_lanes: usize,
    pub(super) hidden_asides: u64,
    pub(super) resolution_ns: u64,
    pub(super) wake_stride: u64,
    pub(super) steal_stride: u64,
    pub(super) bucket_ns: u64,
    pub(super) polls_over_time: Vec<u64>,
    pub(super) poll_times: Vec<Bar>,
    pub(super) delays: Vec<Bar>,
    pub(super) titles: Vec<String>,
    pub(super) lanes: Vec<LaneData>,
    pub(super) seats: Vec<SeatData>,
    pub(super) stalls: Vec<StallData>,
    pub(super) arrows: Vec<Arrow>,
    pub(super) is_task_list_partial: bool,
    pub(super) tasks: Vec<Row>,
    pub(super) places: Vec<Row>,
}

#[derive(Debug, Serialize)]
pub(super) struct LaneData {
    pub(super) name: String,
    pub(super) lost: u64,
    /// The busy share along the trace, in thousandths.
    pub(super) busy: Vec<u64>,
    pub(super) busy_ns: u64,
    /// See `track`.
    pub(super) spans: Vec<i64>,
}

/// A seat and its holders: worker, start, end.
#[derive(Debug, Serialize)]
pub(super) struct SeatData {
    seat: u16,
    sittings: Vec<(u16, u64, u64)>,
}

#[derive(Debug, Serialize)]
pub(super) struct StallData {
    pub(super) at: u64,
    pub(super) lane: Option<usize>,
    pub(super) worker: u16,
    pub(super) task: Option<String>,
    pub(super) what: String,
}

/// Kind, then lane and time of both ends.
#[derive(Debug, Serialize)]
pub(super) struct Arrow(
    pub(super) u8,
    pub(super) usize,
    pub(super) u64,
    pub(super) usize,
    pub(super) u64,
);

impl Arrow {
    pub(super) const WAKE: u8 = 0;
    pub(super) const SPAWN: u8 = 1;
    pub(super) const STEAL: u8 = 2;
}

/// A row of a table.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) title: String,
    pub(super) place: Option<String>,
    pub(super) polls: u64,
    pub(super) busy: u64,
    pub(super) longest: u64,
    pub(super) mean_delay: u64,
    pub(super) longest_delay: u64,
}

impl SeatData {
    pub(super) fn of(sittings: &[Sitting], start: u64) -> Vec<Self> {
        let mut seats: Vec<SeatData> = Vec::new();
        let mut sorted = sittings.to_vec();
        sorted.sort_by_key(|sitting| (sitting.seat, sitting.start));
        for Sitting { seat, worker, start: from, end } in sorted {
            if seats.last().is_none_or(|last| last.seat != seat) {
                seats.push(SeatData { seat, sittings: Vec::new() });
            }
            if let Some(last) = seats.last_mut() {
                last.sittings.push((worker, from.saturating_sub(start), end.saturating_sub(start)));
            }
        }
        seats
    }
}

/// Cuts a text to the length that the page shows.
pub(super) fn cut(text: &str) -> &str {
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Passes JSON on, with `<` written so that no text can end the element that it stands in.
pub(super) struct WithoutTags<W>(pub(super) W);

impl<W: Write> Write for WithoutTags<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (index, part) in bytes.split(|byte| *byte == b'<').enumerate() {
            if index > 0 {
                self.0.write_all(br"\u003c")?;
            }
            self.0.write_all(part)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_element_that_it_stands_in() {
        let text = "</script><script>alert(1)</script><!--";
        let mut json = Vec::new();
        serde_json::to_writer(WithoutTags(&mut json), text).unwrap();
        assert!(!json.contains(&b'<'));
        assert_eq!(serde_json::from_slice::<String>(&json).unwrap(), text);
    }
}
