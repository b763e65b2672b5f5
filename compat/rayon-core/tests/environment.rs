//! `RAYON_NUM_THREADS`: in a process of its own, as it is read once.

use std::process::Command;

const CHILD: &str = "RAYON_CORE_TEST_CHILD";

#[test]
fn the_environment_says_how_many() {
    if std::env::var_os(CHILD).is_some() {
        assert_eq!(rayon_core::current_num_threads(), 5);
        assert_eq!(rayon_core::broadcast(|thread| thread.num_threads()), [5; 5]);
        assert!(rayon_core::ThreadPoolBuilder::new().build_global().is_err());
        let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        assert_eq!(pool.install(rayon_core::current_num_threads), 2);
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    let status = child.env(CHILD, "1").env("RAYON_NUM_THREADS", "5").status();
    assert!(status.unwrap().success());
}
