//! Programs that shut runtimes down at bad moments, and what their users expect. A test that fails
//! here hangs.

use crate::drop_waits::{assert_cancelled, on_drop};
use heist::runtime::Builder;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

type Act = Box<dyn FnOnce() + Send>;

/// Builders of runtimes with and without workers.
fn builders() -> [Builder; 2] {
    let mut workers = Builder::new_multi_thread();
    workers.worker_threads(1);
    [Builder::new_current_thread(), workers]
}

/// No thread can be started for two closures, and the drop of the first waits for that of the
/// second.
#[test]
fn t9_for_closures_that_get_no_thread() {
    for mut builder in builders() {
        let meanwhile: Arc<Mutex<Option<Act>>> = Arc::default();
        let refuse = meanwhile.clone();
        builder.thread_name_fn(move || {
            let act = refuse.lock().unwrap().take();
            if let Some(act) = act {
                act();
                panic!("no thread");
            }
            "heist-test".into()
        });
        let runtime = builder.build().unwrap();
        let (other, is_other_held) = mpsc::channel::<()>();
        let (handle, (begun, begins)) = (runtime.handle().clone(), mpsc::channel());
        let second = handle.clone();
        let (give, given) = mpsc::channel();
        *meanwhile.lock().unwrap() = Some(Box::new(move || {
            give.send(second.spawn_blocking(move || drop(other))).unwrap();
        }));
        let waits = on_drop(move || {
            begun.send(()).unwrap();
            is_other_held.recv().unwrap_err();
        });
        let spawns = thread::spawn(move || handle.spawn_blocking(move || drop(waits)));
        begins.recv().unwrap();
        drop(runtime);
        assert_cancelled(spawns.join().unwrap());
        assert_cancelled(given.recv().unwrap());
    }
}
