use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::fixture::app;
use crate::top::app::{Action, App};
use crate::top::keys::{HELP, action};

fn plain(app: &App, code: KeyCode) -> Option<Action> {
    action(app, KeyEvent::new(code, KeyModifiers::NONE))
}

fn control(app: &App, c: char) -> Option<Action> {
    action(app, KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))
}

#[test]
fn keys_do_what_people_expect() {
    let app = app();
    for (code, expected) in [
        (KeyCode::Char('q'), Action::Quit),
        (KeyCode::Esc, Action::Back),
        (KeyCode::Up, Action::Move(-1)),
        (KeyCode::Char('k'), Action::Move(-1)),
        (KeyCode::Down, Action::Move(1)),
        (KeyCode::Char('j'), Action::Move(1)),
        (KeyCode::PageUp, Action::MovePages(-1)),
        (KeyCode::PageDown, Action::MovePages(1)),
        (KeyCode::Home, Action::First),
        (KeyCode::End, Action::Last),
        (KeyCode::Char('g'), Action::First),
        (KeyCode::Char('G'), Action::Last),
        (KeyCode::Tab, Action::NextPanel),
        (KeyCode::BackTab, Action::PreviousPanel),
        (KeyCode::Enter, Action::Details),
        (KeyCode::Char('s'), Action::NextSort),
        (KeyCode::Char('S'), Action::PreviousSort),
        (KeyCode::Char('r'), Action::Reverse),
        (KeyCode::Char('/'), Action::EditFilter),
        (KeyCode::Char(' '), Action::Pause),
        (KeyCode::Char('p'), Action::Pause),
        (KeyCode::Char('+'), Action::Slower),
        (KeyCode::Char('-'), Action::Faster),
        (KeyCode::Char('h'), Action::NextWindow),
        (KeyCode::Char('?'), Action::Help),
    ] {
        assert_eq!(plain(&app, code), Some(expected), "{code:?}");
    }
    assert_eq!(control(&app, 'c'), Some(Action::Quit));
    assert_eq!(control(&app, 'z'), Some(Action::Suspend));
    assert_eq!(control(&app, 'q'), None);
    assert_eq!(plain(&app, KeyCode::Char('x')), None);
}

#[test]
fn while_a_filter_is_typed_letters_are_letters() {
    let mut app = app();
    app.apply(Action::EditFilter);
    for c in ['q', 'j', '?', ' ', '/', 'é'] {
        assert_eq!(plain(&app, KeyCode::Char(c)), Some(Action::Type(c)));
    }
    assert_eq!(plain(&app, KeyCode::Backspace), Some(Action::EraseCharacter));
    assert_eq!(plain(&app, KeyCode::Enter), Some(Action::AcceptFilter));
    assert_eq!(plain(&app, KeyCode::Esc), Some(Action::Back));
    assert_eq!(control(&app, 'u'), Some(Action::EraseAll));
    assert_eq!(control(&app, 'c'), Some(Action::Quit));
    assert_eq!(control(&app, 'w'), None);
}

#[test]
fn a_key_that_is_let_go_asks_for_nothing() {
    let mut key = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
    key.kind = KeyEventKind::Release;
    assert_eq!(action(&app(), key), None);
}

/// Each key that the help names by its character does something.
#[test]
fn the_help_is_true() {
    let app = app();
    for (keys, text) in HELP {
        for key in keys.split([' ', ',']) {
            let mut characters = key.chars();
            let (Some(c), None) = (characters.next(), characters.next()) else { continue };
            let code = match c {
                '↑' => KeyCode::Up,
                '↓' => KeyCode::Down,
                c => KeyCode::Char(c),
            };
            assert!(plain(&app, code).is_some(), "{key}: {text}");
        }
    }
}
