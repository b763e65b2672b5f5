//! A draft that is read while it is replaced, in every interleaving that loom can find.

use super::Draft;
use crate::canary;
use loom::thread;

/// Each draft has its position in all of its words.
fn check(draft: &Draft<2>) {
    if let Some((position, words)) = draft.read() {
        assert_eq!(words, [position; 2], "parts of two drafts");
    }
}

/// One replaces the draft twice, another reads it meanwhile.
fn a_read_beside_a_writer() {
    let draft: &'static Draft<2> = Box::leak(Box::new(Draft::new()));
    let writer = thread::spawn(move || {
        (1..=2).for_each(|position| draft.replace(position, [position; 2]));
    });
    check(draft);
    writer.join().unwrap();
    assert_eq!(draft.read(), Some((2, [2; 2])));
}

#[test]
fn loom_a_read_finds_one_whole_draft() {
    loom::model(a_read_beside_a_writer);
}

#[test]
#[should_panic(expected = "parts of two drafts")]
fn loom_canary_draft_word_relaxed() {
    canary::TRACE_DRAFT_WORD_RELAXED.model(a_read_beside_a_writer);
}

#[test]
#[should_panic(expected = "parts of two drafts")]
fn loom_canary_draft_version_relaxed() {
    canary::TRACE_DRAFT_VERSION_RELAXED.model(a_read_beside_a_writer);
}

#[test]
#[should_panic(expected = "parts of two drafts")]
fn loom_canary_draft_unchecked() {
    canary::TRACE_DRAFT_UNCHECKED.model(a_read_beside_a_writer);
}
