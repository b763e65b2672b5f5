//! Warnings as lines on stderr.

use crate::env::without_signals;
use std::io::{self, Write};

pub(super) fn warn(message: &str) {
    without_signals(|| write_line(&mut io::stderr().lock(), message));
}

/// Writes the line at once, so that no other thread's output is in between. Unlike `eprintln`, it
/// does not panic if stderr is closed.
fn write_line(out: &mut impl Write, message: &str) {
    let _ = out.write_all(format!("heist: {message}\n").as_bytes());
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::env::log::{self, NoSpare};
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn a_warning_is_one_line_with_our_name_on_it() {
        let mut out = Vec::new();
        write_line(&mut out, "this and that");
        assert_eq!(out, b"heist: this and that\n");
    }

    /// Runs in a process of its own, whose stderr can be read. Each warning is written once, and
    /// names cannot break a line.
    #[test]
    fn warnings_are_lines_on_stderr() {
        const IS_CHILD: &str = "HEIST_TEST_WARNS";
        if std::env::var_os(IS_CHILD).is_some() {
            let once = log::Once::default();
            let timeout = Duration::from_millis(50);
            log::left_behind(&[], timeout);
            log::left_behind(&["one", "two\nlines"].map(String::from), timeout);
            log::no_spare(&once, &NoSpare::ThreadsBusy(7));
            log::no_spare(&once, &NoSpare::ThreadsBusy(7));
            return;
        }
        let (_, tests) = module_path!().split_once("::").unwrap();
        let test = format!("{tests}::warnings_are_lines_on_stderr");
        let mut child = Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", &test, "--nocapture"]).env(IS_CHILD, "1");
        let said = String::from_utf8(child.output().unwrap().stderr).unwrap();
        let said: Vec<_> = said.lines().filter(|line| line.starts_with("heist: ")).collect();
        let [left, no_spare] = said[..] else { panic!("two lines: {said:?}") };
        assert!(left.contains("after 50ms, 2 threads had not ended"), "{left}");
        assert!(left.contains(r#"["one", "two\nlines"]"#), "{left}");
        assert!(no_spare.contains("all 7 threads"), "{no_spare}");
    }

    #[test]
    fn a_closed_stream_does_no_harm() {
        write_line(&mut &mut [][..], "no room for it");
    }
}
