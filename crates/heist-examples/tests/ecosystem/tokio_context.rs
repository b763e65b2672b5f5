//! Crates that call Tokio's runtime by name find the companion, wherever heist calls code of
//! others.

use crate::support::{ask, connect, hello, http1, runtime_with_tokio};
use heist::runtime::{Builder, Handle, Runtime};
use heist::task::{self, LocalSet};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// What a crate may do that was written for Tokio: all of it ends on the companion.
async fn use_tokio() {
    let since = Instant::now();
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert!(since.elapsed() >= Duration::from_millis(5));

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accepted = tokio::spawn(async move { listener.accept().await.unwrap().1 });
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    assert_eq!(accepted.await.unwrap(), stream.local_addr().unwrap());

    assert_eq!(tokio::task::spawn_blocking(|| 7).await.unwrap(), 7);
}

fn has_tokio() -> bool {
    tokio::runtime::Handle::try_current().is_ok()
}

#[test]
fn tasks_of_every_kind_may_use_tokio() {
    let runtime = runtime_with_tokio();
    runtime.block_on(use_tokio());
    runtime.block_on(runtime.spawn(use_tokio())).unwrap();
    runtime.block_on(async { task::spawn_pinned(use_tokio).await.unwrap() });
    runtime
        .block_on(LocalSet::new().run_until(async { task::spawn_local(use_tokio()).await }))
        .unwrap();
    let closure = || Handle::current().block_on(use_tokio());
    runtime.block_on(runtime.spawn_blocking(closure)).unwrap();
    runtime.block_on(runtime.spawn(async { task::block_in_place(has_tokio) })).unwrap();
    let _entered = runtime.enter();
    assert!(has_tokio());
}

#[test]
fn a_runtime_without_worker_threads_may_use_tokio() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(use_tokio());
    runtime.block_on(runtime.spawn(use_tokio())).unwrap();
}

/// The thread that runs the others while a worker is stuck has been started later than all.
#[test]
fn spare_workers_may_use_tokio() {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (release, stuck) = mpsc::channel::<()>();
    let stuck = runtime.spawn(async move { stuck.recv().unwrap() });
    runtime.block_on(runtime.spawn(use_tokio())).unwrap();
    release.send(()).unwrap();
    runtime.block_on(stuck).unwrap();
}

/// Callbacks, and what is dropped when the runtime ends, are foreign code too.
#[test]
fn callbacks_and_drops_find_it() {
    struct Reports(mpsc::Sender<bool>);
    impl Drop for Reports {
        fn drop(&mut self) {
            self.0.send(has_tokio()).unwrap();
        }
    }
    let (sender, reports) = mpsc::channel();
    let (started, on_start) = (sender.clone(), mpsc::channel());
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .on_thread_start(move || started.send(has_tokio()).unwrap())
        .build()
        .unwrap();
    let waits = Reports(sender);
    runtime.spawn(async move {
        on_start.0.send(()).unwrap();
        std::future::pending::<()>().await;
        drop(waits);
    });
    on_start.1.recv().unwrap();
    drop(runtime);
    let reports: Vec<_> = reports.iter().collect();
    assert!(reports.len() >= 2 && reports.iter().all(|is_found| *is_found), "{reports:?}");
}

/// Only those that ask for it, by `enable_all` or by name, have a companion.
#[test]
fn without_either_there_is_no_companion() {
    let plain = Builder::new_multi_thread().worker_threads(1).enable_io().enable_time().build();
    let plain = plain.unwrap();
    assert!(!plain.block_on(plain.spawn(async { has_tokio() })).unwrap());
    assert!(!plain.block_on(async { has_tokio() }));

    let mut builder = Builder::new_multi_thread();
    let named = builder.worker_threads(1).enable_tokio_context().build().unwrap();
    assert!(named.block_on(named.spawn(async { has_tokio() })).unwrap());
    drop(named.enter());
    assert!(!has_tokio());
}

