//! An interleaving that tests from outside cannot force: a thief goes on to something else at the
//! moment when its victim steals from it.

use super::{leapfrog, requeue, wait};
use crate::forkjoin::deque_view;
use crate::forkjoin::frame::StackJob;
use crate::runtime::{Builder, Handle};
use crate::scheduler::{Job, Origin, Worker, with_here};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

fn on_worker<R: Send>(handle: &Handle, f: impl FnOnce(&Worker) -> R + Send) -> R {
    handle.install(|| with_here(|worker| f(worker.expect("install calls it on a worker"))))
}

/// J2, J3: a requeued stack job may want a lock that is held where it was stolen. Its owner sleeps,
/// and no other worker can come: the only spare worker is the one that requeues it.
#[test]
fn j3_a_job_that_is_requeued_at_the_end_goes_to_its_owner() {
    let mut builder = Builder::new_multi_thread();
    let rt = builder.worker_threads(1).max_blocking_threads(1).build().unwrap();
    let (owns, passes) = (rt.handle().clone(), rt.handle().clone());
    let (give, given) = channel::<Job>();
    let (run, has_run) = channel();
    let (begin, has_begun) = channel();
    thread::scope(|threads| {
        let owner = threads.spawn(move || {
            on_worker(&owns, move |worker| {
                let report = move |_| run.send(thread::current().id()).unwrap();
                let job = StackJob::new(deque_view::mark(worker), report);
                // SAFETY: (J2) this frame is not left before the latch is set.
                give.send(unsafe { job.offer() }).unwrap();
                let stolen = &job.head;
                wait(worker, &stolen.latch, |is_last_look| leapfrog(worker, stolen, is_last_look));
                thread::current().id()
            })
        });
        let job = given.recv().unwrap();
        let passer = threads.spawn(move || {
            on_worker(&passes, move |worker| {
                begin.send(()).unwrap();
                while !worker.scheduler().is_down() {
                    thread::yield_now();
                }
                // Until the owner sleeps again. If this is too short, broken code may pass.
                thread::sleep(Duration::from_millis(20));
                requeue(worker, job, Origin::Stolen(0));
                has_run.recv().unwrap()
            })
        });
        has_begun.recv().unwrap();
        drop(rt);
        assert_eq!(passer.join().unwrap(), owner.join().unwrap());
    });
}
