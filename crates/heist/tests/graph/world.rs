//! State that the nodes of a running graph share: runtimes, the table of open nodes, and the counts
//! of tokens.

use crate::plan::{Flavor, Id, Node, Plan, Shape, part, start};
use heist::runtime::{Builder, Handle, Runtime};
use heist::task::{JoinError, JoinHandle};
use std::any::Any;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The result is lost because a runtime has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;

/// The result of a node.
pub type Out = Result<u64, Gone>;

/// The payload of a panic that belongs to the graph.
pub struct Expected(pub Id, pub Out);

const UNTOUCHED: u8 = 0;
const OPEN: u8 = 1;
const ENDED: u8 = 2;
const DROPPED: u8 = 3;

pub struct World {
    pub plan: Plan,
    pub handles: Vec<Handle>,
    /// Those of private runtimes, by the node that owns them.
    pub private: Vec<OnceLock<Handle>>,
    states: Vec<AtomicU8>,
    /// For each node, how many tokens it has made and how many of them were dropped.
    made: Vec<AtomicU32>,
    dropped: Vec<AtomicU32>,
    /// How many nodes have begun or ended.
    steps: AtomicUsize,
    begun: AtomicUsize,
    /// A runtime may have ended, so results may be lost.
    is_ending: AtomicBool,
}

impl World {
    pub fn new(plan: Plan, handles: Vec<Handle>) -> Arc<World> {
        let nodes = plan.nodes.len();
        let zeros = || (0..nodes).map(|_| AtomicU32::new(0)).collect();
        Arc::new(World {
            handles,
            private: (0..nodes).map(|_| OnceLock::new()).collect(),
            states: (0..nodes).map(|_| AtomicU8::new(UNTOUCHED)).collect(),
            made: zeros(),
            dropped: zeros(),
            steps: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            is_ending: AtomicBool::new(false),
            plan,
        })
    }

    pub fn root(self: &Arc<Self>) -> At {
        At { world: Arc::clone(self), id: 0 }
    }

    pub fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }

    pub fn steps(&self) -> usize {
        self.steps.load(Ordering::Relaxed)
    }

    /// Notes that results may be lost from now on.
    pub fn begin_end(&self) {
        self.is_ending.store(true, Ordering::SeqCst);
    }

    pub fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::SeqCst)
    }

    /// Nodes whose tokens were not all dropped exactly once: id, made, dropped.
    pub fn leaks(&self) -> Vec<(Id, u32, u32)> {
        let count = |counts: &[AtomicU32], id: Id| counts[id].load(Ordering::SeqCst);
        let dropped: Vec<_> = (0..self.dropped.len()).map(|id| count(&self.dropped, id)).collect();
        let tokens = dropped.into_iter().enumerate();
        tokens
            .map(|(id, dropped)| (id, count(&self.made, id), dropped))
            .filter(|(_, made, dropped)| made != dropped)
            .collect()
    }

    /// The tree of nodes, with the state of each.
    pub fn tree(&self) -> String {
        self.plan.tree(|id| match self.states[id].load(Ordering::Relaxed) {
            UNTOUCHED => "",
            OPEN => "OPEN",
            ENDED => "ended",
            _ => "dropped",
        })
    }
}

/// Whether a panic says that a runtime was shut down.
pub fn is_shutdown(payload: &(dyn Any + Send)) -> bool {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&'static str>().copied());
    text.is_some_and(|text| text.contains("has been shut down"))
}

/// A node of a running graph.
#[derive(Clone)]
pub struct At {
    pub world: Arc<World>,
    pub id: Id,
}

impl At {
    pub fn node(&self) -> &Node {
        &self.world.plan.nodes[self.id]
    }

    pub fn n(&self) -> u64 {
        self.node().n
    }

    pub fn child(&self, index: usize) -> At {
        At { world: Arc::clone(&self.world), id: self.node().children[index] }
    }

