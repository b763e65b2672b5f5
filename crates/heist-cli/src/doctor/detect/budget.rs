//! Polls that are cut short because their budget is used up: a task that never has to wait.

use super::super::finding::{Finding, Severity, Texts, grouped};
use super::super::picture::{Picture, Place, PlaceId};
use super::{Detector, share, share_of_time};

pub(super) const ID: &str = "budget-exhausted";

/// So often. Guessed.
const CUTS: u64 = 50;
/// So many of its polls. Guessed: now and then everybody finds a full queue.
const SHARE: f64 = 0.5;
/// Such tasks take so much of the workers' time; otherwise they are in nobody's way. Guessed.
const BUSY: f64 = 0.25;

pub(super) struct Budget;

impl Detector for Budget {
    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let is_bad = |place: &Place| {
            place.cuts >= CUTS
                && share(place.cuts, place.polls) >= SHARE
                && share_of_time(place.busy, picture.busy()) >= BUSY
        };
        let finding = |(id, place): (PlaceId, &Place)| {
            let sentence = format!(
                "Tasks never wait for anything: {} polls were cut short when they had used up \
                 their budget.",
                grouped(place.cuts)
            );
            let advice = "If they have so much to do, give others their share: process in batches, \
                          or limit what comes in. A loop that computes belongs in spawn_blocking or \
                          in fork-join; unconstrained lifts the budget, at the others' cost.";
            Finding::new(ID, Severity::Warning, sentence, advice)
                .count("polls cut short", place.cuts)
                .share("of their polls", share(place.cuts, place.polls))
                .share("of all workers' busy time", share_of_time(place.busy, picture.busy()))
                .line(picture.line(id, texts))
                .tasks(place.examples.iter().map(|task| picture.task_ref(*task, id, texts)))
        };
        picture.places().filter(|(_, place)| is_bad(place)).map(finding).collect()
    }
}
