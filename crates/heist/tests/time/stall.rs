//! Timers beside workers that have stepped aside or are stuck (L3): the wheel goes with the seat,
//! and where nobody sits somebody looks.
//!
//! Nothing here is decided by the clock: what must happen is waited for, however long it takes.

use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::UnixStream;
use heist::runtime::{Builder, Handle, Runtime};
use heist::task::{self, block_in_place};
use heist::time::sleep;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Long enough for sysmon to go to sleep without a limit, unless the machine is busy; then these
/// tests may not test what they should.
const QUIET: Duration = Duration::from_millis(250);
const SOON: Duration = Duration::from_millis(20);

/// A runtime without sysmon.
fn runtime(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all().stall_threshold(None).build().unwrap()
}

/// L3, L5: there is a timer in the wheel of a worker that steps aside, and sysmon sleeps.
#[test]
fn l3_a_timer_of_a_worker_that_steps_aside() {
    let rt = runtime(1);
    thread::sleep(QUIET);
    for _ in 0..5 {
        let (fired, fires) = mpsc::channel();
        let stuck = rt.spawn(async move {
            task::spawn(async move {
                sleep(SOON).await;
                fired.send(()).unwrap();
            });
            task::yield_now().await;
            block_in_place(|| fires.recv().unwrap());
        });
        rt.block_on(stuck).unwrap();
    }
}

/// L3, L5: the timer comes when the worker has stepped aside; with sockets in the same reactor, and
/// without.
#[test]
fn l3_a_timer_on_a_seat_without_a_worker() {
    for has_socket in [false, true] {
        let rt = runtime(1);
        thread::sleep(QUIET);
        let stuck = rt.spawn(async move {
            let (mut near, _far) = UnixStream::pair().unwrap();
            let waits = async { assert_eq!(near.read(&mut [0]).await.unwrap(), 0) };
            let nap = async {
                block_in_place(|| {
                    (0..5).for_each(|_| Handle::current().block_on(sleep(SOON)));
                });
            };
            if has_socket {
                heist::select! {
                    biased;
                    () = waits => unreachable!(),
                    () = nap => {}
                }
            } else {
                nap.await;
            }
        });
        rt.block_on(stuck).unwrap();
    }
}

/// A runtime that goes down is not kept by one of its tasks that waits for time in the middle of a
/// poll.
#[test]
fn a_shutdown_beside_a_task_that_waits_in_its_poll() {
    let rt = runtime(1);
    let (begun, begins) = mpsc::channel();
    let waits = rt.spawn(async move {
        block_in_place(|| {
            Handle::current().block_on(async {
                let mut nap = std::pin::pin!(sleep(Duration::from_secs(100_000)));
                assert!(heist::time::timeout(Duration::ZERO, &mut nap).await.is_err());
                begun.send(()).unwrap();
                nap.await;
            });
        });
    });
    begins.recv().unwrap();
    drop(rt);
    let panic = Runtime::new().unwrap().block_on(waits).unwrap_err().into_panic();
    let message = panic.downcast_ref::<&str>().unwrap();
    assert!(message.contains("has been shut down"), "{message}");
}

/// A thread that waits in another runtime, in the middle of a poll, waits with its timers.
#[test]
fn waiting_in_another_runtime_is_not_ended_with_ones_own() {
    let (rt, other) = (runtime(1), runtime(1));
    let (begun, begins) = mpsc::channel();
    let (down, goes_down) = mpsc::channel::<()>();
    let (done, is_done) = mpsc::channel();
    rt.spawn(async move {
        other.block_on(async {
            let mut nap = std::pin::pin!(sleep(SOON));
            assert!(heist::time::timeout(Duration::ZERO, &mut nap).await.is_err());
            begun.send(()).unwrap();
            goes_down.recv().unwrap();
            nap.await;
            sleep(SOON).await;
        });
        done.send(()).unwrap();
    });
    begins.recv().unwrap();
    rt.shutdown_background();
    down.send(()).unwrap();
    is_done.recv().unwrap();
}

/// L3: naps and a conversation, on workers that step aside all the time.
#[test]
fn l3_timers_and_sockets_beside_workers_that_step_aside() {
    for workers in [1, 2, 4] {
        let rt = runtime(workers);
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let (mut near, mut far) = rt.block_on(async { UnixStream::pair().unwrap() });
                rt.spawn(async move {
                    let mut buffer = [0; 8];
                    while far.read(&mut buffer).await.unwrap() > 0 {
                        block_in_place(thread::yield_now);
                        far.write_all(&buffer[..1]).await.unwrap();
                    }
                });
                rt.spawn(async move {
                    for number in 0..50 {
                        near.write_all(&[number]).await.unwrap();
                        let mut reply = [0];
                        near.read_exact(&mut reply).await.unwrap();
                        assert_eq!(reply, [number]);
                        block_in_place(|| {
                            Handle::current().block_on(sleep(Duration::from_millis(1)));
                        });
                        sleep(Duration::from_millis(1)).await;
                    }
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| rt.block_on(task).unwrap());
    }
}
