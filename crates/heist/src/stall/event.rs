//! A stall as an event of the `tracing` crate.

use super::StallReport;

pub(super) fn warn_stall(stall: &StallReport) {
    let waiting = stall.waiting();
    tracing::warn!(
        target: "heist::stall",
        {
            task.id = stall.task_id().map(tracing::field::display),
            task.name = stall.task_name(),
            spawned_at = stall.spawned_at().map(tracing::field::display),
            worker = stall.worker(),
            thread = stall.thread_name(),
            duration_ms = stall.duration().as_secs_f64() * 1e3,
            is_over = stall.is_over(),
            lost_seat = stall.lost_seat(),
            cause = %stall.cause(),
            waiting.queued = waiting.queued,
            waiting.injected = waiting.injected,
            waiting.elsewhere = waiting.elsewhere,
        },
        "{stall}",
    );
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::{StallConfig, report};
    use crate::env::log::{self, NoSpare};
    use std::collections::BTreeMap;
    use std::fmt::Debug;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    /// The target and the fields of each event.
    type Events = Vec<(String, BTreeMap<&'static str, String>)>;

    /// Records every event.
    #[derive(Clone, Default)]
    struct Ledger(Arc<Mutex<Events>>);

    impl Subscriber for Ledger {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            let mut fields = Fields::default();
            event.record(&mut fields);
            assert_eq!(*event.metadata().level(), tracing::Level::WARN);
            self.0.lock().unwrap().push((event.metadata().target().into(), fields.0));
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[derive(Default)]
    struct Fields(BTreeMap<&'static str, String>);

    impl Visit for Fields {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            self.0.insert(field.name(), format!("{value:?}"));
        }
    }

    fn events_of(f: impl FnOnce()) -> Events {
        let ledger = Ledger::default();
        tracing::subscriber::with_default(ledger.clone(), f);
        std::mem::take(&mut *ledger.0.lock().unwrap())
    }

    #[test]
    fn a_stall_is_an_event() {
        let stall = report::tests::stall();
        let events = events_of(|| StallConfig::default().report(&stall));
        let [(target, fields)] = &events[..] else { panic!("one event: {events:?}") };
        assert_eq!(target, "heist::stall");
        assert_eq!(fields["message"], stall.to_string());
        assert_eq!(fields["task.name"], r#""reader""#);
        assert_eq!(fields["task.id"], stall.task_id().unwrap().to_string());
        assert_eq!(fields["spawned_at"], stall.spawned_at().unwrap().to_string());
        for (field, value) in [
            ("worker", "1"),
            ("thread", r#""heist-worker""#),
            ("duration_ms", "12.0"),
            ("is_over", "false"),
            ("lost_seat", "false"),
            ("cause", "burning CPU"),
            ("waiting.queued", "3"),
            ("waiting.injected", "2"),
            ("waiting.elsewhere", "0"),
        ] {
            assert_eq!(fields[field], value, "{field}");
        }
    }

    #[test]
    fn what_is_not_known_is_no_field() {
        let stall = super::StallReport { task: None, ..report::tests::stall() };
        let events = events_of(|| StallConfig::default().report(&stall));
        assert!(!events[0].1.keys().any(|field| field.starts_with("task.")), "{events:?}");
    }

    #[test]
    fn warnings_are_events() {
        let once = log::Once::default();
        let events = events_of(|| {
            let timeout = Duration::from_millis(50);
            log::left_behind(&[], timeout);
            log::left_behind(&["stuck\nthread".into()], timeout);
            log::no_spare(&once, &NoSpare::ThreadsBusy(7));
            log::no_spare(&once, &NoSpare::ThreadsBusy(7));
        });
        let [(left_target, left), (no_spare_target, no_spare)] = &events[..] else {
            panic!("two events: {events:?}")
        };
        assert_eq!([left_target, no_spare_target], ["heist", "heist"]);
        assert!(left["message"].contains("after 50ms, 1 thread had not ended"), "{left:?}");
        assert!(left["message"].contains(r#"["stuck\nthread"]"#), "{left:?}");
        assert!(no_spare["message"].contains("all 7 threads"), "{no_spare:?}");
    }
}
