//! Time of a ring, in which each rank sends what it has received to the next one, or to its two
//! neighbours alternately.

use crate::network::links::Network;
use crate::read::cost::reading::Reading;
use crate::read::cost::script::{Script, Scripts};
use crate::read::cost::times::Times;
use crate::read::simulate::links::Links;
use crate::read::simulate::outcome::Sending;
use treepie_platform::Contention;

impl Reading<'_> {
    /// Times of a ring whose ranks send as a `usual` one, from the `first` three messages of each.
    /// All links are occupied in each two rounds as in the second and the third, and each block
    /// goes all the way.
    pub(super) fn ring(&self, first: &Scripts, usual: &Script) -> Times {
        let two = TwoRounds::new(self.network, first);
        let times = usual.progress(usual.sends()) / (usual.progress(3) - usual.progress(1));
        let computing = self.network.computing.seconds(usual.computed());
        let handed = self.handed_on(first, usual.sends());
        let passed = times * two.busy;
        Times {
            end: handed.max(passed + two.latency) + computing,
            left: handed.max(passed) + computing,
            busiest: times * two.busiest_cluster,
        }
    }

    /// Seconds that a block takes if it is forwarded this many times, the maximum over some
    /// starting ranks: the time of a ring of small blocks. For each rank, the rounds that are not
    /// in its script are assumed to be like the last two.
    pub(super) fn handed_on(&self, scripts: &Scripts, times: usize) -> f64 {
        let from = |first: usize| {
            let (mut rank, mut seconds) = (first, 0.0);
            for round in 0..times {
                let script = scripts.of(rank);
                let beyond = (round + 1).saturating_sub(script.sent().count());
                let known = round.checked_sub(beyond.next_multiple_of(2));
                let Some((to, bytes)) = known.and_then(|known| script.sent().nth(known)) else {
                    break;
                };
                let to = scripts.peer(rank, to);
                let link = self.network.link(rank, to);
                seconds += link.map_or(0.0, |link| link.delivery(bytes));
                rank = to;
            }
            seconds
        };
        let ranks = scripts.ranks();
        // The starts follow the first rank of a cluster, in the usual numbering: the path to that
        // one is long.
        let starts = (0..4).map(|quarter| (quarter * ranks / 4 + 2) % ranks);
        starts.map(from).fold(0.0, f64::max)
    }
}

/// The second and the third round, in each of which all ranks send one message, in seconds.
struct TwoRounds {
    /// Time that the busiest link is occupied.
    busy: f64,
    /// Time that the busiest link of a cluster with others is occupied.
    busiest_cluster: f64,
    /// Longest time from the departure of a message to its arrival.
    latency: f64,
}

impl TwoRounds {
    fn new(network: &Network, first: &Scripts) -> Self {
        let links = Links::new(network, Sending::Overlapping);
        let (hosts, clusters) = (network.host_of(), network.cluster_of());
        let mut cards = vec![[0.0; 2]; network.hosts()];
        let mut access = vec![[0.0; 2]; network.clusters()];
        let (mut connection, mut latency) = (0.0, 0.0);
        for rank in 0..first.ranks() {
            let mut last = (None, 0.0);
            for (peer, bytes) in first.of(rank).sent().skip(1) {
                let to = first.peer(rank, peer);
                let path = links.way((rank, to, bytes), Contention::NONE);
                let [out, up, down, into] = path.shared();
                cards[hosts[rank]][0] += out;
                cards[hosts[to]][1] += into;
                access[clusters[rank].0][0] += up;
                access[clusters[to].0][1] += down;
                let gap = network.link(rank, to).map_or(0.0, |link| link.gap(bytes));
                let before = if last.0 == Some(to) { last.1 } else { 0.0 };
                last = (Some(to), before + gap);
                connection = f64::max(connection, last.1);
                latency = f64::max(latency, path.latency + path.handshake);
            }
        }
        let most = |all: &[[f64; 2]]| all.iter().flatten().copied().fold(0.0, f64::max);
        let busiest_cluster = most(&access);
        TwoRounds {
            busy: busiest_cluster.max(most(&cards)).max(connection),
            busiest_cluster,
            latency,
        }
    }
}
