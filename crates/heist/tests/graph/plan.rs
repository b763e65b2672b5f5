//! The description of a graph: generated from a seed, and evaluated without a runtime.

use heist_testing::Rng;
use std::fmt::Write;

pub type Id = usize;

/// What a node does. Sync kinds are called as functions; the others are awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    // Leaves.
    Yield,
    Sleep,
    Channel,
    Lock,
    Wakes,
    DropSpawns,
    Leftover,
    Detached,
    CallAll,
    // Awaited, with awaited children.
    Spawn,
    Report,
    Abort,
    JoinSet,
    Select,
    Timeout,
    Join,
    TaskLocal,
    Unconstrained,
    Panic,
    DropMid,
    Move,
    Elsewhere,
    Pinned,
    // Awaited, with sync children.
    Blocking,
    InPlace,
    Direct,
    Job,
    // Sync.
    Compute,
    Broadcast,
    BlockOn,
    LocalSet,
    ParkOn,
    NestedRuntime,
    SyncJoin,
    Scope,
    Jobs,
    SyncPanic,
}

use Kind::*;

const LEAVES: &[Kind] =
    &[Yield, Sleep, Channel, Lock, Wakes, DropSpawns, Leftover, Detached, CallAll];
const AWAITED: &[Kind] = &[
    Spawn,
    Spawn,
    Report,
    Report,
    Abort,
    JoinSet,
    JoinSet,
    Select,
    Timeout,
    Join,
    Join,
    TaskLocal,
    Unconstrained,
    Panic,
    DropMid,
    Move,
    Elsewhere,
    Pinned,
    Blocking,
    Blocking,
    InPlace,
    InPlace,
    Direct,
    Direct,
    Job,
    Job,
];
const SYNC_LEAVES: &[Kind] = &[Compute, Compute, Broadcast];
const SYNC: &[Kind] = &[
    BlockOn,
    BlockOn,
    BlockOn,
    LocalSet,
    ParkOn,
    NestedRuntime,
    SyncJoin,
    SyncJoin,
    Scope,
    Jobs,
    SyncPanic,
];

/// All kinds, some of them more than once.
pub fn kinds() -> impl Iterator<Item = Kind> {
    [LEAVES, AWAITED, SYNC_LEAVES, SYNC].into_iter().flatten().copied()
}

/// Whether `HEIST_GRAPH_WITHOUT` may contain this name.
pub fn is_kind(name: &str) -> bool {
    matches!(name, "Nested" | "DropWaits" | "YieldLoops")
        || kinds().any(|kind| format!("{kind:?}") == name)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavor {
    Multi,
    PerCore,
    Current,
}

/// How a runtime is built.
#[derive(Debug, Clone)]
pub struct Shape {
    pub flavor: Flavor,
    pub workers: usize,
    /// Random bits for the other settings.
    pub settings: u64,
}

/// How a runtime ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Drop,
    Timeout,
    Background,
}

/// The thread that waits for the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// The root is a task; an executor outside of heist waits for it.
    Foreign,
    /// The root is a task; `Handle::block_on` waits for it.
    BlockOnTask,
    /// `Handle::block_on` runs the root.
    BlockOnRoot,
}

#[derive(Debug)]
pub struct Node {
    pub kind: Kind,
    /// Random bits, which select the variant and the counts.
    pub n: u64,
    pub children: Vec<Id>,
    /// The runtime that it begins in, or a private one of a `NestedRuntime` node.
    pub runtime: usize,
    /// The `NestedRuntime` node whose runtime that is, if it is private.
    pub owner: Id,
    /// Whether guards may spawn and wait in their drop.
    pub drop_waits: bool,
    /// Whether tasks may yield in a loop until something has happened.
    pub yield_loops: bool,
}

/// A private runtime without worker threads.
pub const PRIVATE: usize = usize::MAX;
/// A private runtime with two worker threads.
pub const PRIVATE_MULTI: usize = usize::MAX - 1;

#[derive(Debug)]
pub struct Plan {
    pub seed: u64,
    pub shapes: Vec<Shape>,
    pub ends: Vec<End>,
    pub entry: Entry,
    /// End the runtimes when this many nodes have begun; `None`: after the root.
    pub cut: Option<usize>,
    pub nodes: Vec<Node>,
}

