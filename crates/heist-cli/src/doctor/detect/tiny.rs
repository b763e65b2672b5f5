//! Tasks that do next to nothing: most of the program's time goes into spawning, queueing and
//! joining them.

use super::super::finding::{Finding, Severity, Texts, plural, time};
use super::super::picture::{Picture, Place, PlaceId};
use super::{Detector, share, share_of_time};
use std::time::Duration;

pub(super) const ID: &str = "tiny-tasks";

/// The smallest number of tasks. Guessed: fewer cost a millisecond.
const TASKS: u64 = 5000;
/// The minimum share of tiny tasks in all polls. Guessed: a task that spawns each of them and
/// awaits it is polled as often as they are.
const SHARE: f64 = 0.3;
/// A task whose poll is shorter than this is too small. Of the order of what a task costs:
/// spawning, queueing and joining one takes 0.2 to 0.5 µs.
const TINY: Duration = Duration::from_micros(1);
/// A task that is polled more often may do its work in parts. Guessed.
const POLLS_PER_TASK: u64 = 2;
/// If the whole program does more than this for each tiny task, something else takes the time.
/// Guessed: several times what a task costs.
const ALL_WORK: Duration = Duration::from_micros(3);
/// Somebody is at work for this part of the time; a tiny task now and then is no harm. Guessed.
const BUSY: f64 = 0.25;
const LINES: usize = 3;

pub(super) struct Tiny;

/// The lines that spawn tiny tasks, the one with the most tasks first. Empty if such tasks are not
/// what the program spends its time on.
pub(super) fn places(picture: &Picture) -> Vec<(PlaceId, &Place)> {
    let is_tiny = |place: &Place| {
        place.done > 0
            && place.polls <= place.done * POLLS_PER_TASK
            && place.lengths.typical() <= TINY
    };
    let mut tiny: Vec<_> = picture.places().filter(|(_, place)| is_tiny(place)).collect();
    let tasks = tasks(&tiny);
    let work_each = Duration::from_nanos(picture.busy().as_nanos() as u64 / tasks.max(1));
    let busy = share_of_time(picture.clocks.somebody_busy(), picture.work_time());
    let is_most = tasks >= TASKS
        && share(tasks, picture.polls()) >= SHARE
        && work_each <= ALL_WORK
        && busy >= BUSY;
    if !is_most {
        return Vec::new();
    }
    tiny.sort_by_key(|(_, place)| std::cmp::Reverse(place.done));
    tiny
}

fn tasks(places: &[(PlaceId, &Place)]) -> u64 {
    places.iter().map(|(_, place)| place.done).sum()
}

impl Detector for Tiny {
    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let places = places(picture);
        let Some(&(first, place)) = places.first() else { return Vec::new() };
        let (tasks, typical) = (tasks(&places), place.lengths.typical());
        let sentence = format!(
            "Tasks do next to nothing: {} of {} each. To spawn, queue and join such a task takes \
             longer than what it does.",
            plural(tasks, "task"),
            time(typical)
        );
        let advice = "Batch the work: let each task do what many of them do now (chunks of the \
                      input instead of its items), call small functions in place, or use par, \
                      which finds the size by itself.";
        let mut finding = Finding::new(ID, Severity::Warning, sentence, advice)
            .count("tasks", tasks)
            .count("polls of all tasks", picture.polls())
            .time("typical poll", typical);
        for (id, _) in places.iter().take(LINES) {
            finding = finding.line(picture.line(*id, texts));
        }
        let examples = place.examples.iter().map(|task| picture.task_ref(*task, first, texts));
        vec![finding.tasks(examples)]
    }
}
