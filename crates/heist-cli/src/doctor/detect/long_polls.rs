//! Long polls.
//!
//! A poll also looks long if its worker has lost its core to another process. Therefore its CPU
//! time counts. Where that is not known, the fraction of long polls of one line counts, because any
//! poll may lose its core.

use super::super::finding::{Finding, Severity, Texts, plural, time};
use super::super::picture::{Picture, PlaceId, Poll};
use super::{Detector, share};
use heist::trace::TaskId;
use std::collections::BTreeMap;
use std::time::Duration;

/// The shortest poll that counts: the runtime's own threshold for stalls.
const LONG: Duration = Duration::from_millis(10);
/// The smallest number of them. Guessed.
const TIMES: u64 = 3;
/// The smallest fraction of a line's polls, where CPU times are not known. Guessed: a core is lost
/// every few milliseconds at worst, which would affect one in thirty polls of 100 µs.
const SHARE: f64 = 0.1;
/// The length of a single poll that is enough. Guessed: only a badly overloaded system keeps a
/// thread waiting that long. If its CPU time confirms it, the number of short polls does not
/// matter.
const VERY_LONG: Duration = Duration::from_millis(300);

#[derive(Default)]
pub(super) struct LongPolls {
    places: BTreeMap<PlaceId, Polls>,
}

#[derive(Default)]
struct Polls {
    long: u64,
    /// The number of them that the CPU time confirms.
    proven: u64,
    longest_proven: Duration,
    total: Duration,
    longest: Duration,
    task: Option<TaskId>,
    /// Others waited, and sysmon saw it.
    stalls: u64,
}

impl Detector for LongPolls {
    fn poll(&mut self, poll: &Poll, _: &Picture) {
        // Others can take the jobs of a poll, or its worker would have been left.
        let took = poll.work();
        if !poll.is_exact || took < LONG || poll.is_blocked() || poll.jobs > 0 {
            return;
        }
        let polls = self.places.entry(poll.place).or_default();
        polls.long += 1;
        if poll.on_cpu.is_some() {
            polls.proven += 1;
            polls.longest_proven = polls.longest_proven.max(took);
        }
        polls.total += took;
        polls.stalls += u64::from(poll.stall.is_some());
        if took >= polls.longest {
            (polls.longest, polls.task) = (took, Some(poll.task));
        }
    }

    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let is_bad = |place, polls: &Polls| {
            let is_usual = share(polls.long, picture.place(place).polls) >= SHARE;
            let is_much = polls.long >= TIMES || polls.longest >= VERY_LONG;
            let is_proven = polls.proven >= TIMES || polls.longest_proven >= VERY_LONG;
            is_proven || is_much && is_usual
        };
        let bad = self.places.iter().filter(|&(place, polls)| is_bad(*place, polls));
        let finding = |(&place, polls): (&PlaceId, &Polls)| {
            let sentence = format!(
                "Tasks compute for long without an await: {} of {} or more, up to {}. Whatever is \
                 queued behind them has to be taken over by others.",
                plural(polls.long, "poll"),
                time(LONG),
                time(polls.longest),
            );
            let advice = "Break the loop up with coop::consume_budget or yield_now, move it to \
                          spawn_blocking, or spread it over the workers with join, scope or par.";
            let severity = if polls.stalls > 0 { Severity::Problem } else { Severity::Warning };
            Finding::new("long-poll", severity, sentence, advice)
                .count("long polls", polls.long)
                .count("polls of such tasks", picture.place(place).polls)
                .count("long polls for which others waited", polls.stalls)
                .time("longest", polls.longest)
                .time("in all", polls.total)
                .line(picture.line(place, texts))
                .tasks(polls.task.map(|task| picture.task_ref(task, place, texts)))
        };
        bad.map(finding).collect()
    }
}
