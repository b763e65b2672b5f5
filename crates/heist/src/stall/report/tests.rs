use super::*;
use crate::runtime;

/// A stall to begin with.
pub(crate) fn stall() -> StallReport {
    let name = Some("reader".into());
    StallReport {
        task: Some(StuckTask { id: Id::next(), name, spawned_at: Location::caller() }),
        worker: 1,
        thread_name: "heist-worker".into(),
        duration: Duration::from_millis(12),
        is_over: false,
        cause: StallCause::Burning,
        waiting: Waiting { queued: 3, injected: 2, elsewhere: 0 },
        lost_seat: false,
    }
}

#[test]
fn a_report_says_what_it_was_made_of() {
    let at = Location::caller();
    let id = Id::next();
    let task = Some(StuckTask { id, name: Some("a".into()), spawned_at: at });
    let report = StallReport { task, is_over: true, lost_seat: true, ..stall() };
    assert_eq!(report.task_id(), Some(id));
    assert_eq!(report.task_name(), Some("a"));
    assert_eq!(report.spawned_at(), Some(at));
    assert_eq!((report.worker(), report.thread_name()), (1, "heist-worker"));
    assert_eq!(report.duration(), Duration::from_millis(12));
    assert_eq!((report.is_over(), report.lost_seat()), (true, true));
    assert_eq!(report.cause(), StallCause::Burning);
    assert_eq!(report.waiting(), Waiting { queued: 3, injected: 2, elsewhere: 0 });

    let report = StallReport { task: None, ..stall() };
    assert_eq!((report.task_id(), report.task_name(), report.spawned_at()), (None, None, None));
    assert_eq!((report.is_over(), report.lost_seat()), (false, false));
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_report_is_a_sentence() {
    let blocked = StallCause::Blocked { system_call: Some(SystemCall::new(202)) };
    let stall = StallReport { cause: blocked, ..stall() };
    let at = stall.spawned_at().unwrap();
    assert_eq!(
        stall.to_string(),
        format!(
            "task \"reader\" (spawned at {at}) has kept worker 1 (thread heist-worker) for 12 ms, \
             blocked in futex; 3 tasks waited in its queues, 2 in the inject queue"
        )
    );
}

#[test]
fn a_task_without_a_name_is_told_by_its_id() {
    let mut report = stall();
    report.task.as_mut().unwrap().name = None;
    let task = report.task.as_ref().unwrap();
    let begin = format!("task {} (spawned at {}) has kept worker 1 ", task.id, task.spawned_at);
    assert!(report.to_string().starts_with(&begin), "{report}");
    report.task = None;
    assert!(report.to_string().starts_with("something that is no task has kept worker 1 "));
}

#[test]
fn a_stall_that_is_over_is_told_as_one() {
    let over = StallReport { is_over: true, lost_seat: true, ..stall() }.to_string();
    assert!(over.contains(") kept worker 1 "), "{over}");
    assert!(over.ends_with("; its seat was free for a spare worker"), "{over}");
    let going_on = StallReport { lost_seat: true, ..stall() }.to_string();
    assert!(going_on.ends_with("; its seat is free for a spare worker"), "{going_on}");
}

/// Names are the user's, and may be anything.
#[test]
fn a_report_is_one_line_whatever_the_names_are() {
    let task = StuckTask {
        id: Id::next(),
        name: Some("two\nlines, \"quoted\"".into()),
        spawned_at: Location::caller(),
    };
    let report = StallReport { task: Some(task), thread_name: "a\r\nb".into(), ..stall() };
    let text = report.to_string();
    assert!(!text.contains(['\n', '\r']), "{text}");
    assert!(text.contains(r#"task "two\nlines, \"quoted\"" ("#), "{text}");
    assert!(text.contains(r"(thread a\r\nb)"), "{text}");
}

#[test]
fn causes_are_told_apart() {
    let number = SystemCall::new(999_999);
    for (cause, text) in [
        (StallCause::Blocked { system_call: Some(number) }, "blocked in system call 999999"),
        (StallCause::Blocked { system_call: None }, "blocked"),
        (StallCause::Burning, "burning CPU"),
        (StallCause::Unknown, "for an unknown reason"),
    ] {
        assert_eq!(cause.to_string(), text);
        let report = StallReport { cause, ..stall() }.to_string();
        assert!(report.contains(&format!(" for 12 ms, {text}; ")), "{report}");
    }
}

#[test]
fn a_cause_comes_from_what_the_thread_does() {
    let this = Probe::of_this_thread();
    assert_eq!(StallCause::of(Activity::Burning, &this), StallCause::Burning);
    assert_eq!(StallCause::of(Activity::Unknown, &this), StallCause::Unknown);
    let blocked = StallCause::of(Activity::Blocked, &this);
    assert_eq!(blocked, StallCause::Blocked { system_call: this.system_call() });
}

#[test]
fn what_waited_is_counted_in_words() {
    for (queued, injected, elsewhere, text) in [
        (0, 0, 0, "no task waited"),
        (1, 0, 0, "1 task waited in its queues"),
        (2, 1, 0, "2 tasks waited in its queues, 1 in the inject queue"),
        (0, 1, 0, "1 task waited in the inject queue"),
        (0, 0, 7, "7 tasks waited in the queues of other workers"),
        (1, 0, 7, "1 task waited in its queues, 7 in the queues of other workers"),
    ] {
        assert_eq!(Waiting { queued, injected, elsewhere }.to_string(), text);
    }
}

#[test]
fn durations_have_the_unit_that_fits() {
    for (duration, text) in [
        (Duration::from_nanos(1_500), "1 µs"),
        (Duration::from_micros(999), "999 µs"),
        (Duration::from_millis(1), "1 ms"),
        (Duration::from_micros(12_345), "12 ms"),
        (Duration::from_millis(9_999), "9999 ms"),
        (Duration::from_secs(10), "10 s"),
        (Duration::from_secs(86_400), "86400 s"),
    ] {
        assert_eq!(Rounded(duration).to_string(), text);
    }
}

#[test]
fn the_name_of_a_task_is_found_by_its_id() {
    let rt = runtime::Builder::new_current_thread().build().unwrap();
    let at = Location::caller();
    let named = task::Builder::new().name("named").spawn_on(async {}, rt.handle()).unwrap();
    let unnamed = rt.spawn(async {});
    let name = |id| StallReport { task: Some(StuckTask::new(id, at)), ..stall() };
    assert_eq!(name(named.id()).task_name(), Some("named"));
    assert_eq!(name(unnamed.id()).task_name(), None);
}
