//! The source of answers: the runtime, and recent stalls.

use super::stalls::RecentStalls;
use crate::env::Clock;
use crate::scheduler::Scheduler;
use std::env;
use std::path::Path;
use std::sync::Arc;

/// The maximal length of names and locations, in bytes.
const MAX_TEXT: usize = 200;

pub(super) struct Source {
    pub(super) scheduler: Scheduler,
    pub(super) stalls: Arc<RecentStalls>,
    pub(super) program: String,
    pub(super) since: Clock,
}

impl Source {
    pub(super) fn new(scheduler: Scheduler, stalls: Arc<RecentStalls>) -> Self {
        Source { scheduler, stalls, program: program(), since: Clock::now() }
    }
}

/// The program's name, without its directory.
fn program() -> String {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let executable = || name(&env::current_exe().ok()?);
    let called = || name(Path::new(&env::args_os().next()?));
    let found = executable().or_else(called).unwrap_or_else(|| "unknown".into());
    cut(&found).into_owned()
}

/// A text, truncated to the maximal length.
pub(super) fn cut(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= MAX_TEXT {
        return text.into();
    }
    let end = (0..=MAX_TEXT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(cut("short"), "short");
        let exact = "x".repeat(MAX_TEXT);
        assert_eq!(cut(&exact), exact);
        assert_eq!(cut(&"é".repeat(MAX_TEXT)), format!("{}…", "é".repeat(MAX_TEXT / 2)));
        let odd = format!("x{}", "é".repeat(MAX_TEXT));
        assert_eq!(cut(&odd), format!("x{}…", "é".repeat(MAX_TEXT / 2 - 1)));
    }
}
