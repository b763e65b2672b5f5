//! Tasks that were spawned but never polled, although workers had time for them, or because no
//! thread drives the runtime any more.

use super::super::finding::{Finding, Severity, Texts, plural, time};
use super::super::picture::{Picture, PlaceId, TaskState};
use super::Detector;
use heist::trace::TaskId;
use std::collections::BTreeMap;
use std::time::Duration;

/// The shortest wait that counts. Guessed: far above any wait for a core.
const WAITS: Duration = Duration::from_millis(100);
/// The smallest fraction of the wait in which a worker was idle, or none existed. Otherwise it is a
/// backlog.
const BESIDE_IDLE: f64 = 0.5;
const EXAMPLES: usize = 3;

pub(super) struct Unpolled;

#[derive(Default)]
struct Tasks {
    count: u64,
    longest: Duration,
    /// No worker existed that could have polled it.
    is_abandoned: bool,
    examples: Vec<TaskId>,
}

impl Detector for Unpolled {
    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let mut places: BTreeMap<PlaceId, Tasks> = BTreeMap::new();
        for (id, task) in picture.tasks().filter(|(_, task)| is_forgotten(task, picture)) {
            let tasks = places.entry(task.place).or_default();
            tasks.count += 1;
            tasks.longest = tasks.longest.max(waits(task, picture));
            tasks.is_abandoned = !picture.abandoned_since(task).is_zero();
            tasks.examples.push(id);
            tasks.examples.sort_unstable();
            tasks.examples.truncate(EXAMPLES);
        }
        let finding = |(place, tasks): (PlaceId, Tasks)| {
            let sentence = format!(
                "{} spawned and never polled, though {}; the first has been waiting for {}.",
                if tasks.count == 1 {
                    "1 task was".to_owned()
                } else {
                    format!("{} were", plural(tasks.count, "task"))
                },
                if tasks.is_abandoned { "nobody drives the runtime" } else { "workers were idle" },
                time(tasks.longest)
            );
            let advice = "Tasks that are pinned run on their own worker only: see what keeps it. On \
                          a current-thread runtime nothing runs but inside of block_on.";
            let refs = tasks.examples.iter().map(|id| picture.task_ref(*id, place, texts));
            Finding::new("never-polled", Severity::Problem, sentence, advice)
                .count("tasks", tasks.count)
                .time("longest wait so far", tasks.longest)
                .line(picture.line(place, texts))
                .tasks(refs)
        };
        places.into_iter().map(finding).collect()
    }
}

fn waits(task: &TaskState, picture: &Picture) -> Duration {
    task.spawned.map_or(Duration::ZERO, |spawned| picture.now.saturating_sub(spawned))
}

fn is_forgotten(task: &TaskState, picture: &Picture) -> bool {
    // Of what was spawned earlier, the polls may have been overwritten.
    if task.was_polled
        || !task.is_spawn_exact
        || task.spawned.is_none_or(|spawned| spawned < picture.since)
    {
        return false;
    }
    let waits = waits(task, picture);
    let idle = (picture.idle_since(task) + picture.abandoned_since(task)).as_secs_f64();
    waits >= WAITS && idle >= waits.as_secs_f64() * BESIDE_IDLE
}
