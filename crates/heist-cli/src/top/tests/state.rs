use std::time::Duration;

use super::fixture::{app, empty, snapshot};
use crate::top::app::{Action, App, Flow, Link, Panel, Popup, Sort};
use crate::top::rates::Window;

fn ids(app: &App) -> Vec<u64> {
    app.tasks().iter().map(|(task, _)| task.id).collect()
}

fn type_in(app: &mut App, text: &str) {
    for c in text.chars() {
        app.apply(Action::Type(c));
    }
}

#[test]
fn tasks_are_sorted_by_each_key_and_reversed() {
    let mut app = app();
    let sorted = |app: &App| {
        let key = |(task, rates): &crate::top::app::Row<'_>| match app.wish.sort {
            Sort::Now => (rates.unwrap().busy * 1e9) as u64,
            Sort::Busy => task.busy_ns,
            Sort::Polls => task.polls,
            Sort::Delay => task.delay_ns,
            Sort::Id => u64::MAX - task.id,
        };
        app.tasks().iter().map(key).collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    for _ in 0..5 {
        let keys = sorted(&app);
        assert!(keys.is_sorted_by(|a, b| a >= b), "{:?}: {keys:?}", app.wish.sort);
        let forwards = ids(&app);
        app.apply(Action::Reverse);
        assert_eq!(ids(&app), forwards.iter().rev().copied().collect::<Vec<_>>());
        app.apply(Action::Reverse);
        seen.push(app.wish.sort);
        app.apply(Action::NextSort);
    }
    assert_eq!(seen, [Sort::Now, Sort::Busy, Sort::Polls, Sort::Delay, Sort::Id]);
    assert_eq!(app.wish.sort, Sort::Now);
    app.apply(Action::PreviousSort);
    assert_eq!(app.wish.sort, Sort::Id);
}

#[test]
fn a_filter_counts_while_it_is_typed_and_is_asked_for_when_it_is_accepted() {
    let mut app = app();
    app.apply(Action::Last);
    app.apply(Action::EditFilter);
    type_in(&mut app, "PARSER");
    assert_eq!(ids(&app), [17, 26, 35, 44]);
    assert_eq!((app.wish.filter.as_str(), app.place()), ("", 3));
    app.apply(Action::EraseCharacter);
    assert_eq!(app.filter(), "PARSE");
    app.apply(Action::AcceptFilter);
    assert_eq!((app.wish.filter.as_str(), app.typed.as_deref()), ("PARSE", None));
    // The filter also matches spawn locations.
    app.apply(Action::EditFilter);
    app.apply(Action::EraseAll);
    type_in(&mut app, "session.rs:7");
    assert_eq!(ids(&app), [23, 32, 41, 50]);
    // Given up: the one before holds.
    assert_eq!(app.apply(Action::Back), Flow::Continue);
    assert_eq!(app.filter(), "PARSE");
}

#[test]
fn back_closes_what_is_open_then_drops_the_filter_then_quits() {
    let mut app = app();
    app.wish.filter = "parser".to_owned();
    app.apply(Action::Help);
    assert_eq!((app.popup, app.apply(Action::Back)), (Some(Popup::Help), Flow::Continue));
    assert_eq!((app.popup, app.apply(Action::Back)), (None, Flow::Continue));
    assert_eq!((app.filter(), app.tasks().len()), ("", 12));
    assert_eq!(app.apply(Action::Back), Flow::Quit);
}

#[test]
fn moving_stays_within_the_lines() {
    let mut app = app();
    app.page = 5;
    let mut place = |action| {
        app.apply(action);
        app.place()
    };
    assert_eq!(place(Action::Move(-1)), 0);
    assert_eq!(place(Action::Move(1)), 1);
    assert_eq!(place(Action::MovePages(1)), 6);
    assert_eq!(place(Action::MovePages(9)), 11);
    assert_eq!(place(Action::MovePages(-1)), 6);
    assert_eq!(place(Action::Last), 11);
    assert_eq!(place(Action::First), 0);
    app.apply(Action::Last);
    let mut fewer = snapshot(123.0);
    fewer.tasks.truncate(4);
    app.receive(fewer);
    assert_eq!(app.place(), 3);
    let mut none = snapshot(124.0);
    none.tasks.clear();
    app.receive(none);
    assert_eq!(app.place(), 0);
    app.apply(Action::Details);
    assert_eq!(app.popup, None);
}

#[test]
fn each_panel_has_a_place_of_its_own() {
    let mut app = app();
    app.apply(Action::Move(2));
    app.apply(Action::NextPanel);
    assert_eq!((app.panel, app.place()), (Panel::Workers, 0));
    app.apply(Action::Last);
    assert_eq!(app.place(), 4);
    app.apply(Action::NextPanel);
    app.apply(Action::Move(1));
    assert_eq!((app.panel, app.place()), (Panel::Histograms, 0));
    app.apply(Action::NextPanel);
    app.apply(Action::Last);
    assert_eq!((app.panel, app.place()), (Panel::Stalls, 1));
    app.apply(Action::NextPanel);
    assert_eq!((app.panel, app.place()), (Panel::Tasks, 2));
    app.apply(Action::PreviousPanel);
    assert_eq!(app.panel, Panel::Stalls);
}

#[test]
fn details_are_of_the_task_not_of_the_line() {
    let mut app = app();
    app.apply(Action::Move(1));
    app.apply(Action::Details);
    assert_eq!(app.popup, Some(Popup::Task(20)));
    app.apply(Action::Reverse);
    assert_eq!(app.task(20).unwrap().0.id, 20);
    app.apply(Action::Details);
    assert_eq!(app.popup, None);
    assert!(app.task(1).is_none());
}

#[test]
fn intervals_go_up_and_down_and_end() {
    let mut app = app();
    let mut all = Vec::new();
    for _ in 0..9 {
        app.apply(Action::Faster);
    }
    for _ in 0..9 {
        all.push(app.wish.interval.as_millis());
        app.apply(Action::Slower);
    }
    assert_eq!(all, [100, 250, 500, 1000, 2000, 5000, 10_000, 10_000, 10_000]);
    app.wish.interval = Duration::from_millis(700);
    app.apply(Action::Faster);
    assert_eq!(app.wish.interval, Duration::from_millis(500));
}

#[test]
fn a_lost_connection_keeps_the_last_answer_and_reconnects() {
    let mut app = app();
    app.lose("gone".to_owned());
    assert_eq!((app.link.clone(), app.tasks().len()), (Link::Lost("gone".to_owned()), 12));
    app.receive(snapshot(130.0));
    assert_eq!(app.link, Link::Live);
}

#[test]
fn silence_is_late_unless_it_was_asked_for() {
    let mut app = app();
    app.silence = Duration::from_millis(2900);
    assert!(!app.is_late());
    app.silence = Duration::from_millis(3100);
    assert!(app.is_late());
    app.apply(Action::Pause);
    assert!(!app.is_late());
    app.apply(Action::Pause);
    app.apply(Action::Slower);
    assert!(!app.is_late());
}

#[test]
fn before_anything_has_come_every_key_is_harmless() {
    let mut app = empty();
    for action in [
        Action::Move(1),
        Action::Last,
        Action::Details,
        Action::NextPanel,
        Action::Last,
        Action::NextWindow,
        Action::EditFilter,
        Action::Type('x'),
        Action::AcceptFilter,
    ] {
        assert_eq!(app.apply(action), Flow::Continue);
    }
    assert_eq!((app.wish.filter.as_str(), app.window), ("x", Window::Last));
}