/// Limits of the generator.
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub nodes: usize,
    /// Names of kinds, or one of `Nested`, `DropWaits` and `YieldLoops`.
    pub without: Vec<String>,
}

impl Options {
    pub fn has(&self, name: &str) -> bool {
        !self.without.iter().any(|other| other == name)
    }
}

/// The surroundings of a node, which decide what is legal there.
#[derive(Debug, Clone, Copy)]
struct Place {
    runtime: usize,
    owner: Id,
    /// Whether no thread would replace this one, so that it may not wait in place for tasks.
    fixed: bool,
    /// Whether this is the thread of a worker, which may have stepped aside.
    worker: bool,
    /// Inside of a `block_on` on that thread.
    inner: bool,
    /// Whether no worker waits for this node in place, so that pinned tasks are legal.
    pinned: bool,
    /// Every worker that waits for this node takes part in broadcasts, so they are legal.
    broadcasts: bool,
    depth: u32,
}

impl Plan {
    pub fn new(seed: u64, options: &Options) -> Plan {
        let mut rng = Rng::new(seed);
        let shapes: Vec<_> = (0..1 + rng.below(3)).map(|_| shape(&mut rng)).collect();
        let ends = shapes.iter().map(|_| end(&mut rng)).collect();
        let entry = match rng.below(3) {
            0 => Entry::Foreign,
            1 => Entry::BlockOnTask,
            _ => Entry::BlockOnRoot,
        };
        let is_cut = rng.below(4) == 0;
        let limit = 2 + rng.below(options.nodes as u64) as usize;
        let flavor = shapes[0].flavor;
        let is_task = entry != Entry::BlockOnRoot;
        let place = Place {
            runtime: 0,
            owner: 0,
            fixed: is_task && flavor != Flavor::Multi,
            worker: is_task,
            inner: false,
            pinned: true,
            broadcasts: true,
            depth: 0,
        };
        let mut maker = Maker { rng, shapes, nodes: Vec::new(), limit, options };
        maker.awaited(place);
        let Maker { mut rng, shapes, nodes, .. } = maker;
        let cut = is_cut.then(|| rng.below(nodes.len() as u64 + 1) as usize);
        Plan { seed, shapes, ends, entry, cut, nodes }
    }

    /// The value of a node.
    pub fn value(&self, id: Id) -> u64 {
        let node = &self.nodes[id];
        let mut value = start(id, node.n).wrapping_add(self.measured(node));
        for (index, child) in node.children.iter().enumerate() {
            if node.counts(index) {
                value = value.wrapping_add(part(index, self.value(*child)));
            }
        }
        value
    }

    /// The part of the value that a leaf counts when it runs.
    fn measured(&self, node: &Node) -> u64 {
        match node.kind {
            Sleep => node.ticks(),
            Channel => (0..node.messages()).sum(),
            Lock => node.lockers() * 3,
            Wakes => node.wakes(),
            DropSpawns | Detached => 1,
            Broadcast | CallAll => self.workers(node.runtime) as u64,
            _ => 0,
        }
    }

    /// Whether something that the node owns may be dropped after the ends have returned: by threads
    /// that nobody has waited for, or by the global runtime, which runs detached jobs and calls.
    pub fn may_drop_late(&self, id: Id) -> bool {
        let leaves_threads = |node: &Node| node.kind == NestedRuntime && node.is_left();
        matches!(self.nodes[id].kind, Detached | CallAll)
            || self.ends.contains(&End::Background)
            || self.nodes.iter().any(leaves_threads)
    }

    pub fn workers(&self, runtime: usize) -> usize {
        if runtime == PRIVATE_MULTI {
            return 2;
        }
        match self.shapes.get(runtime) {
            Some(shape) if shape.flavor != Flavor::Current => shape.workers,
            _ => 1,
        }
    }

    /// One indented line for each node, after its `note`.
    pub fn tree(&self, note: impl Fn(Id) -> &'static str) -> String {
        let mut text = String::new();
        self.write(0, 0, &note, &mut text);
        text
    }

