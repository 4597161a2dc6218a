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

mod candidates;
mod rules;
mod sizes;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::collective::algorithms::Estimate;
use crate::collective::algorithms::{Direction, costs};
use crate::collective::read::estimate::{self, Costed, Leaders, Scene, Size};
use crate::collective::{Clusters, Network, Strategy, Uniform};
use crate::collective::{Host, Operation};
use crate::platform::orders::Costs;

pub use rules::{between_clusters, segment};
use sizes::{USUAL_EAGER_LIMIT, pieces};

/// Blocks that come to no more bytes are collected into one message.
const MOST_TOGETHER: u64 = 4 << 10;

/// A plan must be this much quicker than the host's own collective to take its place:
/// the host's is known less well.
const WORTH: f64 = 0.97;

/// Of plans that differ by less, the first in the table, which is the simplest, is taken.
const ALIKE: f64 = 0.995;

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
    /// Messages of up to so many bytes go at once.
    eager: u64,
    chosen: HashMap<Class, Arc<Choice>>,
}

/// What is the same for all calls.
#[derive(Debug, Clone)]
struct Known {
    network: Arc<Network>,
    sizes: Vec<Size>,
    pieces: Vec<Costed>,
    /// Between hosts, where the host's own collectives are those of HAN.
    han: Option<Leaders>,
}

impl Chooser {
    /// Chooses on this network, by rules where there is none. `host` is whose collectives
    /// are to be beaten; `None` where they are out of the question.
    pub fn new(network: Option<Arc<Network>>, clusters: &Clusters, host: Option<Host>) -> Self {
        let usual = host.map_or(USUAL_EAGER_LIMIT, Host::usual_eager_limit);
        let seen = network.as_ref().map(|network| network.eager_limit());
        // A network that shows no limit was measured to have none among its sizes.
        let eager = seen.map_or(usual, |seen| seen.unwrap_or(USUAL_EAGER_LIMIT));
        let known = network.map(|network| {
            let sizes = estimate::sizes(&network, clusters);
            Known {
                pieces: pieces(eager)
                    .into_iter()
                    .map(|bytes| Costed::new(&network, bytes).with_inside(&sizes))
                    .collect(),
                sizes,
                network,
                han: None,
            }
        });
        Chooser {
            known,
            host,
            eager,
            chosen: HashMap::new(),
        }
    }

    /// The same where messages of up to `limit` bytes are known to go at once, and no network
    /// says it better.
    pub fn with_eager_limit(mut self, limit: u64) -> Self {
        if self.known.is_none() {
            self.eager = limit;
        }
        self
    }

    /// The same where Open MPI's HAN does the host's own collectives, as it does by default in
    /// Open MPI 5.
    pub fn with_han(mut self) -> Self {
        if let Some(known) = &mut self.known {
            known.han = Leaders::new(&known.network);
        }
        self
    }

    /// The largest message that plans send here at once, in bytes.
    pub fn eager_limit(&self) -> u64 {
        self.eager
    }

    /// The largest message, in bytes, that `strategy` should send for a call: what the network
    /// says is best, or else the rule.
    pub fn segment(&self, strategy: &'static Strategy, call: &Uniform, clusters: &Clusters) -> u64 {
        let estimated = self.known.as_ref().zip(strategy.estimate);
        match estimated.filter(|_| clusters.count() > 1) {
            None => rules::segment(call.operation, call.bytes, self.eager),
            Some((known, estimate)) => known.segment(strategy, estimate, call, clusters),
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
        let choice = Arc::new(predicted.unwrap_or_else(|| by_rule(class, bytes, self.eager)));
        if self.chosen.len() >= MOST_CHOICES {
            self.chosen.clear();
        }
        self.chosen.insert(class, choice.clone());
        choice
    }
}

fn by_rule(class: Class, bytes: Option<u64>, eager: u64) -> Choice {
    let chosen = rules::between_clusters(class.operation, bytes, class.ordered, eager);
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
        let whole = self.whole(class.operation, class.bytes, clusters);
        let root = self.root(class.operation, class.root, clusters);
        let scene = self.scene(root, clusters, class.bytes, &whole);
        let considered = candidates::considered(self, &scene, class.operation, class.ordered);
        let mut best = *considered.first()?;
        for other in &considered[1..] {
            if other.seconds < ALIKE * best.seconds {
                best = *other;
            }
        }
        let host = host.map(|host| self.host_seconds(&scene, host, class));
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

    /// What the host's own collective takes. HAN does no reductions that keep an order.
    fn host_seconds(&self, scene: &Scene, host: Host, class: Class) -> f64 {
        let han = self.han.as_ref().filter(|_| !class.ordered);
        let by_han = han.and_then(|leaders| leaders.seconds(scene, class.operation));
        by_han.unwrap_or_else(|| estimate::host_seconds(scene, host, class.operation))
    }

    /// The rank from which a collective starts.
    fn root(&self, operation: Operation, root: usize, clusters: &Clusters) -> usize {
        match operation.has_root() {
            true => root,
            false => clusters.leader(self.network.centre()),
        }
    }

    /// What a message meets that is not cut. Small blocks of a cluster that are collected for all,
    /// or for another cluster, go on together, as one message.
    fn whole(&self, operation: Operation, bytes: u64, clusters: &Clusters) -> Costed {
        let members = (0..clusters.count()).map(|c| clusters.members(c).len() as u64);
        let members = members.max().unwrap_or(1);
        let together = match operation {
            Operation::Allgather | Operation::Allgatherv => bytes.saturating_mul(members),
            // A block from each to each of another cluster.
            Operation::Alltoall => bytes.saturating_mul(members * members),
            _ => bytes,
        };
        let size = match together <= MOST_TOGETHER {
            true => together,
            false => bytes,
        };
        Costed::new(&self.network, size).with_inside(&self.sizes)
    }

    /// A call with `bytes` that goes in one piece, which `whole` was looked up for.
    fn scene<'a>(
        &'a self,
        root: usize,
        clusters: &'a Clusters,
        bytes: u64,
        whole: &'a Costed,
    ) -> Scene<'a> {
        Scene {
            network: &self.network,
            clusters,
            sizes: &self.sizes,
            bytes,
            root,
            piece: whole,
        }
    }

    /// The size of messages that suits a strategy best.
    fn segment(
        &self,
        strategy: &Strategy,
        estimate: Estimate,
        call: &Uniform,
        clusters: &Clusters,
    ) -> u64 {
        let whole = self.whole(call.operation, call.bytes, clusters);
        let root = self.root(call.operation, call.root, clusters);
        let scene = self.scene(root, clusters, call.bytes, &whole);
        let edges = Orders::default().edges(&scene, strategy);
        let best = |scene: &Scene| estimate(scene, call.operation, &edges);
        self.best_size(&scene, call.operation, best).0
    }
}

/// Costs that orders between clusters look at, once for each direction.
#[derive(Default)]
struct Orders {
    down: std::cell::OnceCell<Costs>,
    up: std::cell::OnceCell<Costs>,
}

impl Orders {
    /// The tree between clusters; none for a strategy that has none.
    fn edges(&self, scene: &Scene, strategy: &Strategy) -> Vec<(usize, usize)> {
        strategy.tree.map_or(Vec::new(), |(between, direction)| {
            let costs = || self.costs(scene, direction);
            between.edges(scene.count(), scene.home(), costs)
        })
    }

    fn costs(&self, scene: &Scene, direction: Direction) -> &Costs {
        let cell = match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        };
        cell.get_or_init(|| costs(scene.piece, scene.clusters, direction))
    }
}
