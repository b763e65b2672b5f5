use super::fixture::{app, snapshot};
use crate::top::once::text;
use crate::top::view::tests::assert_golden;

#[test]
fn the_table_is_this() {
    assert_golden("once", &text(&app(), 3));
}

#[test]
fn names_do_not_steer_the_terminal() {
    let mut app = app();
    let mut next = snapshot(123.0);
    next.tasks[0].name = Some("\u{1b}[2Jevil\r\n".to_owned());
    next.program = "\u{7}bell".to_owned();
    app.receive(next);
    let text = text(&app, 12);
    assert!(text.contains("evil") && !text.contains(['\u{1b}', '\r', '\u{7}']), "{text}");
}
