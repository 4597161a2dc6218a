//! Time of an algorithm whose ranks all send alike, from the scripts of a few ranks: a tenth of the
//! work of running the scripts of all.

use crate::algorithms::algorithm::{Algorithm, Symmetry};
use crate::network::links::{Network, Overhead};
use crate::problem::{Amount, Uniform};
use crate::read::cost::reading::Reading;
use crate::read::cost::script::{Move, OneByOne, Part, ReadingMode, Script};
use crate::read::moved;
use crate::read::simulate::links::Links;
use crate::read::simulate::outcome::Sending;
use std::collections::HashMap;
use treepie_platform::Contention;

impl Reading<'_> {
    /// Seconds of a call if its ranks go through the rounds of a few of them in lockstep: in each
    /// round all ranks of a host, or of a cluster, send as one of them does, and share its links.
    ///
    /// Messages are not cut. Infinite if no rank sends what it has received: without rounds, the
    /// order of messages matters.
    pub fn lockstep(&self, algorithm: &Algorithm, call: &Uniform) -> f64 {
        let Some(clusters) = self.clusters else {
            return f64::INFINITY;
        };
        let amount = Amount::Each(call.bytes);
        let problem = self.problem(call, &amount, clusters);
        let description = algorithm.describe(&problem);
        let ranks = problem.ranks();
        let how = ReadingMode {
            part: Part::All,
            one_by_one: OneByOne::Sends,
            told: false,
        };
        let flow = problem.flow(u64::MAX.into());
        let some = [call.root, ranks / 4, ranks / 2 + 1, ranks - 1];
        let read = |rank| (rank, Script::read(&description, flow, rank, how));
        let some = some.into_iter().filter(|&rank| rank < ranks);
        let scripts: Vec<(usize, Script)> = some.map(read).collect();
        if !scripts.iter().any(|(_, script)| script.hands_on()) {
            return f64::INFINITY;
        }
        let alike = algorithm.alike(&problem);
        let seconds = |(rank, script): &(usize, Script)| {
            Lockstep::new(self.network, *rank, alike).seconds(script)
        };
        let longest = scripts.iter().map(seconds).fold(0.0, f64::max);
        longest.max(moved::seconds(self.network, &description))
    }
}

/// Rounds of one rank, with all others in lockstep.
struct Lockstep<'a> {
    network: &'a Network,
    links: Links<'a>,
    rank: usize,
    alike: Symmetry,
    /// Ranks of its cluster, which share an uplink.
    mates: Vec<usize>,
    /// Times of messages to a rank, by their bytes.
    rounds: HashMap<(usize, u64), Round>,
}

/// Times of the messages that all ranks of a cluster send in one round, in seconds.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    latency: f64,
    /// Time that the busiest link is occupied.
    busy: f64,
    /// Work of the rank on its message, and on one that it receives meanwhile.
    work: f64,
}

impl Round {
    /// Seconds until the messages have arrived.
    fn seconds(&self) -> f64 {
        self.work.max(self.busy + self.latency)
    }
}

impl<'a> Lockstep<'a> {
    fn new(network: &'a Network, rank: usize, alike: Symmetry) -> Self {
        let cluster = network.cluster_of()[rank];
        let is_mate = |&other: &usize| network.cluster_of()[other] == cluster;
        Lockstep {
            network,
            links: Links::new(network, Sending::Overlapping),
            rank,
            alike,
            mates: (0..network.ranks()).filter(is_mate).collect(),
            rounds: HashMap::new(),
        }
    }

    /// Seconds of all rounds. Messages before a wait are sent at once.
    fn seconds(&mut self, script: &Script) -> f64 {
        let (mut seconds, mut open) = (0.0, Round::default());
        for &one in &script.moves {
            match one {
                Move::Send { to, bytes, .. } => {
                    let round = self.round(to as usize, bytes);
                    open.busy += round.busy;
                    open.work += round.work;
                    open.latency = f64::max(open.latency, round.latency);
                }
                Move::Await(_) => {
                    seconds += open.seconds();
                    open = Round::default();
                }
                Move::Settle => (),
                // Computing before a wait overlaps with the messages.
                Move::Compute(bytes) => open.work += self.network.computing.seconds(bytes),
            }
        }
        seconds + open.seconds()
    }

    /// Times of a message to a rank, while all mates send to the ranks that are as far from them.
    fn round(&mut self, to: usize, bytes: u64) -> Round {
        if let Some(&round) = self.rounds.get(&(to, bytes)) {
            return round;
        }
        let (ranks, host_of) = (self.network.ranks(), self.network.host_of());
        let host = host_of[self.rank];
        let (mut card, mut uplink, mut alone) = (0.0, 0.0, 0.0);
        let (mut round, mut on_host) = (Round::default(), 0.0);
        for &mate in &self.mates {
            let peer = match self.alike {
                Symmetry::Flipped => to ^ self.rank ^ mate,
                _ => (to + ranks + mate - self.rank) % ranks,
            };
            let way = self.links.way((mate, peer, bytes), Contention::NONE);
            let [out, up, ..] = way.shared();
            uplink += up;
            if host_of[mate] == host {
                let link = self.network.link(mate, peer);
                on_host += 1.0;
                card += out;
                alone += link.map_or(0.0, |link| link.gap(bytes));
                round.latency += way.latency + way.handshake;
            }
        }
        // Data that goes from rank to rank crosses as often as the ranks of a host do on average.
        round.latency /= on_host;
        round.busy = f64::max(alone / on_host, card).max(uplink);
        let work = |by| self.network.occupied(self.rank, to, bytes, by);
        round.work = work(Overhead::Send) + work(Overhead::Receive);
        self.rounds.insert((to, bytes), round);
        round
    }
}
