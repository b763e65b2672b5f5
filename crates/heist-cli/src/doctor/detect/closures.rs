//! Closures that wait for a thread because the maximal number of threads is busy.
//!
//! On a machine without free cores, a new thread may be slow to start. Therefore only closures
//! count that replaced another one while as many closures ran as ever did: with one more thread,
//! more would have run.

use super::super::finding::{Finding, Severity, Texts, plural, time};
use super::super::picture::{Picture, PlaceId, Ran};
use super::Detector;
use heist::trace::TaskId;
use std::collections::BTreeMap;
use std::time::Duration;

/// The shortest wait that counts: the runtime's own threshold for stalls.
const WAIT: Duration = Duration::from_millis(10);
/// The smallest number of such waits. Guessed.
const TIMES: u64 = 5;
/// The smallest fraction of all closures. Guessed: an occasional queue does no harm.
const SHARE: f64 = 0.2;

#[derive(Default)]
pub(super) struct Closures {
    /// Those that waited, by how many ran in the end.
    late: BTreeMap<u32, Late>,
    all: u64,
}

#[derive(Default)]
struct Late {
    times: u64,
    total: Duration,
    longest: Duration,
    task: Option<(TaskId, PlaceId)>,
}

impl Detector for Closures {
    fn closure(&mut self, closure: &Ran, _: &Picture) {
        self.all += 1;
        if closure.waited < WAIT {
            return;
        }
        let late = self.late.entry(closure.level).or_default();
        late.times += 1;
        late.total += closure.waited;
        if closure.waited >= late.longest {
            (late.longest, late.task) = (closure.waited, Some((closure.task, closure.place)));
        }
    }

    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let most = picture.most_closures();
        let Some(late) = self.late.get(&most).filter(|late| late.times >= TIMES) else {
            return Vec::new();
        };
        let of_all = super::share(late.times, self.all);
        if of_all < SHARE {
            return Vec::new();
        }
        let sentence = format!(
            "Closures wait for a thread: {} were at closures, all that there may be, and {} waited \
             for one of them, up to {}.",
            plural(most.into(), "thread"),
            plural(late.times, "closure"),
            time(late.longest)
        );
        let advice = "Allow for more threads with Builder::max_blocking_threads, spawn fewer closures \
                      at a time (a Semaphore), or let what waits for a socket or a timer be a task.";
        let (task, place) = late.task.unwrap_or((TaskId(0), PlaceId::UNKNOWN));
        vec![
            Finding::new("blocking-pool-exhausted", Severity::Problem, sentence, advice)
                .count("closures that waited 10 ms or more", late.times)
                .share("of all closures", of_all)
                .count("threads at closures", most.into())
                .time("longest wait", late.longest)
                .time("in all", late.total)
                .line(picture.line(place, texts))
                .tasks([picture.task_ref(task, place, texts)]),
        ]
    }
}
