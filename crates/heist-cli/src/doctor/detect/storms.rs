//! Wake-up storms: one poll wakes many tasks, which find nothing to do and wait again.

use super::super::finding::{Finding, Severity, Texts, plural};
use super::super::picture::{Picture, PlaceId, Poll};
use super::top::Top;
use super::{Detector, share};
use heist::trace::{Event, EventKind, Outcome, TaskId};
use std::time::Duration;

pub(super) const ID: &str = "wake-storm";

/// The smallest number of tasks that one poll wakes. Guessed: a worker's ring holds a few times as
/// many.
const CROWD: u32 = 64;
/// The smallest number of storms, and of wake-ups in all of them. Guessed.
const STORMS: u64 = 5;
const WOKEN: u64 = 2000;
/// The smallest fraction of all wake-ups. Guessed.
const SHARE: f64 = 0.5;
/// The smallest fraction of the following polls that do nothing. Guessed.
const IN_VAIN: f64 = 0.8;
/// A poll that wakes no task, spawns nothing and is shorter than this has done nothing. Guessed.
const NOTHING: Duration = Duration::from_micros(20);

#[derive(Default)]
pub(super) struct Storms {
    wakes: u64,
    storms: u64,
    woken_in_storms: u64,
    greatest: u32,
    by: Top<(TaskId, PlaceId)>,
    after_wake: u64,
    in_vain: u64,
    in_vain_at: Top<PlaceId>,
}

impl Detector for Storms {
    fn event(&mut self, event: &Event, _: &Picture) {
        self.wakes += u64::from(matches!(event.kind, EventKind::Wake { .. }));
    }

    fn poll(&mut self, poll: &Poll, _: &Picture) {
        if poll.wakes >= CROWD {
            self.storms += 1;
            self.woken_in_storms += u64::from(poll.wakes);
            self.greatest = self.greatest.max(poll.wakes);
            self.by.add((poll.task, poll.place), u64::from(poll.wakes));
        }
        if !poll.was_woken {
            return;
        }
        self.after_wake += 1;
        let is_idle = poll.outcome == Some(Outcome::Waits) && poll.wakes == 0 && poll.spawns == 0;
        if is_idle && poll.took < NOTHING {
            self.in_vain += 1;
            self.in_vain_at.add(poll.place, 1);
        }
    }

    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let is_much = self.storms >= STORMS && self.woken_in_storms >= WOKEN;
        let in_vain = share(self.in_vain, self.after_wake);
        if !is_much || share(self.woken_in_storms, self.wakes) < SHARE || in_vain < IN_VAIN {
            return Vec::new();
        }
        let sentence = format!(
            "Crowds are woken for nothing: {} of up to {} tasks, of whom most find nothing to do.",
            plural(self.storms, "storm"),
            self.greatest
        );
        let advice = "Wake one task for each thing there is to do (Notify::notify_one, a queue or a \
                      semaphore) instead of all that wait (notify_waiters, watch, broadcast).";
        let mut finding = Finding::new(ID, Severity::Warning, sentence, advice)
            .count("storms", self.storms)
            .count("tasks woken by them", self.woken_in_storms)
            .share("of all wake-ups", share(self.woken_in_storms, self.wakes))
            .share("of the woken that did nothing", in_vain);
        if let Some(((task, place), _)) = self.by.first() {
            finding = finding
                .line(picture.line(place, texts))
                .tasks([picture.task_ref(task, place, texts)]);
        }
        if let Some((place, _)) = self.in_vain_at.first() {
            finding = finding.line(picture.line(place, texts));
        }
        vec![finding]
    }
}
