//! Task-locals.

use crate::support::futures::Gate;
use crate::support::runtime;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::{Future, pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

heist::task_local! {
    static NUMBER: u32;

    /// With an attribute, a type with a comma, and a visibility.
    pub(crate) static TABLE: HashMap<String, Vec<u8>>;

    #[allow(dead_code, reason = "that it compiles is the test")]
    pub static NEITHER_SEND_NOR_SYNC: std::rc::Rc<Cell<u32>>;
}

heist::task_local! { static WITHOUT_SEMICOLON: RefCell<&'static str> }

mod elsewhere {
    heist::task_local!(
        pub static PUBLIC: u8;
    );
}

heist::task_local! {}

fn cx() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let string = panic.downcast_ref::<String>().map(String::as_str);
    string.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap()
}

#[test]
fn every_way_to_declare_one_works() {
    let table = HashMap::from([(String::from("a"), vec![1])]);
    TABLE.sync_scope(table, || TABLE.with(|table| assert_eq!(table["a"], [1])));
    NEITHER_SEND_NOR_SYNC.sync_scope(Default::default(), || {
        NEITHER_SEND_NOR_SYNC.with(|cell| cell.set(3));
        assert_eq!(NEITHER_SEND_NOR_SYNC.get().get(), 3);
    });
    WITHOUT_SEMICOLON.sync_scope("first".into(), || {
        WITHOUT_SEMICOLON.with(|text| *text.borrow_mut() = "second");
        WITHOUT_SEMICOLON.with(|text| assert_eq!(*text.borrow(), "second"));
    });
    elsewhere::PUBLIC.sync_scope(1, || assert_eq!(elsewhere::PUBLIC.get(), 1));
}

#[test]
fn a_value_is_seen_inside_of_its_scope_only() {
    assert!(NUMBER.try_get().is_err());
    let mut future = pin!(NUMBER.scope(1, async {
        assert_eq!(NUMBER.get(), 1);
        NUMBER.scope(2, async { assert_eq!(NUMBER.get(), 2) }).await;
        assert_eq!(NUMBER.get(), 1);
        NUMBER.sync_scope(3, || assert_eq!(NUMBER.get(), 3));
        assert_eq!(NUMBER.get(), 1);
    }));
    assert!(NUMBER.try_get().is_err(), "not before the first poll");
    assert!(future.as_mut().poll(&mut cx()).is_ready());
    assert!(NUMBER.try_get().is_err(), "not afterwards");
}

#[test]
fn futures_that_take_turns_have_a_value_each() {
    let turn = |number: u32| {
        Box::pin(NUMBER.scope(number, async move {
            for _ in 0..3 {
                assert_eq!(NUMBER.get(), number);
                heist::task::yield_now().await;
            }
            NUMBER.get()
        }))
    };
    let mut futures = [turn(1), turn(2), turn(3)];
    for _ in 0..3 {
        for future in &mut futures {
            assert!(future.as_mut().poll(&mut cx()).is_pending());
            assert!(NUMBER.try_get().is_err(), "not between polls");
        }
    }
    let numbers = futures.map(|mut future| future.as_mut().poll(&mut cx()));
    assert_eq!(numbers, [Poll::Ready(1), Poll::Ready(2), Poll::Ready(3)]);
}

#[test]
fn a_value_goes_with_its_task_and_not_to_those_it_spawns() {
    let rt = runtime(4);
    let tasks: Vec<_> = (0..100)
        .map(|number| {
            rt.spawn(NUMBER.scope(number, async move {
                for _ in 0..20 {
                    assert_eq!(NUMBER.get(), number);
                    heist::task::yield_now().await;
                }
                let inner = heist::spawn(async { NUMBER.try_get() });
                assert!(inner.await.unwrap().is_err());
                NUMBER.get()
            }))
        })
        .collect();
    for (number, task) in tasks.into_iter().enumerate() {
        assert_eq!(rt.block_on(task).unwrap() as usize, number);
    }
}

/// Notes what it sees of NUMBER when it is dropped.
struct LookWhenDropped(Arc<Mutex<Vec<Option<u32>>>>);

impl Drop for LookWhenDropped {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(NUMBER.try_get().ok());
    }
}

