//! No thread was left for the seat of a stuck worker: its tasks wait until it comes back.

use super::super::finding::{Finding, Severity, Texts};
use super::super::picture::Picture;
use super::Detector;
use heist::trace::{Event, EventKind};

#[derive(Default)]
pub(super) struct Spares {
    shortages: u64,
}

impl Detector for Spares {
    fn event(&mut self, event: &Event, _: &Picture) {
        self.shortages += u64::from(event.kind == EventKind::SpareShortage);
    }

    fn findings(&self, picture: &Picture, _: &dyn Texts) -> Vec<Finding> {
        if self.shortages == 0 {
            return Vec::new();
        }
        let sentence =
            "Workers were stuck, and no thread was left to sit down on their seats: what \
                        waited there went on waiting."
                .to_owned();
        let advice = "Find out what blocks the workers (see the other findings), or allow for more \
                      threads with Builder::max_blocking_threads.";
        let finding = Finding::new("spare-shortage", Severity::Problem, sentence, advice);
        vec![
            finding
                .count("times without a thread for a seat", self.shortages)
                .count("workers, spares included", picture.lanes.len() as u64),
        ]
    }
}