    pub fn children(&self) -> impl Iterator<Item = At> + '_ {
        (0..self.node().children.len()).map(|index| self.child(index))
    }

    /// The runtime of the node. The current one may be the global runtime, which runs jobs of
    /// runtimes that are ending, and never ends itself.
    pub fn handle(&self) -> Handle {
        let (world, node) = (&self.world, self.node());
        match world.private[node.owner].get().filter(|_| node.is_private()) {
            Some(private) => private.clone(),
            None => world.handles[node.runtime].clone(),
        }
    }

    /// By the free function where that means the runtime of the node.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match self.may_be_lost() {
            true => self.handle().spawn(future),
            false => heist::spawn(future),
        }
    }

    /// The value of the node according to the plan.
    pub fn planned(&self) -> u64 {
        self.world.plan.value(self.id)
    }

    /// The value of the node without its children.
    pub fn sum(&self) -> Sum {
        Sum(start(self.id, self.n()))
    }

    /// A value whose drop is counted.
    pub fn token(&self) -> Token {
        self.world.made[self.id].fetch_add(1, Ordering::SeqCst);
        Token { at: self.clone() }
    }

    /// Marks the node as open until the return value is dropped.
    pub fn open(&self) -> Open {
        self.world.states[self.id].store(OPEN, Ordering::Relaxed);
        self.world.begun.fetch_add(1, Ordering::Relaxed);
        self.world.steps.fetch_add(1, Ordering::Relaxed);
        Open { token: self.token(), state: DROPPED }
    }

    /// Checks the result of a node whose value the plan does not count.
    #[track_caller]
    pub fn check(&self, out: Out) {
        match out {
            Ok(value) => assert_eq!(value, self.planned(), "node {}: a wrong result", self.id),
            Err(Gone) => self.lost(),
        }
    }

    /// Sorts a panic: one that the graph has planned, a result that was lost with its runtime, or a
    /// failure, which is resumed.
    pub fn sort_panic(&self, payload: Box<dyn Any + Send>) -> Result<Expected, Gone> {
        match payload.downcast::<Expected>() {
            Ok(expected) => Ok(*expected),
            Err(payload) if self.may_be_lost() && is_shutdown(&*payload) => Err(Gone),
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Whether its runtime may have ended, and results with it.
    pub fn may_be_lost(&self) -> bool {
        self.node().is_private() || self.world.is_ending()
    }

    /// A result is lost. This is a failure unless a runtime has ended.
    #[track_caller]
    pub fn lost(&self) {
        if !self.may_be_lost() {
            panic!("node {}: a result was lost, and no runtime has ended", self.id);
        }
    }

    /// Like [`lost`](Self::lost), and passes it on.
    #[track_caller]
    pub fn gone<T>(&self) -> Result<T, Gone> {
        self.lost();
        Err(Gone)
    }

    /// The value of a node whose closure was called `calls` times by a broadcast. While the runtime
    /// ends, these may be the workers of the global one.
    pub fn called(&self, calls: u64) -> Out {
        if calls != self.world.plan.workers(self.node().runtime) as u64 {
            return self.gone();
        }
        let mut sum = self.sum();
        sum.count(calls);
        sum.get()
    }

    /// The result of a task that nobody has aborted.
    pub async fn joined(&self, handle: JoinHandle<Out>) -> Out {
        self.output(handle.await)
    }

    pub fn output<T>(&self, joined: Result<Result<T, Gone>, JoinError>) -> Result<T, Gone> {
        match joined {
            Ok(out) => out,
            Err(error) => match error.try_into_panic() {
                Ok(payload) => match self.sort_panic(payload) {
                    Ok(expected) => resume_unwind(Box::new(expected)),
                    Err(gone) => Err(gone),
                },
                Err(_cancelled) => self.gone(),
            },
        }
    }

    /// The result of a task that may have been aborted; `None` if it was.
    pub fn aborted(&self, joined: Result<Out, JoinError>) -> Option<Out> {
        match joined {
            Err(error) if error.is_cancelled() => None,
            joined => Some(self.output(joined)),
        }
    }
}

/// The value of a node, as far as it is known.
pub struct Sum(u64);

impl Sum {
    /// Adds the value of a child.
    pub fn add(&mut self, index: usize, value: u64) {
        self.0 = self.0.wrapping_add(part(index, value));
    }

    /// Adds what a leaf has counted.
    pub fn count(&mut self, count: u64) {
        self.0 = self.0.wrapping_add(count);
    }

    pub fn get(self) -> Out {
        Ok(self.0)
    }
}

/// Counts its drop.
pub struct Token {
    at: At,
}

impl Drop for Token {
    fn drop(&mut self) {
        self.at.world.dropped[self.at.id].fetch_add(1, Ordering::SeqCst);
    }
}

/// A node that has begun.
pub struct Open {
    token: Token,
    state: u8,
}

impl Open {
    pub fn ended(mut self) {
        self.state = ENDED;
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let At { world, id } = &self.token.at;
        world.states[*id].store(self.state, Ordering::Relaxed);
        world.steps.fetch_add(1, Ordering::Relaxed);
    }
}

/// Builds a runtime of that shape.
pub fn build(shape: &Shape) -> Runtime {
    let mut builder = match shape.flavor {
        Flavor::Current => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    if shape.flavor != Flavor::Current {
        builder.worker_threads(shape.workers).thread_per_core(shape.flavor == Flavor::PerCore);
    }
    let bits = shape.settings;
    if bits & 1 == 0 {
        builder.event_interval(1 + (bits >> 8) as u32 % 40);
    }
    if bits & 2 == 0 {
        builder.global_queue_interval(2 + (bits >> 16) as u32 % 60);
    }
    if bits & 4 == 0 {
        builder.thread_keep_alive(Duration::from_micros((bits >> 24) % 2000));
    }
    if bits & 24 == 0 {
        builder.stall_threshold(Duration::from_millis(1));
    }
    if bits & 224 == 0 {
        builder.pin_workers(true);
    }
    builder.enable_all().build().expect("a runtime can be built")
}
