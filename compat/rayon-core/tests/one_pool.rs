//! Without pools of rayon's own, jobs and tasks have the same threads.

use heist::runtime::Builder;

#[test]
fn jobs_run_where_tasks_do() {
    let rt = Builder::new_multi_thread().worker_threads(3).thread_name("tasks").build().unwrap();
    let name = || std::thread::current().name().map(str::to_owned);
    let task = rt.spawn(async move {
        assert_eq!(rayon_core::current_num_threads(), 3);
        rayon_core::join(name, name)
    });
    let (a, b) = rt.block_on(task).unwrap();
    assert_eq!((a.as_deref(), b.as_deref()), (Some("tasks"), Some("tasks")));
    // This thread waits in the runtime, and is none of its workers.
    let inside = rt.block_on(async { rayon_core::join_context(|a| a.migrated(), |_| ()).0 });
    assert!(inside);
    assert_eq!(rayon_core::scope(|_| name()).as_deref(), Some("heist-global"));
}
