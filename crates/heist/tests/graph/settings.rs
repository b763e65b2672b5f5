//! Settings from the environment.

use crate::plan::{Options, is_kind};
use std::env::var;
use std::time::Duration;

/// A number from the environment, or `default`.
pub fn number(name: &str, default: u64) -> u64 {
    let parse = |text: String| {
        text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a whole number"))
    };
    var(name).map_or(default, parse)
}

pub struct Settings {
    pub seed: u64,
    /// The number of graphs, and how often to run each.
    pub rounds: u64,
    pub repeat: u64,
    /// How long to begin new graphs.
    pub time: Option<Duration>,
    pub options: Options,
}

impl Settings {
    pub fn read() -> Settings {
        let time = number("HEIST_GRAPH_SECONDS", 0);
        let has_seed = var("HEIST_STRESS_SEED").is_ok();
        let rounds = if time > 0 { u64::MAX } else { heist_testing::scaled(200) };
        let without: Vec<_> = var("HEIST_GRAPH_WITHOUT").map_or_else(
            |_| Vec::new(),
            |names| names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        );
        for name in &without {
            assert!(is_kind(name), "HEIST_GRAPH_WITHOUT: there is no kind {name}; see plan::Kind");
        }
        let nodes = number("HEIST_GRAPH_NODES", 100).max(1) as usize;
        Settings {
            // A run by time explores graphs that other runs have not seen.
            seed: if time > 0 && !has_seed { from_clock() } else { heist_testing::seed() },
            rounds: number("HEIST_GRAPH_ROUNDS", rounds),
            repeat: number("HEIST_GRAPH_REPEAT", 1),
            time: (time > 0).then(|| Duration::from_secs(time)),
            options: Options { nodes, without },
        }
    }

    /// The command line that replays a graph.
    pub fn replay(seed: u64) -> String {
        let mut text = format!("HEIST_STRESS_SEED={seed} HEIST_GRAPH_ROUNDS=1");
        for name in ["HEIST_GRAPH_WITHOUT", "HEIST_GRAPH_NODES"] {
            if let Ok(value) = var(name) {
                text += &format!(" {name}={value}");
            }
        }
        text + " cargo test -p heist --test graph"
    }
}

fn from_clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |now| now.as_nanos() as u64)
}
