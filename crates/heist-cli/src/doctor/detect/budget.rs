//! Polls that are cut short because their budget is used up: a task that never has to wait, and
//! why.

use super::super::finding::{Finding, Severity, Texts, grouped};
use super::super::picture::{Picture, Place, PlaceId};
use super::{Detector, share, share_of_time, tiny};
use heist::trace::Resource;

pub(super) const ID: &str = "budget-exhausted";

/// The smallest number of cut polls. Guessed.
const CUTS: u64 = 50;
/// The smallest fraction of the task's polls. Guessed: any task finds a full queue now and then.
const SHARE: f64 = 0.5;
/// The smallest fraction of the workers' time that such tasks take; with less they do no harm.
/// Guessed.
const BUSY: f64 = 0.25;
/// If this fraction of the cuts is at one kind of resource, that is the reason why the task never
/// waits. Guessed.
const MOST: f64 = 0.5;

pub(super) struct Budget;

impl Detector for Budget {
    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let is_bad = |place: &Place| {
            place.cuts >= CUTS
                && share(place.cuts, place.polls) >= SHARE
                && share_of_time(place.busy, picture.busy()) >= BUSY
        };
        // The task that joins tiny tasks always finds one that has ended: that they are tiny is the
        // cause.
        let has_tiny = !tiny::places(picture).is_empty();
        let is_explained = |place: &Place| has_tiny && !is_at_io_or_timers(place);
        let bad = picture.places().filter(|(_, place)| is_bad(place) && !is_explained(place));
        bad.map(|(id, place)| finding(id, place, picture, texts)).collect()
    }
}

/// What most of the polls had no budget left for, if the trace tells.
fn main_resource(place: &Place) -> Resource {
    let most = place.cuts_at.iter().max_by_key(|(_, cuts)| **cuts);
    most.filter(|(_, cuts)| share(**cuts, place.cuts) >= MOST)
        .map_or(Resource::Other, |(resource, _)| *resource)
}

fn is_at_io_or_timers(place: &Place) -> bool {
    matches!(main_resource(place), Resource::Io | Resource::Timer | Resource::LateInterval)
}

fn finding(id: PlaceId, place: &Place, picture: &Picture, texts: &dyn Texts) -> Finding {
    let resource = main_resource(place);
    let cuts = grouped(place.cuts);
    let sentence = match resource {
        Resource::LateInterval => format!(
            "An interval catches up on missed ticks, one right after the other, since its \
             MissedTickBehavior is Burst (the default): {cuts} polls were cut short at a late tick \
             when they had used up their budget."
        ),
        _ => format!(
            "Tasks never wait for anything: {cuts} polls were cut short{} when they had used up \
             their budget.",
            at(resource)
        ),
    };
    let mut finding = Finding::new(ID, Severity::Warning, sentence, advice(resource))
        .count("polls cut short", place.cuts)
        .share("of their polls", share(place.cuts, place.polls))
        .share("of all workers' busy time", share_of_time(place.busy, picture.busy()));
    for (resource, cuts) in &place.cuts_at {
        if *resource != Resource::Other {
            finding = finding.count(format!("cut short{}", at(*resource)), *cuts);
        }
    }
    finding
        .line(picture.line(id, texts))
        .tasks(place.examples.iter().map(|task| picture.task_ref(*task, id, texts)))
}

/// The operation at which a poll was cut short.
fn at(resource: Resource) -> &'static str {
    match resource {
        Resource::Timer => " at a timer",
        Resource::LateInterval => " at an interval that is late",
        Resource::Io => " at I/O that was ready",
        Resource::Task => " at a task that had ended",
        _ => "",
    }
}

fn advice(resource: Resource) -> &'static str {
    match resource {
        Resource::LateInterval => {
            "If missed ticks need not be made up for, call set_missed_tick_behavior with \
             MissedTickBehavior::Delay or Skip. Otherwise find out what keeps the task from its \
             ticks, or take a period that is longer than the work of a tick."
        }
        Resource::Timer => {
            "Wait for times that are still to come: a sleep or an interval that is always due does \
             not wait."
        }
        Resource::Task => {
            "Let each task do more, so that there are fewer to join, or join them from several \
             tasks."
        }
        _ => {
            "If they have so much to do, give others their share: process in batches, or limit \
             what comes in. A loop that computes belongs in spawn_blocking or in fork-join; \
             unconstrained lifts the budget, at the others' cost."
        }
    }
}
