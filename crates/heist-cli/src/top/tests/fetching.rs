use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use super::fixture::{snapshot, wish};
use crate::live::Snapshot;
use crate::top::Message;
use crate::top::app::{Sort, Wish};
use crate::top::fetch::{Fetcher, spawn};

type Answers = mpsc::Sender<Result<Snapshot, String>>;

/// A fetcher whose source answers with what is sent to it, and says what it was asked.
fn fetcher(wish: Wish) -> (Fetcher, Receiver<Message>, Answers, Receiver<Wish>) {
    let (answers, answer) = mpsc::channel();
    let (ask, asked) = mpsc::channel();
    let (sender, messages) = mpsc::channel();
    let source = move |wish: &Wish| {
        ask.send(wish.clone()).unwrap();
        answer.recv().unwrap_or_else(|_| Err("over".to_owned()))
    };
    (Fetcher::start(source, wish, sender).unwrap(), messages, answers, asked)
}

#[test]
fn what_comes_and_what_does_not_is_told_and_asked_for_again() {
    let (_fetcher, messages, answers, asked) =
        fetcher(Wish { interval: Duration::from_millis(1), ..wish() });
    answers.send(Ok(snapshot(1.0))).unwrap();
    assert!(matches!(messages.recv(), Ok(Message::Read(_))));
    answers.send(Err("gone".to_owned())).unwrap();
    assert!(matches!(messages.recv(), Ok(Message::Lost(reason)) if reason == "gone"));
    answers.send(Ok(snapshot(2.0))).unwrap();
    assert!(matches!(messages.recv(), Ok(Message::Read(_))));
    assert!(asked.try_iter().count() >= 3);
}

#[test]
fn a_new_wish_is_asked_for_at_once() {
    let (mut fetcher, messages, answers, asked) =
        fetcher(Wish { interval: Duration::from_secs(3600), ..wish() });
    asked.recv().unwrap();
    for _ in 0..3 {
        answers.send(Ok(snapshot(1.0))).unwrap();
    }
    messages.recv().unwrap();
    // The second follows soon, for the rates; the third would be an hour later.
    asked.recv().unwrap();
    messages.recv().unwrap();
    let next = Wish { sort: Sort::Delay, interval: Duration::from_secs(3600), ..wish() };
    fetcher.wish(&next);
    assert_eq!(asked.recv().unwrap(), next);
}

#[test]
fn of_several_wishes_the_last_is_asked_for() {
    let (mut fetcher, _messages, answers, asked) =
        fetcher(Wish { interval: Duration::from_secs(3600), ..wish() });
    asked.recv().unwrap();
    let next = |filter: &str| Wish { filter: filter.to_owned(), ..wish() };
    ["a", "ab", "abc"].iter().for_each(|filter| fetcher.wish(&next(filter)));
    answers.send(Ok(snapshot(1.0))).unwrap();
    assert_eq!(asked.recv().unwrap(), next("abc"));
}

#[test]
fn paused_it_asks_for_nothing_until_it_goes_on() {
    let (mut fetcher, messages, answers, asked) =
        fetcher(Wish { interval: Duration::from_millis(1), ..wish() });
    asked.recv().unwrap();
    let paused = Wish { is_paused: true, filter: "a".to_owned(), ..wish() };
    fetcher.wish(&paused);
    answers.send(Ok(snapshot(1.0))).unwrap();
    messages.recv().unwrap();
    let resumed = Wish { is_paused: false, filter: "b".to_owned(), ..wish() };
    fetcher.wish(&resumed);
    // Never the one with which it was paused.
    assert_eq!(asked.recv().unwrap(), resumed);
}

#[test]
fn a_thread_that_panics_tells() {
    let (sender, messages) = mpsc::channel();
    spawn("panics", sender, |_| std::panic::resume_unwind(Box::new("on purpose"))).unwrap();
    assert!(matches!(messages.recv(), Ok(Message::Broken)));
    let (sender, messages) = mpsc::channel();
    spawn("ends", sender, |_| ()).unwrap();
    assert!(messages.recv().is_err());
}