/// What runs on the companion is in the runtime that it belongs to.
#[test]
fn the_companion_is_in_the_runtime() {
    let runtime = runtime_with_tokio();
    let id = runtime.handle().id();
    let task = async move {
        assert_eq!(Handle::current().id(), id);
        heist::time::sleep(Duration::from_millis(1)).await;
        let listener = heist::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = connect(listener.local_addr().unwrap());
        let (accepted, _) = heist::join!(listener.accept(), stream);
        accepted.unwrap();
        let name = || thread::current().name().map(str::to_owned);
        assert_eq!(name().as_deref(), Some("heist-tokio"));
        assert_eq!(
            heist::spawn(async move { name() }).await.unwrap().as_deref(),
            Some("heist-worker")
        );
        let blocking = tokio::task::spawn_blocking(|| Handle::current().id());
        assert_eq!(blocking.await.unwrap(), id);
    };
    runtime.block_on(async { tokio::spawn(task).await }).unwrap();
}

#[test]
fn the_companion_has_as_many_threads_as_it_is_given() {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).tokio_context_threads(3).build().unwrap();
    let workers = || tokio::runtime::Handle::current().metrics().num_workers();
    assert_eq!(runtime.block_on(async { workers() }), 3);
    let panic = catch_unwind(AssertUnwindSafe(|| _ = builder.tokio_context_threads(0)));
    let message = *panic.unwrap_err().downcast::<&str>().unwrap();
    assert!(message.starts_with("Builder::tokio_context_threads: must be 1 or more"), "{message}");
}

/// Runtimes inside of runtimes: the innermost counts, and the one before it afterwards.
#[test]
fn runtimes_may_be_nested() {
    let id = || tokio::runtime::Handle::current().id();
    let (outer, inner) = (runtime_with_tokio(), runtime_with_tokio());
    let _outer = outer.enter();
    let of_outer = id();
    let of_inner = inner.block_on(async { id() });
    assert_ne!(of_outer, of_inner);
    assert_eq!(id(), of_outer);
    let second = inner.enter();
    assert_eq!(id(), of_inner);
    drop(second);
    assert_eq!(id(), of_outer);
}

/// The runtime does not wait for what others have spawned beside it, but that ends all the same,
/// and nothing of the runtime is kept by it.
#[test]
fn the_companion_ends_with_the_runtime() {
    struct Told(mpsc::Sender<()>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    let kept = Arc::new(());
    let (sender, is_dropped) = mpsc::channel();
    {
        let held = kept.clone();
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.enable_all().on_thread_start(move || _ = &held).build().unwrap();
        let told = Told(sender);
        runtime.block_on(async {
            tokio::spawn(async move {
                std::future::pending::<()>().await;
                drop(told);
            });
        });
    }
    is_dropped.recv().unwrap();
    while Arc::strong_count(&kept) > 1 {
        thread::yield_now();
    }
}

/// Where thread-locals are gone, ours and Tokio's, in whatever order.
#[test]
fn a_runtime_may_end_with_its_thread() {
    thread_local! {
        static KEPT: RefCell<Option<Runtime>> = const { RefCell::new(None) };
    }
    let thread = thread::spawn(|| {
        KEPT.set(None);
        let runtime = runtime_with_tokio();
        runtime.block_on(use_tokio());
        runtime.spawn(std::future::pending::<()>());
        KEPT.set(Some(runtime));
    });
    thread.join().unwrap();
}

/// A server that spawns its connections by itself, on the companion.
#[test]
fn axum_serve_works() {
    runtime_with_tokio().block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        heist::spawn(axum::serve(listener, hello()).into_future());
        let mut sender = http1(connect(address).await).await;
        for _ in 0..3 {
            assert_eq!(ask(&mut sender, "/").await, (200, "hello".into()));
        }
        let answer = reqwest::get(format!("http://{address}/")).await.unwrap();
        assert_eq!(answer.text().await.unwrap(), "hello");
    });
}
