//! Verdict on the benefit of a placement in one line.

use std::fmt;

use serde::Serialize;
use treepie_base::{Leaf, Rank, Slice};
use treepie_placement::worth::{NOTHING, Worth, saved};
use treepie_profile::Profile;
use treepie_topology::Topology;
use treepie_traffic::{Layer, Matrix};

use super::levels::Crossing;
use super::units;
use crate::change::Change;
use crate::gain::machine_depth;

/// Levels of one machine, by the names of hwloc and of shapes of trees.
const PARTS_OF_A_MACHINE: [&str; 8] = ["socket", "numa", "group", "die", "l3", "l2", "core", "pu"];

/// The verdict and its reason; it begins with `gain`, `little` or `none`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Verdict(String);

/// Evidence for a verdict.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// Objective, in words.
    pub what: &'a str,
    /// The objective before and after.
    pub change: Change,
    /// Lower bound of the objective for any placement, if known.
    pub bound: Option<f64>,
    /// Traffic across each level, from the root.
    pub crossings: &'a [Crossing],
    /// On a network that is not a tree: the change of its most loaded link.
    pub network: Option<String>,
    /// Traffic at cores next to a network interface, if requested.
    pub near: Option<String>,
    /// True if the ranks are on several machines.
    pub several_nodes: bool,
    /// True if every rank sends the same amount to every other.
    pub all_alike: bool,
    /// Share of the time in MPI, if measured.
    pub time_in_mpi: Option<f64>,
    /// Traffic of the whole run, if counted: weighed if no time was measured.
    pub sent: Option<Sent>,
}

/// Traffic of a whole run.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    bytes: u64,
    messages: u64,
    ranks: usize,
}

/// Seconds of a message, and of a byte, on a slow network of hosts: 0.1 ms and 100 Mbit/s.
const SLOW: (f64, f64) = (1e-4, 8e-8);

/// Seconds that a placement saves a rank in a whole run, and that are too few to be worth it.
const FEW_SECONDS: f64 = 0.002;

impl Sent {
    /// Traffic of a profile.
    pub fn of(profile: &Profile) -> Sent {
        let total = profile.traffic(Layer::ALL).total();
        Sent {
            bytes: total.bytes,
            messages: total.messages,
            ranks: profile.ranks,
        }
    }

    /// Seconds that the messages of a rank take at most, on average.
    fn seconds(&self) -> f64 {
        let (message, byte) = SLOW;
        let all = message * self.messages as f64 + byte * self.bytes as f64;
        all / self.ranks.max(1) as f64
    }
}

impl Evidence<'_> {
    /// Share of the cost that the placement saves.
    fn saved(&self) -> f64 {
        saved(self.change.identity, self.change.placement)
    }

    /// Upper limit of the share of the cost that any placement saves.
    fn possible(&self) -> Option<f64> {
        self.bound.map(|bound| saved(self.change.identity, bound))
    }

    /// Derives the verdict.
    pub fn verdict(&self) -> Verdict {
        let saved = self.saved();
        let few = self
            .sent
            .filter(|sent| self.time_in_mpi.is_none() && saved * sent.seconds() < FEW_SECONDS);
        let worth = match Worth::of(saved, self.time_in_mpi, self.several_nodes) {
            Worth::Gain if few.is_some() => Worth::Little,
            worth => worth,
        };
        let nothing = worth == Worth::None;
        let mut reasons = vec![if nothing {
            self.why_nothing()
        } else {
            self.why_something()
        }];
        reasons.extend(self.furthest(nothing));
        reasons.extend(self.network.clone().filter(|_| !nothing));
        reasons.extend(self.near.clone());
        if let Some(few) = few.filter(|_| !nothing) {
            reasons.push(format!(
                "the whole run sends {} in {} messages, which take a rank {} at most on a slow \
                 network",
                units::bytes(few.bytes as f64),
                few.messages,
                units::seconds(few.seconds()),
            ));
        }
        if !nothing && !self.several_nodes {
            reasons.push("all ranks are on one node, where ways are short".to_owned());
        }
        reasons.extend(self.time_in_mpi.map(|part| {
            let most = self.possible().unwrap_or(saved).max(saved);
            let at_best = units::share(part * most, 1.0);
            if nothing {
                format!("{} of the time is in MPI", units::share(part, 1.0))
            } else {
                format!(
                    "{} of the time is in MPI: {at_best} of all time at best",
                    units::share(part, 1.0)
                )
            }
        }));
        Verdict(format!("{worth}: {}", reasons.join("; ")))
    }

    fn why_nothing(&self) -> String {
        let best = self.possible().is_some_and(|part| part < NOTHING);
        match self.possible() {
            _ if self.change.identity == 0.0 => "nothing is sent from core to core".to_owned(),
            _ if best && self.all_alike => {
                "every rank sends the same to every other, so that all placements cost the same"
                    .to_owned()
            }
            _ if best => "the ranks are placed best already".to_owned(),
            Some(part) => format!(
                "no better placement was found, and none saves more than {} of {}",
                units::share(part, 1.0),
                self.what
            ),
            None => "no better placement was found".to_owned(),
        }
    }

    fn why_something(&self) -> String {
        let saved = units::share(self.saved(), 1.0);
        let possible = self.possible();
        let all = possible.is_some_and(|part| part - self.saved() < 1e-4);
        match possible {
            Some(_) if all => format!("saves {saved} of {}, as much as any placement", self.what),
            Some(part) => format!(
                "saves {saved} of {}, of at most {}",
                self.what,
                units::share(part, 1.0)
            ),
            None => format!("saves {saved} of {}", self.what),
        }
    }

    /// Traffic over the longest distance, before, and after if that differs.
    fn furthest(&self, is_same: bool) -> Option<String> {
        let sum = |of: fn(&Crossing) -> f64| self.crossings.iter().map(of).sum::<f64>();
        let (before, after) = (sum(|c| c.bytes_before), sum(|c| c.bytes_after));
        let used = |c: &&Crossing| c.bytes_before > 0.0 || c.bytes_after > 0.0;
        let furthest = self.crossings.iter().find(used)?;
        let place = furthest.between.split(" (").next()?;
        let share = units::share(furthest.bytes_before, before);
        Some(if is_same {
            format!("{share} of the bytes go {place}")
        } else {
            format!(
                "{share} of the bytes went {place}, {} do with it",
                units::share(furthest.bytes_after, after)
            )
        })
    }
}