    fn write(&self, id: Id, depth: usize, note: &impl Fn(Id) -> &'static str, text: &mut String) {
        let node = &self.nodes[id];
        let indent = 2 * depth;
        let place = match node.runtime {
            PRIVATE => "a private runtime".to_owned(),
            PRIVATE_MULTI => "a private runtime with workers".to_owned(),
            runtime => format!("runtime {runtime}"),
        };
        let _ = writeln!(
            text,
            "{:7} {:indent$}{id}: {:?} variant {} on {place}",
            note(id),
            "",
            node.kind,
            node.n % 60
        );
        node.children.iter().for_each(|child| self.write(*child, depth + 1, note, text));
    }
}

impl Node {
    /// Whether this node's value contains that of a child. Some children may be dropped halfway.
    pub fn counts(&self, _child: usize) -> bool {
        match self.kind {
            Abort => self.n % 4 == 0,
            JoinSet => self.n % 6 < 2,
            Select => self.n % 4 != 2,
            Timeout => self.n % 3 != 1,
            Job => self.n % 4 != 3,
            DropMid => false,
            _ => true,
        }
    }

    /// Whether the runtime is one that a node builds and ends.
    pub fn is_private(&self) -> bool {
        is_private(self.runtime)
    }

    /// Whether a nested runtime ends in the background.
    pub fn is_left(&self) -> bool {
        self.n / 2 % 2 == 0
    }

    pub fn ticks(&self) -> u64 {
        1 + self.n / 7 % 3
    }

    pub fn messages(&self) -> u64 {
        1 + self.n / 11 % 40
    }

    pub fn lockers(&self) -> u64 {
        1 + self.n / 5 % 6
    }

    pub fn wakes(&self) -> u64 {
        1 + self.n / 13 % 5
    }
}

fn is_private(runtime: usize) -> bool {
    matches!(runtime, PRIVATE | PRIVATE_MULTI)
}

/// The value of a node without its children.
pub fn start(id: Id, n: u64) -> u64 {
    mix(id as u64 + 1, n)
}

/// What a child adds. The sum does not depend on the order in which children end, but on which
/// child has which value.
pub fn part(index: usize, value: u64) -> u64 {
    mix(value, index as u64 + 1)
}

fn mix(a: u64, b: u64) -> u64 {
    Rng::new(a ^ b.rotate_left(32).wrapping_mul(0x9E37_79B9_7F4A_7C15)).next_u64()
}

fn shape(rng: &mut Rng) -> Shape {
    let flavor = match rng.below(8) {
        0 => Flavor::PerCore,
        1 | 2 => Flavor::Current,
        _ => Flavor::Multi,
    };
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get() as u64);
    let most = match rng.below(16) {
        0 => 64,
        1 | 2 => 16,
        _ => 2 * cores,
    };
    Shape { flavor, workers: 1 + rng.below(most) as usize, settings: rng.next_u64() }
}

fn end(rng: &mut Rng) -> End {
    match rng.below(4) {
        0 => End::Timeout,
        1 => End::Background,
        _ => End::Drop,
    }
}

struct Maker<'a> {
    rng: Rng,
    shapes: Vec<Shape>,
    nodes: Vec<Node>,
    limit: usize,
    options: &'a Options,
}

const DEEPEST: u32 = 12;

