//! The watchdog: reports a graph that hangs.

use crate::settings::number;
use crate::world::World;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;
use std::{fs, io, process, thread};

static CURRENT: Mutex<Option<Arc<World>>> = Mutex::new(None);
static GRAPHS: AtomicU64 = AtomicU64::new(0);

/// Seconds without progress that count as a hang. No node takes nearly that long, even on a busy
/// machine.
const PATIENCE: u64 = 120;

/// Watches this graph from now on.
pub fn begin(world: &Arc<World>) {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| drop(thread::spawn(|| watch(number("HEIST_GRAPH_PATIENCE", PATIENCE)))));
    *current() = Some(Arc::clone(world));
    GRAPHS.fetch_add(1, Ordering::Relaxed);
}

/// The graph has ended.
pub fn end() {
    *current() = None;
    GRAPHS.fetch_add(1, Ordering::Relaxed);
}

fn current() -> std::sync::MutexGuard<'static, Option<Arc<World>>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch(patience: u64) {
    let mut last = (0, 0);
    let mut idle = 0;
    loop {
        // Counts its own ticks, so that a suspended machine does not look like a hang.
        thread::sleep(Duration::from_secs(1));
        let world = current().clone();
        let now = (GRAPHS.load(Ordering::Relaxed), world.as_ref().map_or(0, |w| w.steps()));
        idle = if now == last { idle + 1 } else { 0 };
        last = now;
        let Some(world) = world.filter(|_| idle >= patience) else { continue };
        say(&report(&world, idle));
        process::abort();
    }
}

/// Prints to stderr, past the capture of the test harness.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

fn report(world: &World, idle: u64) -> String {
    let mut text = format!("\nHANG: nothing has gone on for {idle} s in this graph\n");
    let _ = writeln!(text, "{}", world.about());
    let leaks = world.leaks();
    let _ = writeln!(text, "tokens that are left, as (node, made, dropped): {leaks:?}");
    for handle in &world.handles {
        let _ = writeln!(text, "{handle:?}");
    }
    threads(&mut text);
    text
}

/// What the kernel knows about the threads of this process.
fn threads(text: &mut String) {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return };
    for task in tasks.flatten() {
        let of = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let (name, wchan, call) = (of("comm"), of("wchan"), of("syscall"));
        let (id, wchan) = (task.file_name(), wchan.trim());
        let _ = writeln!(text, "{id:?} {}: in {wchan}, syscall {}", name.trim(), call.trim());
        for line in of("stack").lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
}
