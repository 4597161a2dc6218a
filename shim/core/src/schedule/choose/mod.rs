//! Which plan is used: what each strategy would take on the platform, the host's own among
//! them, and the quickest of all.
//!
//! ```text
//!   operation, bytes, root --> every strategy's time, with every size of messages
//!                              the host's own, by the algorithm it usually takes
//!                          --> the least: a strategy and a size, or the host
//! ```
//!
//! All ranks of a communicator come to the same choice when they have the same platform:
//! nothing else is looked at. Without a platform, rules take the place of times.

mod rules;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::estimate::{self, Costed, Scene, Size};
use super::generators::{Direction, costs};
use super::{Clusters, Network, Strategy};
use crate::affinity::collective::{Host, Operation};
use crate::platform::orders::Costs;

pub use rules::{between_clusters, segment};

/// Sizes of messages that are tried, below the whole one: those that go at once in every
/// MPI's usual settings.
const PIECES: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 48 << 10];

/// A plan must be this much quicker than the host's own collective to take its place:
/// the host's is known less well.
const WORTH: f64 = 0.97;

/// Of plans that differ by less, the first in the table, which is the simplest, is taken.
const ALIKE: f64 = 0.99;

/// At most this many choices are remembered; a program that changes its root all the time has more.
const MOST_CHOICES: usize = 1024;

/// What was chosen for a call.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The strategy; `None` for the host's own collective.
    pub strategy: Option<&'static Strategy>,
    /// The largest message that it sends, in bytes.
    pub segment: u64,
    /// What it was predicted to take, in seconds, where that was asked.
    pub seconds: Option<f64>,
    considered: Vec<Considered>,
    host: Option<f64>,
}

/// A strategy with its best size of messages.
#[derive(Debug, Clone, Copy)]
pub struct Considered {
    /// The strategy.
    pub strategy: &'static Strategy,
    /// The largest message, in bytes.
    pub segment: u64,
    /// Predicted seconds.
    pub seconds: f64,
}

impl Choice {
    /// What was considered, the quickest first.
    pub fn considered(&self) -> Vec<Considered> {
        let mut all = self.considered.clone();
        all.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
        all
    }

    /// What the host's own collective was predicted to take, in seconds.
    pub fn host_seconds(&self) -> Option<f64> {
        self.host
    }

    /// Why it was chosen, in one line.
    pub fn reason(&self) -> String {
        let Some(seconds) = self.seconds else {
            return "no platform is known: by rule".to_owned();
        };
        let milliseconds = |seconds: f64| format!("{:.3} ms", 1e3 * seconds);
        let mut text = format!("predicted {}", milliseconds(seconds));
        if let Some(host) = self.host {
            let _ = write!(text, "; the host's own {}", milliseconds(host));
        }
        let chosen = self.strategy.map(|strategy| strategy.name);
        let next = self.considered().into_iter();
        let next = next.filter(|other| Some(other.strategy.name) != chosen);
        for other in next.take(2) {
            let _ = write!(
                text,
                "; {} {}",
                other.strategy.name,
                milliseconds(other.seconds)
            );
        }
        text
    }
}

/// What calls are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Class {
    operation: Operation,
    /// What is chosen for is the size of the class.
    bytes: u64,
    root: usize,
    ordered: bool,
}

/// Bytes as the sizes of calls that are chosen for alike: four to a power of two.
fn size_class(bytes: u64) -> u64 {
    match bytes {
        0..=8 => bytes,
        _ => {
            let step = 1u64 << (bytes.ilog2() - 2);
            bytes.div_ceil(step).saturating_mul(step)
        }
    }
}

/// Chooses for the collectives of one communicator, and remembers what it chose.
#[derive(Debug, Clone)]
pub struct Chooser {
    known: Option<Known>,
    host: Option<Host>,
    chosen: HashMap<Class, Arc<Choice>>,
}

/// What is the same for all calls.
#[derive(Debug, Clone)]
struct Known {
    network: Arc<Network>,
    sizes: Vec<Size>,
    pieces: Vec<Costed>,
}

impl Chooser {
    /// Chooses on this network, by rules where there is none. `host` is whose collectives
    /// are to be beaten; `None` where they are out of the question.
    pub fn new(network: Option<Arc<Network>>, clusters: &Clusters, host: Option<Host>) -> Self {
        let known = network.map(|network| {
            let sizes = estimate::sizes(&network, clusters);
            Known {
                pieces: PIECES
                    .iter()
                    .map(|&bytes| Costed::new(&network, bytes).with_inside(&sizes))
                    .collect(),
                sizes,
                network,
            }
        });
        Chooser {
            known,
            host,
            chosen: HashMap::new(),
        }
    }