impl Maker<'_> {
    fn awaited(&mut self, place: Place) -> Id {
        self.node(place, LEAVES, AWAITED)
    }

    fn sync(&mut self, place: Place) -> Id {
        self.node(place, SYNC_LEAVES, SYNC)
    }

    fn node(&mut self, place: Place, leaves: &[Kind], inner: &[Kind]) -> Id {
        let is_leaf = self.nodes.len() + 1 >= self.limit
            || place.depth >= DEEPEST
            || (place.depth > 1 && self.rng.below(5) == 0);
        let choice = if is_leaf { leaves } else { inner };
        let kind = loop {
            let kind = choice[self.rng.below(choice.len() as u64) as usize];
            if self.is_legal(kind, &place) {
                break kind;
            }
            // In some places nothing but leaves may be legal.
            if self.rng.below(50) == 0 {
                break leaves[0];
            }
        };
        let (id, n) = (self.nodes.len(), self.rng.next_u64() >> 8);
        let drop_waits =
            self.options.has("DropWaits") && self.flavor(place.runtime) == Flavor::Multi;
        let yield_loops = self.options.has("YieldLoops");
        let Place { runtime, owner, .. } = place;
        let children = Vec::new();
        self.nodes.push(Node { kind, n, children, runtime, owner, drop_waits, yield_loops });
        let count = self.arity(kind);
        // The target of `Elsewhere`.
        let other = self.rng.below(self.shapes.len() as u64) as usize;
        let owner = if kind == NestedRuntime { id } else { owner };
        let below = self.below(kind, n, other, Place { owner, depth: place.depth + 1, ..place });
        for _ in 0..count {
            let child = match kind {
                Blocking | InPlace | Direct | Job | SyncJoin | Scope | Jobs | SyncPanic => {
                    self.sync(below)
                }
                _ => self.awaited(below),
            };
            self.nodes[id].children.push(child);
        }
        id
    }

    fn flavor(&self, runtime: usize) -> Flavor {
        if runtime == PRIVATE_MULTI {
            return Flavor::Multi;
        }
        self.shapes.get(runtime).map_or(Flavor::Current, |shape| shape.flavor)
    }

    fn is_legal(&self, kind: Kind, place: &Place) -> bool {
        let may_nest = !(place.inner && place.worker) || self.options.has("Nested");
        self.options.has(&format!("{kind:?}"))
            && match kind {
                Pinned => place.pinned && !is_private(place.runtime),
                InPlace | ParkOn => !place.fixed,
                BlockOn | LocalSet => !place.fixed && may_nest,
                NestedRuntime => !place.fixed && !is_private(place.runtime) && may_nest,
                Broadcast => place.broadcasts && may_nest,
                CallAll => place.broadcasts,
                SyncJoin | Scope | Jobs | SyncPanic => may_nest,
                _ => true,
            }
    }

    fn arity(&mut self, kind: Kind) -> u64 {
        match kind {
            Spawn | Report | JoinSet | Join => 1 + self.rng.below(4),
            Scope | Jobs => 1 + self.rng.below(3),
            SyncJoin | SyncPanic => 2,
            _ if LEAVES.contains(&kind) || SYNC_LEAVES.contains(&kind) => 0,
            _ => 1,
        }
    }

    /// The surroundings of the children of such a node.
    fn below(&self, kind: Kind, n: u64, other: usize, place: Place) -> Place {
        let task_of = |runtime, place| Place {
            runtime,
            fixed: self.flavor(runtime) != Flavor::Multi,
            worker: true,
            inner: false,
            ..place
        };
        match kind {
            Spawn | Report | Abort | JoinSet | Panic | Pinned => task_of(place.runtime, place),
            Elsewhere => task_of(other, place),
            // Must be legal both here and in a task.
            Move => {
                let task = task_of(place.runtime, place);
                Place { fixed: place.fixed || task.fixed, inner: place.inner, ..task }
            }
            Blocking => Place { worker: false, fixed: false, inner: false, ..place },
            // This variant waits for a task.
            BlockOn if n % 4 == 1 => {
                Place { pinned: place.pinned && !place.worker, ..task_of(place.runtime, place) }
            }
            BlockOn | LocalSet => {
                Place { inner: place.worker, pinned: place.pinned && !place.worker, ..place }
            }
            ParkOn => Place {
                pinned: place.pinned && !place.worker,
                broadcasts: place.broadcasts && !place.worker,
                ..task_of(place.runtime, place)
            },
            NestedRuntime if n % 3 == 0 => {
                Place { runtime: PRIVATE_MULTI, inner: place.worker, pinned: false, ..place }
            }
            NestedRuntime => Place {
                runtime: PRIVATE,
                fixed: true,
                worker: true,
                inner: false,
                pinned: false,
                broadcasts: place.broadcasts && !place.worker,
                ..place
            },
            // Called here or by another worker.
            Job | SyncJoin | Scope | Jobs | SyncPanic => Place {
                fixed: place.fixed || self.flavor(place.runtime) != Flavor::Multi,
                worker: true,
                pinned: false,
                ..place
            },
            _ => place,
        }
    }
}
