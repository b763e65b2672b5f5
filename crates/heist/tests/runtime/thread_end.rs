//! A thread that is ending, whose thread-locals of heist are gone already, may still wait (T8).

use heist::runtime::Builder;
use std::cell::RefCell;
use std::sync::mpsc;
use std::thread;

/// Does something when its thread ends.
struct AtEnd(Box<dyn FnOnce()>);

thread_local! {
    static AT_END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
}

impl Drop for AtEnd {
    fn drop(&mut self) {
        std::mem::replace(&mut self.0, Box::new(|| ()))();
    }
}

/// T8: `spawn`, awaiting and `block_on` work in the destructor of a thread-local that was made
/// before heist's own.
#[test]
fn t8_a_thread_that_is_ending_may_wait() {
    let rt = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let handle = rt.handle().clone();
    let (sender, answers) = mpsc::channel();
    thread::spawn(move || {
        // Registered first, so dropped last.
        AT_END.set(None);
        AT_END.with(|_| ());
        handle.block_on(handle.spawn(async {})).unwrap();
        let late = handle.clone();
        let act = move || sender.send(late.block_on(late.spawn(async { 7 })).unwrap()).unwrap();
        AT_END.set(Some(AtEnd(Box::new(act))));
    })
    .join()
    .unwrap();
    assert_eq!(answers.recv().unwrap(), 7);
}