/// True if the ranks are on several machines; if no level has such a name, the highest one
/// determines whether the tree is that of one.
pub fn on_several_nodes(topology: &Topology, leaf_of_rank: &Slice<Rank, Leaf>) -> bool {
    let Some(depth) = machine_depth(topology) else {
        let first = topology.levels().first();
        return first.is_some_and(|level| !PARTS_OF_A_MACHINE.contains(&&*level.name));
    };
    let mut nodes = leaf_of_rank
        .iter()
        .map(|&leaf| topology.ancestor(leaf, depth));
    let first = nodes.next();
    nodes.any(|node| Some(node) != first)
}

/// True if every rank sends about the same amount to every other.
pub fn all_alike(bytes: &Matrix) -> bool {
    let ranks = bytes.order();
    let others = bytes.entries().filter(|(from, to, _)| from != to);
    let (mut pairs, mut least, mut most) = (0, f64::INFINITY, 0.0_f64);
    for (_, _, value) in others {
        (pairs, least, most) = (pairs + 1, least.min(value), most.max(value));
    }
    pairs == ranks * ranks.saturating_sub(1) && most <= 1.05 * least
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(change: (f64, f64)) -> Evidence<'static> {
        Evidence {
            what: "DistComm",
            change: Change {
                identity: change.0,
                placement: change.1,
            },
            bound: None,
            crossings: &[],
            network: None,
            near: None,
            several_nodes: true,
            all_alike: false,
            time_in_mpi: None,
            sent: None,
        }
    }

    #[test]
    fn some_kilobytes_in_a_whole_run_are_no_gain() {
        let of = |bytes, time_in_mpi| {
            let evidence = Evidence {
                time_in_mpi,
                sent: Some(Sent {
                    bytes,
                    messages: 300,
                    ranks: 16,
                }),
                ..evidence((100.0, 50.0))
            };
            evidence.verdict().to_string()
        };
        let little = of(18 << 10, None);
        assert!(little.starts_with("little: saves 50.0 %"), "{little}");
        assert!(little.contains("18 KiB in 300 messages"), "{little}");
        assert!(of(18 << 20, None).starts_with("gain: "));
        assert!(of(18 << 10, Some(0.5)).starts_with("gain: "));
    }

    #[test]
    fn a_verdict_says_whether_it_is_worth_it_and_why() {
        for (change, bound, time, expected) in [
            ((100.0, 50.0), None, None, "gain: saves 50.0 % of DistComm"),
            (
                (100.0, 50.0),
                Some(40.0),
                None,
                "gain: saves 50.0 % of DistComm, of at most 60.0 %",
            ),
            (
                (100.0, 50.0),
                Some(50.0),
                Some(0.01),
                "little: saves 50.0 % of DistComm, as much as any placement; \
                 1.0 % of the time is in MPI: 0.5 % of all time at best",
            ),
            ((100.0, 97.0), None, None, "little: saves 3.0 % of DistComm"),
            (
                (100.0, 100.0),
                None,
                None,
                "none: no better placement was found",
            ),
            (
                (100.0, 100.0),
                Some(80.0),
                None,
                "none: no better placement was found, and none saves more than 20.0 % of DistComm",
            ),
            (
                (100.0, 100.0),
                Some(100.0),
                Some(0.5),
                "none: the ranks are placed best already; 50.0 % of the time is in MPI",
            ),
            (
                (0.0, 0.0),
                Some(0.0),
                None,
                "none: nothing is sent from core to core",
            ),
        ] {
            let evidence = Evidence {
                bound,
                time_in_mpi: time,
                ..evidence(change)
            };
            assert_eq!(evidence.verdict().to_string(), expected);
        }
    }
}
