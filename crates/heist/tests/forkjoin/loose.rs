//! J3: a worker that waits in a join or a scope, perhaps with a lock held, leaves to others the
//! jobs that its frame does not wait for. What fails here hangs.

use heist::runtime::{Builder, Handle, Runtime};
use heist::{join, scope, spawn_job};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

fn runtimes() -> impl Iterator<Item = Runtime> {
    let runtime = |workers| Builder::new_multi_thread().worker_threads(workers).build().unwrap();
    [1, 2, 16].into_iter().map(runtime)
}

type Lock = Arc<Mutex<u32>>;

/// Leaves two jobs behind that want the lock; one of them is run whatever comes.
fn leave(handle: &Handle, lock: &Lock) {
    let wants = || {
        let lock = Arc::clone(lock);
        move || *lock.lock().unwrap() += 1
    };
    drop(spawn_job(wants()).detach());
    handle.spawn_detached(wants());
}

#[test]
fn j3_what_a_closure_leaves_behind() {
    for rt in runtimes() {
        let (handle, lock) = (rt.handle(), Lock::default());
        handle.install(|| {
            let guard = lock.lock().unwrap();
            join(|| leave(handle, &lock), || ());
            scope(|s| {
                s.spawn(|_| ());
                leave(handle, &lock);
            });
            drop(guard);
        });
        drop(rt);
        assert!(*lock.lock().unwrap() >= 2);
    }
}

#[test]
fn j3_jobs_of_a_scope_further_out() {
    for rt in runtimes() {
        let (lock, ran) = (Mutex::new(0), Mutex::new(0));
        let (lock, ran) = (&lock, &ran);
        rt.handle().install(|| {
            scope(|outer| {
                let guard = lock.lock().unwrap();
                scope(|inner| {
                    inner.spawn(|_| *ran.lock().unwrap() += 1);
                    outer.spawn(|_| *lock.lock().unwrap() += 1);
                });
                join(|| outer.spawn(|_| *lock.lock().unwrap() += 1), || ());
                drop(guard);
            });
        });
        assert_eq!((*lock.lock().unwrap(), *ran.lock().unwrap()), (2, 1));
    }
}

/// The second closure was stolen, and does not end before what it leaves behind has begun: with the
/// owner of the join, which looks for something to help with, it would wait for the lock for ever.
#[test]
fn j3_what_a_thief_leaves_behind() {
    for rt in runtimes().skip(1) {
        for _ in 0..20 {
            let lock = Lock::default();
            let (steal, is_stolen) = channel();
            let leave = {
                let (handle, lock) = (rt.handle(), Arc::clone(&lock));
                move || {
                    steal.send(()).unwrap();
                    let (begin, has_begun) = channel();
                    let wants = move || {
                        begin.send(()).unwrap();
                        *lock.lock().unwrap() += 1;
                    };
                    handle.spawn_detached(wants);
                    has_begun.recv().unwrap();
                }
            };
            rt.handle().install(|| {
                let guard = lock.lock().unwrap();
                join(move || is_stolen.recv().unwrap(), leave);
                drop(guard);
            });
        }
    }
}

/// What was put aside is for others, and there are none: the only worker waits for it, and nobody
/// could come in its place.
#[test]
fn j5_a_job_that_was_put_aside_is_run_by_its_waiter() {
    let mut builder = Builder::new_multi_thread();
    let rt = builder.worker_threads(1).max_blocking_threads(1).build().unwrap();
    let (begin, has_begun) = channel();
    let (release, is_released) = channel::<()>();
    let taken = rt.spawn_blocking(move || {
        begin.send(()).unwrap();
        is_released.recv().unwrap_err();
    });
    has_begun.recv().unwrap();
    let found = rt.handle().install(|| join(|| spawn_job(|| 7), || ()).0.wait().unwrap());
    assert_eq!(found, 7);
    drop(release);
    rt.block_on(taken).unwrap();
}
