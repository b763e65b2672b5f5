//! The sum of the values in a binary tree, with a join for each node that has two children.

use std::sync::Arc;

use heist_testing::Rng;

use super::abroad::{self, Abroad, Problem};
use super::shared::Shared;
use super::{Pool, Work, expect};
use crate::bench::{Bench, Fault};
use crate::unit::Unit;

/// How many nodes are visited in one go at least: a small tree is summed up again and again, so
/// that it matters little how the first worker gets to it.
const VISITS: u64 = 1_000_000;

pub fn benches() -> Vec<Bench> {
    use Shape::{Balanced, Skewed};
    vec![
        bench(
            "tree_sum_1k",
            "the sum of a balanced tree of 1000 nodes, a join each; per node",
            Balanced,
            1000,
        ),
        bench("tree_sum_1m", "as tree_sum_1k with 10^6 nodes", Balanced, 1_000_000),
        bench("tree_sum_10m", "as tree_sum_1k with 10^7 nodes", Balanced, 10_000_000),
        bench(
            "tree_skewed_1k",
            "the same of a tree with 15 of 16 nodes on one side of each; per node",
            Skewed,
            1000,
        ),
        bench("tree_skewed_1m", "as tree_skewed_1k with 10^6 nodes", Skewed, 1_000_000),
        bench("tree_skewed_10m", "as tree_skewed_1k with 10^7 nodes", Skewed, 10_000_000),
    ]
}

fn bench(name: &'static str, about: &'static str, shape: Shape, size: u64) -> Bench {
    let shared = Shared::new();
    abroad::bench(name, about, Unit::Ns, move |setup| {
        let size = setup.scaled(size);
        let tree = shared.get(|| Tree::new(shape, size as u32));
        let rounds = (setup.scaled(VISITS) / size).max(1);
        TreeSum { shape, tree, rounds, found: 0 }
    })
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    Balanced,
    /// Which side has more is a matter of chance, so that it does not help to begin with the first.
    Skewed,
}

/// A tree in one piece of memory, each node before its children.
struct Tree {
    nodes: Vec<Node>,
    sum: u64,
}

#[derive(Clone, Copy)]
struct Node {
    value: u32,
    /// The places of the children.
    left: u32,
    right: u32,
}

const NONE: u32 = u32::MAX;

impl Tree {
    fn new(shape: Shape, size: u32) -> Self {
        let mut tree = Tree { nodes: Vec::with_capacity(size as usize), sum: 0 };
        tree.grow(shape, size, &mut Rng::new(u64::from(size)));
        tree
    }

    /// Adds a subtree with `size` nodes, and returns its place.
    fn grow(&mut self, shape: Shape, size: u32, rng: &mut Rng) -> u32 {
        let Some(below) = size.checked_sub(1) else { return NONE };
        let value = rng.below(1000) as u32;
        self.sum += u64::from(value);
        let place = self.nodes.len();
        self.nodes.push(Node { value, left: NONE, right: NONE });
        let first = match shape {
            Shape::Balanced => below / 2,
            Shape::Skewed if rng.below(2) == 0 => below / 16,
            Shape::Skewed => below - below / 16,
        };
        self.nodes[place].left = self.grow(shape, first, rng);
        self.nodes[place].right = self.grow(shape, below - first, rng);
        place as u32
    }
}

fn sum<P: Pool>(context: &mut P::Context<'_>, nodes: &[Node], place: u32) -> u64 {
    let Node { value, left, right } = nodes[place as usize];
    let below = match (left, right) {
        (NONE, NONE) => 0,
        (NONE, only) | (only, NONE) => sum::<P>(context, nodes, only),
        _ => {
            let (left, right) =
                P::join(context, |c| sum::<P>(c, nodes, left), |c| sum::<P>(c, nodes, right));
            left + right
        }
    };
    u64::from(value) + below
}

struct TreeSum {
    shape: Shape,
    tree: Arc<Tree>,
    rounds: u64,
    found: u64,
}

impl Work for TreeSum {
    fn operations(&self) -> u64 {
        self.tree.nodes.len() as u64 * self.rounds
    }

    fn compute<P: Pool>(&mut self, context: &mut P::Context<'_>) {
        self.found = (0..self.rounds).map(|_| sum::<P>(context, &self.tree.nodes, 0)).sum();
    }

    fn check(&mut self) -> Result<(), Fault> {
        expect("sum of the tree", self.tree.sum * self.rounds, self.found)
    }
}

impl Abroad for TreeSum {
    fn problem(&self) -> Problem {
        let shape = match self.shape {
            Shape::Balanced => "balanced",
            Shape::Skewed => "skewed",
        };
        let TreeSum { tree, rounds, .. } = self;
        Problem {
            words: format!("tree {shape} {} {rounds}", tree.nodes.len()),
            digest: tree.sum * rounds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(tree: &Tree, place: u32) -> u32 {
        match place {
            NONE => 0,
            _ => {
                let Node { left, right, .. } = tree.nodes[place as usize];
                1 + depth(tree, left).max(depth(tree, right))
            }
        }
    }

    #[test]
    fn trees_have_the_size_and_the_shape_they_are_to_have() {
        for (shape, depths) in [(Shape::Balanced, 10..=10), (Shape::Skewed, 50..=200)] {
            let tree = Tree::new(shape, 1000);
            assert_eq!(tree.nodes.len(), 1000);
            let depth = depth(&tree, 0);
            assert!(depths.contains(&depth), "{shape:?}: {depth}");
        }
    }
}