    /// What to do for `operation`. `bytes` are those of the message, or of one rank's
    /// block (the mean, where they differ and all ranks know it); `None` where not all
    /// ranks know. `ordered` says that operands must stay in the order of ranks.
    /// `clusters` are those that the chooser was made with.
    pub fn choose(
        &mut self,
        operation: Operation,
        bytes: Option<u64>,
        root: usize,
        ordered: bool,
        clusters: &Clusters,
    ) -> Arc<Choice> {
        let class = Class {
            operation,
            bytes: bytes.map_or(u64::MAX, size_class),
            root,
            ordered,
        };
        if let Some(choice) = self.chosen.get(&class) {
            return choice.clone();
        }
        let predicted = match (&self.known, bytes) {
            (Some(known), Some(_)) if clusters.count() > 1 => {
                known.predicted(class, clusters, self.host)
            }
            _ => None,
        };
        let choice = Arc::new(predicted.unwrap_or_else(|| by_rule(class, bytes)));
        if self.chosen.len() >= MOST_CHOICES {
            self.chosen.clear();
        }
        self.chosen.insert(class, choice.clone());
        choice
    }
}

fn by_rule(class: Class, bytes: Option<u64>) -> Choice {
    let chosen = rules::between_clusters(class.operation, bytes, class.ordered);
    Choice {
        strategy: chosen.and_then(|(name, _)| Strategy::find(class.operation, name)),
        segment: chosen.map_or(0, |(_, segment)| segment),
        seconds: None,
        considered: Vec::new(),
        host: None,
    }
}

impl Known {
    /// The quickest; `None` where no strategy's time is known.
    fn predicted(&self, class: Class, clusters: &Clusters, host: Option<Host>) -> Option<Choice> {
        let whole = Costed::new(&self.network, class.bytes).with_inside(&self.sizes);
        let scene = Scene {
            network: &self.network,
            clusters,
            sizes: &self.sizes,
            bytes: class.bytes,
            root: class.root,
            piece: &whole,
        };
        let orders = Orders::default();
        let mut considered: Vec<Considered> = Vec::with_capacity(16);
        // Trees that were looked at, each with its best size: schedulers often come to the same one.
        let mut trees: Vec<(Vec<(usize, usize)>, Considered)> = Vec::with_capacity(16);
        for strategy in Strategy::of(class.operation) {
            let serves = strategy.keeps_order || !class.ordered;
            if !serves || (strategy.only_ordered && !class.ordered) {
                continue;
            }
            let Some(estimate) = strategy.estimate else {
                continue;
            };
            let edges = match strategy.tree {
                Some((between, direction)) => {
                    let made = || orders.costs(&scene, direction);
                    between.edges(scene.count(), scene.home(), made)
                }
                None => Vec::new(),
            };
            let known = trees.iter().find(|(known, _)| *known == edges);
            let known = known.filter(|_| strategy.is_tree);
            let found = match known {
                Some(&(_, same)) => Considered { strategy, ..same },
                None => {
                    let best = |scene: &Scene| estimate(scene, class.operation, &edges);
                    let (segment, seconds) = self.best_size(&scene, best);
                    Considered {
                        strategy,
                        segment,
                        seconds,
                    }
                }
            };
            considered.push(found);
            if strategy.is_tree {
                trees.push((edges, found));
            }
        }
        let mut best = *considered.first()?;
        for other in &considered[1..] {
            if other.seconds < ALIKE * best.seconds {
                best = *other;
            }
        }
        let host = host.map(|host| estimate::host_seconds(&scene, host, class.operation));
        let beats = host.is_none_or(|host| best.seconds < WORTH * host);
        Some(Choice {
            strategy: beats.then_some(best.strategy),
            segment: best.segment,
            seconds: match beats {
                true => Some(best.seconds),
                false => host,
            },
            considered,
            host,
        })
    }

    /// The size of messages that suits a strategy best, and what it takes then; larger ones where
    /// there is next to nothing between them.
    fn best_size(&self, scene: &Scene, estimate: impl Fn(&Scene) -> f64) -> (u64, f64) {
        let mut best = (scene.piece.bytes.max(1), estimate(scene));
        let mut worse = 0;
        let smaller = self.pieces.iter().rev();
        for piece in smaller.filter(|piece| piece.bytes < scene.bytes) {
            let seconds = estimate(&Scene { piece, ..*scene });
            if seconds < ALIKE * best.1 {
                best = (piece.bytes, seconds);
                worse = 0;
            } else {
                // Times fall and rise again with the number of pieces.
                worse += 1;
                if worse == 2 {
                    break;
                }
            }
        }
        best
    }
}

/// Costs that orders between clusters look at, once for each direction.
#[derive(Default)]
struct Orders {
    down: std::cell::OnceCell<Costs>,
    up: std::cell::OnceCell<Costs>,
}

impl Orders {
    fn costs(&self, scene: &Scene, direction: Direction) -> &Costs {
        let cell = match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        };
        cell.get_or_init(|| costs(scene.piece, scene.clusters, direction))
    }
}
