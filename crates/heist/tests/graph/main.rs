//! Random graphs of everything that heist does, with results known in advance.
//!
//! A seed makes a plan (`plan`): one to three runtimes, and a tree of nodes. A node is a task, a
//! job, a blocking closure, a wait inside of a wait, a channel, a lock, a timer, an abort, a panic,
//! a drop. Its value depends on the values of its children. The plan is evaluated by plain
//! recursion and then run (`awaited`, `leaves`, `sync`):
//!
//! - The root has the value of the plan.
//! - In some graphs the runtimes end in the middle. The result may be lost then, but it is never
//!   wrong.
//! - Everything that tasks, jobs and closures own is dropped exactly once, at the latest when the
//!   runtimes have ended.
//! - Every graph ends. A thread watches (`watch`). If no node begins or ends for two minutes, it
//!   prints the graph with its open nodes and the state of all threads, and aborts.
//!
//! | variable | meaning |
//! |---|---|
//! | `HEIST_STRESS_SEED` | seed of the first graph; each graph has a seed of its own |
//! | `HEIST_STRESS_SCALE` | multiplies the number of graphs |
//! | `HEIST_GRAPH_ROUNDS` | the number of graphs; 1 replays the graph of the seed |
//! | `HEIST_GRAPH_REPEAT` | how often to run each graph |
//! | `HEIST_GRAPH_SECONDS` | run graphs for this long; the seed comes from the clock unless one is
//! given |
//! | `HEIST_GRAPH_NODES` | upper limit of the size of a graph |
//! | `HEIST_GRAPH_WITHOUT` | what to leave out, separated by commas |
//! | `HEIST_GRAPH_PATIENCE` | seconds without progress that count as a hang |
//!
//! `HEIST_GRAPH_WITHOUT` takes kinds of nodes (`plan::Kind`) and these:
//!
//! | name | what is left out |
//! |---|---|
//! | `Nested` | a worker that waits in place inside of a `block_on` of the same worker |
//! | `DropWaits` | drops that spawn a task and wait for it, while a runtime ends |
//! | `YieldLoops` | tasks that call `yield_now` until something has happened |
//!
//! A node waits for its children only, so a graph that hangs shows a fault of heist, as long as
//! `plan` keeps these rules. In a runtime where nobody replaces a blocked thread (without worker
//! threads, or `thread_per_core`), no task waits in place for another task. Nothing that a worker
//! waits for in place is pinned. Nothing that a worker waits for by means that heist does not see
//! (`ParkOn`) broadcasts.

mod awaited;
mod futures;
mod guard;
mod leaves;
mod plan;
mod settings;
mod sync;
mod watch;
mod world;

use futures::park_on;
use heist::runtime::{Handle, Runtime};
use heist::sync::oneshot;
use heist_testing::Rng;
use plan::{End, Entry, Flavor, Options, Plan};
use settings::Settings;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Once, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use world::{Expected, Gone, Out, World, is_shutdown};

#[test]
fn graphs_have_the_planned_value() {
    silence_expected_panics();
    let settings = Settings::read();
    let begun = Instant::now();
    let (mut seed, mut said) = (settings.seed, begun);
    for round in 0..settings.rounds {
        if settings.time.is_some_and(|time| begun.elapsed() >= time) {
            watch::say(&format!("graph: {round} graphs, from seed {} on", settings.seed));
            break;
        }
        if settings.time.is_some() && said.elapsed() > Duration::from_secs(60) {
            said = Instant::now();
            watch::say(&format!("graph: {round} graphs so far"));
        }
        for _ in 0..settings.repeat {
            play(Plan::new(seed, &settings.options));
        }
        seed = Rng::new(seed).next_u64();
    }
}

/// Runs a graph, ends its runtimes, and checks the result.
fn play(plan: Plan) {
    let runtimes: Vec<_> = plan.shapes.iter().map(Begun::new).collect();
    let handles = runtimes.iter().map(|runtime| runtime.handle().clone()).collect();
    let world = World::new(plan, handles);
    watch::begin(&world);
    let here = Arc::clone(&world);
    let root = thread::spawn(move || catch_unwind(AssertUnwindSafe(|| enter(&here))));
    match world.plan.cut {
        None => {
            while !root.is_finished() {
                thread::sleep(Duration::from_micros(50));
            }
        }
        Some(nodes) => {
            while world.begun() < nodes && !root.is_finished() {
                thread::yield_now();
            }
        }
    }
    let is_cut = !root.is_finished();
    world.begin_end();
    let ends = world.plan.ends.iter();
    thread::scope(|scope| {
        for (runtime, end) in runtimes.into_iter().zip(ends) {
            scope.spawn(|| runtime.end(*end));
        }
    });
    let outcome = root.join().unwrap_or_else(Err);
    judge(&world, outcome, is_cut);
    check_drops(&world);
    watch::end();
}

