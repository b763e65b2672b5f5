//! Pictures of a program that never was, compared with files.

use std::fs;
use std::path::Path;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use super::{columns, draw};
use crate::live::Snapshot;
use crate::top::app::{Action, App, Panel};
use crate::top::tests::fixture::{app, empty, snapshot};
use crate::top::theme::Theme;

fn picture(app: &App, width: u16, height: u16, theme: Theme) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| _ = draw(frame, app, theme)).unwrap();
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let line = |y| {
        let cells = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_owned() + "\n"
    };
    (0..buffer.area.height).map(line).collect()
}

/// Compares with a file that is part of the tests; with `UPDATE_GOLDEN` set, writes it.
pub fn assert_golden(name: &str, text: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/top");
    let path = directory.join(name).with_extension("txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap();
    assert!(text == expected, "{name} should be\n{expected}\nand is\n{text}");
}

fn assert_picture(name: &str, app: &App, width: u16, height: u16) {
    assert_golden(name, &text(&picture(app, width, height, Theme::Plain)));
}

fn on(panel: Panel) -> App {
    let mut app = app();
    app.panel = panel;
    app
}

#[test]
fn large() {
    assert_picture("large", &app(), 140, 36);
}

#[test]
fn medium() {
    assert_picture("medium-tasks", &app(), 80, 24);
    assert_picture("medium-workers", &on(Panel::Workers), 80, 24);
    assert_picture("medium-histograms", &on(Panel::Histograms), 80, 24);
    let mut stalls = on(Panel::Stalls);
    stalls.apply(Action::Last);
    assert_picture("medium-stalls", &stalls, 80, 24);
}

#[test]
fn small_and_tiny() {
    assert_picture("small", &app(), 40, 12);
    assert_picture("tiny", &app(), 18, 5);
}

#[test]
fn the_first_snapshot_has_no_rates() {
    let mut app = empty();
    app.receive(snapshot(121.0));
    assert_picture("first", &app, 80, 24);
}

#[test]
fn help_and_details() {
    let mut app = app();
    app.apply(Action::Help);
    assert_picture("help", &app, 80, 24);
    app.apply(Action::Help);
    app.apply(Action::Details);
    assert_picture("details", &app, 80, 24);
}

#[test]
fn typed_text_is_at_the_bottom_before_the_cursor() {
    let mut app = app();
    app.apply(Action::EditFilter);
    for c in "session".chars() {
        app.apply(Action::Type(c));
    }
    assert_picture("filter", &app, 80, 24);
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal.draw(|frame| _ = draw(frame, &app, Theme::Plain)).unwrap();
    terminal.backend_mut().assert_cursor_position((16, 23));
}

#[test]
fn how_the_connection_is_can_be_read() {
    let first_and_last = |app: &App| {
        let text = text(&picture(app, 80, 24, Theme::Plain));
        let lines: Vec<&str> = text.lines().collect();
        format!("{}\n{}", lines[0], lines[23])
    };
    let mut app = app();
    assert!(first_and_last(&app).contains("● every 1 s"));
    app.silence = std::time::Duration::from_secs(7);
    assert!(first_and_last(&app).contains("no answer for 7.0s"));
    app.apply(Action::Pause);
    assert!(first_and_last(&app).contains("paused"));
    app.lose("nobody answers there".to_owned());
    let text = first_and_last(&app);
    assert!(text.contains("connection lost, retrying") && text.contains("nobody answers there"));
    let mut empty = empty();
    let all = |app: &App| self::text(&picture(app, 80, 24, Theme::Plain));
    assert!(all(&empty).contains("connecting to /run/heist/4242.sock"));
    empty.lose("no such file".to_owned());
    assert!(all(&empty).contains("no such file; retrying"));
}

#[test]
fn the_line_that_is_selected_is_in_sight() {
    let mut app = app();
    for _ in 0..12 {
        let buffer = picture(&app, 80, 24, Theme::Plain);
        let selected = app.tasks()[app.place()].0.id.to_string();
        let reversed: Vec<u16> = (0..24)
            .filter(|y| buffer[(3, *y)].modifier.contains(Modifier::REVERSED))
            // The tabs have one as well.
            .filter(|y| *y > 3)
            .collect();
        let [y] = reversed[..] else { panic!("{reversed:?}") };
        let line: String = (0..80).map(|x| buffer[(x, y)].symbol()).collect();
        assert!(line.contains(&format!(" {selected} ")), "{selected}: {line}");
        app.apply(Action::Move(1));
    }
}

#[test]
fn without_colours_there_are_none_and_with_them_there_are() {
    let coloured = |theme| {
        let buffer = picture(&app(), 140, 36, theme);
        buffer.content.iter().filter(|cell| cell.fg != Color::Reset).count()
    };
    assert_eq!(coloured(Theme::Plain), 0);
    assert!(coloured(Theme::Coloured) > 100);
}

/// Nothing is drawn beyond an edge, which would panic.
#[test]
fn every_size_can_be_drawn() {
    let mut apps: Vec<App> = Panel::ALL.map(on).into();
    apps.push(empty());
    let mut nothing = empty();
    nothing.receive(Snapshot::default());
    apps.push(nothing);
    let mut help = app();
    help.apply(Action::Help);
    apps.push(help);
    let mut typing = app();
    typing.apply(Action::EditFilter);
    apps.push(typing);
    let mut details = app();
    details.apply(Action::Details);
    apps.push(details);
    for app in &apps {
        // On both sides of each size from which something is drawn differently.
        for width in [1, 2, 8, 23, 24, 40, 95, 96, 200] {
            for height in [1, 2, 5, 6, 8, 13, 17, 18, 29, 30, 60] {
                picture(app, width, height, Theme::Coloured);
            }
        }
    }
}

#[test]
fn many_workers_leave_room_for_tasks() {
    let mut many = app();
    let mut next = snapshot(123.0);
    for number in 5..128 {
        let worker = crate::live::Worker { worker: number, ..next.workers[3].clone() };
        next.workers.push(worker);
    }
    many.receive(next);
    assert_picture("many-workers", &many, 100, 32);
}

#[test]
fn texts_are_cut_at_the_width_of_their_characters() {
    assert_eq!(columns::cut("parser", 6), "parser");
    assert_eq!(columns::cut("parsers", 6), "parse…");
    assert_eq!(columns::cut("解析器", 5), "解析…");
    assert_eq!(columns::cut("解析器", 4), "解…");
    assert_eq!(columns::cut("ab", 0), "");
    assert_eq!(columns::cut_front("src/main.rs:40:9", 10), "…n.rs:40:9");
    assert_eq!(columns::cut("a\u{1b}b", 9), "a\u{FFFD}b");
}