#[test]
fn a_future_sees_its_value_when_it_is_dropped() {
    let seen = Arc::new(Mutex::new(vec![]));
    let take = || std::mem::take(&mut *seen.lock().unwrap());
    let look = || LookWhenDropped(Arc::clone(&seen));

    let guard = look();
    let mut done = pin!(NUMBER.scope(
        1,
        poll_fn(move |_| {
            let _ = &guard;
            Poll::Ready(())
        })
    ));
    assert!(done.as_mut().poll(&mut cx()).is_ready());
    assert_eq!(take(), [Some(1)], "dropped as soon as it is done");

    let guard = look();
    drop(NUMBER.scope(2, async move {
        let _guard = guard;
        pending::<()>().await;
    }));
    assert_eq!(take(), [Some(2)], "never polled");

    // An aborted task's future is dropped by its worker (T6).
    let rt = runtime(1);
    let (guard, gate) = (look(), Gate::default());
    let reached = gate.clone();
    let task = rt.spawn(NUMBER.scope(3, async move {
        let _guard = guard;
        reached.open();
        pending::<()>().await;
    }));
    rt.block_on(gate.pass());
    task.abort();
    assert!(rt.block_on(task).unwrap_err().is_cancelled());
    assert_eq!(take(), [Some(3)], "aborted");
}

#[test]
fn a_panic_puts_the_outer_value_back() {
    NUMBER.sync_scope(1, || {
        let inner = catch_unwind(|| NUMBER.sync_scope(2, || panic!("on purpose")));
        assert!(inner.is_err());
        assert_eq!(NUMBER.get(), 1);
        let mut future = pin!(NUMBER.scope(3, poll_fn(|_| -> Poll<()> { panic!("on purpose") })));
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut cx())));
        assert!(polled.is_err());
        assert_eq!(NUMBER.get(), 1);
        assert_eq!(future.take_value(), Some(3));
    });
}

#[test]
fn a_value_can_be_taken_once_the_future_is_done() {
    let mut future = pin!(NUMBER.scope(7, ready(())));
    assert!(future.as_mut().poll(&mut cx()).is_ready());
    assert_eq!(future.as_mut().take_value(), Some(7));
    assert_eq!(future.as_mut().take_value(), None);
}

#[test]
fn a_future_whose_value_was_taken_goes_on_without() {
    let mut future = pin!(NUMBER.scope(7, async { NUMBER.try_get() }));
    assert_eq!(future.as_mut().take_value(), Some(7));
    let Poll::Ready(got) = future.poll(&mut cx()) else { unreachable!("it never waits") };
    assert!(got.is_err());
}

#[test]
fn without_a_value_with_and_get_panic_and_say_so() {
    for panic in [
        catch_unwind(|| NUMBER.with(|_| ())).unwrap_err(),
        catch_unwind(|| NUMBER.get()).map(drop).unwrap_err(),
    ] {
        let message = message(&*panic);
        assert!(message.contains("LocalKey::") && message.contains("scope"), "{message}");
    }
    let error = NUMBER.try_with(|_| ()).unwrap_err();
    assert!(error.to_string().contains("LocalKey::scope"));
}

#[test]
fn a_scope_inside_of_with_panics_and_changes_nothing() {
    NUMBER.sync_scope(1, || {
        NUMBER.with(|_| {
            let panic = catch_unwind(|| NUMBER.sync_scope(2, || ())).unwrap_err();
            assert!(message(&*panic).contains("sync_scope"));
            let mut future = pin!(NUMBER.scope(3, ready(())));
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut cx())));
            assert!(message(&*polled.unwrap_err()).contains("LocalKey::scope"));
        });
        assert_eq!(NUMBER.get(), 1);
    });
}

#[test]
fn polling_again_after_the_end_panics() {
    let mut future = pin!(NUMBER.scope(1, ready(())));
    assert!(future.as_mut().poll(&mut cx()).is_ready());
    let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut cx())));
    assert!(message(&*polled.unwrap_err()).contains("TaskLocalFuture"));
}

#[test]
fn scopes_of_send_values_are_send() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&NUMBER.scope(1, async {}));
}
