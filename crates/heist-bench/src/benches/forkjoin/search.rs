//! A search through a tree that nobody knows before: most of its subtrees end soon, some are huge.
//! As in the benchmark UTS (Olivier and others, 2006), of the binomial kind, with another hash.

use std::sync::Arc;

use heist_testing::Rng;

use super::shared::Shared;
use super::{Pool, Work, expect};
use crate::bench::{Bench, Fault, Setup};
use crate::unit::Unit;

/// The number of children of the root. Each other node has [`CHILDREN`] or none.
const BRANCHES: u64 = 2000;
const CHILDREN: u64 = 8;

/// How many of a million nodes have children: with a little more than 125 000 the tree would have
/// no end.
const FERTILE: u64 = 124_875;

/// Deeper nodes have no children: the search is by recursion.
const DEPTH: u32 = 1000;

pub fn bench() -> Bench {
    let shared = Shared::new();
    super::bench(
        "tree_search",
        "how many nodes a very unbalanced tree has, joins for the children; per node",
        Unit::Ns,
        move |setup| Search::new(setup, &shared),
    )
}

struct Search {
    root: Node,
    nodes: Arc<u64>,
    found: u64,
}

impl Search {
    fn new(setup: &Setup, shared: &Shared<u64>) -> Self {
        let root = Node { depth: if setup.quick { DEPTH - 2 } else { 0 }, ..ROOT };
        Search { root, nodes: shared.get(|| root.count_all()), found: 0 }
    }
}

impl Work for Search {
    fn operations(&self) -> u64 {
        *self.nodes
    }

    fn compute<P: Pool>(&mut self, context: &mut P::Context<'_>) {
        self.found = count::<P>(context, self.root);
    }

    fn check(&mut self) -> Result<(), Fault> {
        expect("nodes of the tree", *self.nodes, self.found)
    }
}

/// All there is below follows from its number.
#[derive(Clone, Copy)]
struct Node {
    number: u64,
    depth: u32,
}

const ROOT: Node = Node { number: 42, depth: 0 };

impl Node {
    fn children(self) -> u64 {
        if self.number == ROOT.number {
            BRANCHES
        } else if self.depth < DEPTH && Rng::new(!self.number).below(1_000_000) < FERTILE {
            CHILDREN
        } else {
            0
        }
    }

    fn child(self, index: u64) -> Node {
        let number = Rng::new(self.number ^ index.rotate_right(16)).next_u64();
        Node { number, depth: self.depth + 1 }
    }

    /// Counts all nodes without recursion, for the expected result.
    fn count_all(self) -> u64 {
        let mut found = 0;
        let mut waiting = vec![self];
        while let Some(node) = waiting.pop() {
            found += 1;
            waiting.extend((0..node.children()).map(|index| node.child(index)));
        }
        found
    }
}

/// The node and all below.
fn count<P: Pool>(context: &mut P::Context<'_>, node: Node) -> u64 {
    match node.children() {
        0 => 1,
        children => 1 + count_some::<P>(context, node, 0, children),
    }
}

/// Some of the node's children, from the `first` on, and all below.
fn count_some<P: Pool>(context: &mut P::Context<'_>, node: Node, first: u64, children: u64) -> u64 {
    if children == 1 {
        return count::<P>(context, node.child(first));
    }
    let half = children / 2;
    let (a, b) = P::join(
        context,
        |c| count_some::<P>(c, node, first, half),
        |c| count_some::<P>(c, node, first + half, children - half),
    );
    a + b
}

#[cfg(test)]
mod tests {
    use super::super::sides::Sequential;
    use super::*;

    /// It has to have an end, and to be worth a search.
    #[test]
    fn the_tree_is_as_large_as_it_is_meant_to_be() {
        let nodes = ROOT.count_all();
        assert!((100_000..4_000_000).contains(&nodes), "{nodes}");
    }

    #[test]
    fn both_ways_come_to_the_same() {
        let root = Node { depth: DEPTH - 3, ..ROOT };
        let nodes = root.count_all();
        assert!(nodes > 2000, "{nodes}");
        assert_eq!(count::<Sequential>(&mut (), root), nodes);
    }
}