/// Runs the root, and waits for it.
fn enter(world: &Arc<World>) -> Out {
    let (handle, root) = (&world.handles[0], world.root());
    let waits = |at: &world::At| {
        let task = handle.spawn(awaited::run(at.clone()));
        let at = at.clone();
        async move { at.joined(task).await }
    };
    match world.plan.entry {
        Entry::Foreign => park_on(waits(&root)),
        Entry::BlockOnTask => handle.block_on(waits(&root)),
        Entry::BlockOnRoot => handle.block_on(awaited::run(root)),
    }
}

/// Checks that the result is right, or was lost because the runtimes have ended.
fn judge(world: &World, outcome: thread::Result<Out>, is_cut: bool) {
    let planned = world.plan.value(0);
    let what = match outcome {
        Ok(Ok(value)) if value == planned => return,
        Ok(Err(Gone)) if is_cut => return,
        Err(panic) if is_cut && is_shutdown(&*panic) => return,
        Ok(Ok(value)) => format!("came to {value:#x}, not {planned:#x}"),
        Ok(Err(Gone)) => "lost its result, and no runtime had ended".to_owned(),
        Err(panic) => match panic.downcast::<Expected>() {
            Ok(expected) => format!("was ended by the panic of node {}", expected.0),
            Err(panic) => fail(world, "panicked", Some(panic)),
        },
    };
    fail(world, &what, None)
}

/// Everything was dropped exactly once. Where a thread or the global runtime may still be at it,
/// this waits.
fn check_drops(world: &World) {
    let leaks = world.leaks();
    if leaks.iter().any(|(id, ..)| !world.plan.may_drop_late(*id)) {
        let what = "has not dropped everything exactly once";
        fail(world, &format!("{what}; (node, made, dropped): {leaks:?}"), None);
    }
    while !world.leaks().is_empty() {
        thread::sleep(Duration::from_micros(100));
    }
}

fn fail(world: &World, what: &str, panic: Option<Box<dyn Any + Send>>) -> ! {
    watch::say(&format!("\nFAILED: the graph {what}\n{}", world.about()));
    watch::end();
    match panic {
        Some(panic) => resume_unwind(panic),
        None => panic!("the graph {what}; {}", Settings::replay(world.plan.seed)),
    }
}

impl World {
    /// Everything that is known about a graph that has failed.
    fn about(&self) -> String {
        let plan = &self.plan;
        format!(
            "{}\n{:?}, entry {:?}, ends {:?}, ended after {:?} nodes; {} have begun\n{}",
            Settings::replay(plan.seed),
            plan.shapes,
            plan.entry,
            plan.ends,
            plan.cut,
            self.begun(),
            self.tree()
        )
    }
}

/// A running runtime.
enum Begun {
    Threads(Box<Runtime>),
    /// Without worker threads; the thread runs it.
    Alone {
        handle: Handle,
        end: oneshot::Sender<End>,
        thread: thread::JoinHandle<()>,
    },
}

impl Begun {
    fn new(shape: &plan::Shape) -> Begun {
        if shape.flavor != Flavor::Current {
            return Begun::Threads(Box::new(world::build(shape)));
        }
        let (give, given) = mpsc::channel();
        let (end, ends) = oneshot::channel();
        let shape = shape.clone();
        let thread = thread::spawn(move || {
            let runtime = world::build(&shape);
            give.send(runtime.handle().clone()).unwrap();
            let how = runtime.block_on(ends).unwrap();
            shut_down(runtime, how);
        });
        Begun::Alone { handle: given.recv().unwrap(), end, thread }
    }

    fn handle(&self) -> &Handle {
        match self {
            Begun::Threads(runtime) => runtime.handle(),
            Begun::Alone { handle, .. } => handle,
        }
    }

    fn end(self, how: End) {
        match self {
            Begun::Threads(runtime) => shut_down(*runtime, how),
            Begun::Alone { end, thread, .. } => {
                end.send(how).unwrap();
                thread.join().unwrap();
            }
        }
    }
}

fn shut_down(runtime: Runtime, how: End) {
    match how {
        End::Drop => drop(runtime),
        End::Timeout => runtime.shutdown_timeout(Duration::from_secs(24 * 3600)),
        End::Background => runtime.shutdown_background(),
    }
}

/// Keeps planned panics off the output.
fn silence_expected_panics() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let is_expected = payload.is::<Expected>() || is_shutdown(payload);
            if !is_expected {
                hook(info);
            }
        }));
    });
}

/// The same seed makes the same graph, and every kind is generated.
#[test]
fn plans_depend_on_the_seed_alone_and_have_all_kinds() {
    let options = Options { nodes: 100, without: Vec::new() };
    let mut trees = String::new();
    for seed in 0..300 {
        let plan = Plan::new(seed, &options);
        let again = Plan::new(seed, &options);
        assert_eq!((plan.tree(|_| ""), plan.value(0)), (again.tree(|_| ""), again.value(0)));
        trees += &plan.tree(|_| "");
    }
    for kind in plan::kinds() {
        assert!(trees.contains(&format!(": {kind:?} ")), "no graph has a node of kind {kind:?}");
    }
}
