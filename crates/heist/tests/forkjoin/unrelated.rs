//! J3: a worker that waits for a job, perhaps with a lock held, runs nothing that the job does not
//! wait for, whatever comes to the worker that has the job. What fails here hangs.

use heist::join;
use heist::runtime::{Builder, Handle, Runtime};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Barrier, Mutex};
use std::thread::{self, ThreadId};

fn runtime() -> Runtime {
    // One that waits, its thief, and the thief's thief: nobody is idle.
    Builder::new_multi_thread().worker_threads(3).build().unwrap()
}

/// What becomes of a job that has nothing to do with a join but that it was left behind by what a
/// thief of the join runs on its way. It wants the lock that the join's owner holds.
struct Stray {
    lock: Mutex<()>,
    handle: Handle,
}

impl Stray {
    /// Leaves it behind. It says when it has begun.
    fn leave(&'static self, begins: impl FnOnce() + Send + 'static) {
        self.handle.spawn_detached(move || {
            begins();
            drop(self.lock.lock().unwrap());
        });
    }
}

fn stray(rt: &Runtime) -> &'static Stray {
    Box::leak(Box::new(Stray { lock: Mutex::new(()), handle: rt.handle().clone() }))
}

/// A waiting thief takes part in a broadcast, which leaves behind a job that needs the lock:
/// neither the owner of the join nor the thief runs it. `is_owner_awake`: the owner looks for a job
/// to help with at that moment.
fn a_broadcast_beside_a_thief(is_owner_awake: bool) {
    let rt = runtime();
    let stray = stray(&rt);
    let handle = rt.handle();
    let (thief, is_thief) = channel::<ThreadId>();
    let (begins, has_begun) = channel();
    let (inner, is_inner) = channel();
    let (end, may_end) = channel();
    thread::scope(|threads| {
        let owner = threads.spawn(move || {
            handle.install(move || {
                let _guard = stray.lock.lock().unwrap();
                let (steal, is_stolen) = channel();
                let second = move || {
                    steal.send(()).unwrap();
                    thief.send(thread::current().id()).unwrap();
                    // Its own second closure is stolen, too, and it waits.
                    let (steal, is_stolen) = channel();
                    join(
                        move || is_stolen.recv().unwrap(),
                        move || {
                            steal.send(()).unwrap();
                            inner.send(thread::current().id()).unwrap();
                            may_end.recv().unwrap();
                        },
                    );
                };
                join(move || is_stolen.recv().unwrap(), second);
            });
        });
        let (thief, inner) = (is_thief.recv().unwrap(), is_inner.recv().unwrap());
        let (begins, started) = (Mutex::new(begins), Mutex::new(channel::<()>()));
        let is_left = AtomicBool::new(false);
        handle.spawn_broadcast(move |_| match thread::current().id() {
            id if id == thief => {
                let begins = begins.lock().unwrap().clone();
                let starts = started.lock().unwrap().0.clone();
                stray.leave(move || {
                    begins.send(()).unwrap();
                    starts.send(()).unwrap();
                });
                is_left.store(true, Ordering::SeqCst);
                if is_owner_awake {
                    // Somebody has to take it: the owner, which is about to look.
                    started.lock().unwrap().1.recv().unwrap();
                }
            }
            id if id == inner => {}
            // The owner. It will look for something to help with next.
            _ => {
                while is_owner_awake && !is_left.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
            }
        });
        has_begun.recv().unwrap();
        end.send(()).unwrap();
        owner.join().unwrap();
    });
}

#[test]
fn j3_a_thief_does_not_run_what_a_broadcast_leaves_behind() {
    (0..20).for_each(|_| a_broadcast_beside_a_thief(false));
}

#[test]
fn j3_an_owner_does_not_run_what_a_broadcast_leaves_with_the_thief() {
    (0..20).for_each(|_| a_broadcast_beside_a_thief(true));
}

/// A worker without a possible replacement does not step aside, and takes part in a broadcast. The
/// jobs that its part leaves behind do not belong to the join that it waits in.
#[test]
fn j3_a_broadcast_in_a_wait_for_another_runtime() {
    let rt = Builder::new_multi_thread().worker_threads(2).thread_per_core(true).build().unwrap();
    let other = runtime();
    let (stray, barrier) = (stray(&rt), &Barrier::new(2));
    rt.handle().install(|| {
        let _guard = stray.lock.lock().unwrap();
        let leave = || {
            stray.handle.broadcast(|_| {
                // Otherwise the other worker might run the job that is left behind before its part,
                // and block.
                barrier.wait();
                stray.leave(|| {});
            })
        };
        join(|| other.handle().install(leave), || {});
    });
}
