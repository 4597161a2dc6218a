//! Reductions between clusters.

use super::{Scene, Stage, longer};
use crate::collective::Operation;
use crate::collective::algorithms::straight_of_allreduce;

impl Scene<'_> {
    /// Seconds to reduce one piece.
    pub(in crate::collective) fn reducing(&self) -> f64 {
        self.network
            .computing
            .seconds(self.piece.bytes.min(self.bytes))
    }

    /// The pieces of a cluster reduced inside: the way back of [`Scene::inside`], and
    /// what is computed.
    pub(in crate::collective) fn reduced_inside(&self, cluster: usize) -> Stage {
        let stage = self.inside(cluster);
        let members = self.sizes[cluster].ranks.min(5) as f64 - 1.0;
        Stage {
            first: stage.first + self.reducing(),
            period: stage.period + members * self.reducing(),
        }
    }

    /// The members of a cluster share out what is to be reduced, or collect it again:
    /// each has all but one of `lanes` shares on its way.
    fn shared_out(&self, cluster: usize, lanes: usize) -> f64 {
        let bytes = self.bytes / lanes as u64 * (self.sizes[cluster].ranks as u64 - 1);
        let computing = self.network.computing.seconds(bytes);
        match self.sizes[cluster].ranks {
            1 => 0.0,
            _ => self.spread(cluster, bytes) + computing,
        }
    }
}

/// A reduction along a tree of clusters, the broadcast's backwards: the edges are those
/// of the broadcast.
pub fn reduce_tree(scene: &Scene, edges: &[(usize, usize)]) -> f64 {
    let pieces = scene.pieces(scene.bytes);
    reduce_stage(scene, edges).seconds(pieces)
}

/// A cluster in the tree of a reduction.
#[derive(Clone, Copy)]
struct Node {
    /// What it has to send: its own pieces, reduced with those that came.
    stage: Stage,
    /// How many others send to it.
    degree: f64,
    /// How long it has received the first piece from others.
    received: f64,
}

fn reduce_stage(scene: &Scene, edges: &[(usize, usize)]) -> Stage {
    let node = |cluster| Node {
        stage: scene.reduced_inside(cluster),
        degree: 0.0,
        received: 0.0,
    };
    let mut at: Vec<Node> = (0..scene.count()).map(node).collect();
    for &(to, _) in edges {
        at[to].degree += 1.0;
    }
    for &(to, from) in edges.iter().rev() {
        let hop = scene.piece.hop(from, to);
        let entering = scene.piece.entering[to];
        let Node {
            stage,
            degree,
            received,
        } = at[to];
        let comes = at[from].stage.then(Stage {
            first: hop.seconds() + scene.reducing(),
            period: longer(
                longer(hop.gap, scene.piece.leaving[from]),
                degree * longer(entering, scene.reducing()),
            ),
        });
        // Pieces that come together pass the downlink one after the other.
        at[to].stage = Stage {
            first: longer(stage.first, comes.first + received),
            period: longer(stage.period, comes.period),
        };
        at[to].received += entering;
    }
    at[scene.home()].stage
}

/// To the cluster in the middle along a tree and back: pieces start down while others
/// are still coming up, on the same links.
pub fn allreduce_tree(scene: &Scene, edges: &[(usize, usize)]) -> f64 {
    let up = reduce_stage(scene, edges);
    let down = super::broadcast_tree(
        &Scene {
            bytes: scene.bytes.min(scene.piece.bytes),
            ..*scene
        },
        edges,
    );
    let mut busy: Vec<f64> = vec![0.0; scene.count()];
    for &(from, to) in edges {
        busy[from] += scene.piece.leaving[from];
        busy[to] += scene.piece.leaving[to];
    }
    let period = busy.into_iter().fold(up.period, longer);
    up.first + down + (scene.pieces(scene.bytes) - 1.0) * period
}

/// Reduced inside, along a chain of clusters in lanes, and to the root.
pub fn reduce_lanes(scene: &Scene, lanes: usize) -> f64 {
    let (home, count) = (scene.home(), scene.count());
    let share = scene.bytes.div_ceil(lanes as u64);
    // A share that is smaller than a piece occupies links as its size.
    let scale = (share as f64 / scene.piece.bytes.max(1) as f64).min(1.0);
    let local = scene.most(|cluster| scene.shared_out(cluster, lanes));
    let mut stage = Stage::default();
    for distance in (1..count).rev() {
        let (from, to) = ((home + distance) % count, (home + distance - 1) % count);
        let hop = scene.piece.hop(from, to);
        let shared = scene.piece.leaving[from].max(scene.piece.entering[to]);
        stage = stage.then(Stage {
            first: hop.latency + scale * hop.gap + scene.reducing(),
            period: scale * shared.max(hop.gap / lanes as f64),
        });
    }
    let pieces = scene.volume(share) * lanes as f64;
    let to_root = scene.spread(home, scene.piece.bytes.min(share));
    local + stage.seconds(pieces) + to_root
}

/// Coordinators send the sums of their clusters to each other.
pub fn allreduce_exchange(scene: &Scene) -> f64 {
    let others = (scene.count() - 1) as f64;
    let volume = scene.volume(scene.bytes);
    let passing = scene.most(|cluster| {
        let busiest = scene.piece.leaving[cluster].max(scene.piece.entering[cluster]);
        others * volume * busiest
    });
    let inside = |stage: fn(&Scene, usize) -> Stage| {
        scene.most(|cluster| stage(scene, cluster).seconds(scene.pieces(scene.bytes)))
    };
    let latest = scene.farthest() - scene.most(|c| scene.piece.leaving[c]);
    inside(|s, c| s.reduced_inside(c))
        + latest.max(0.0)
        + passing
        + others * scene.reducing()
        + inside(|s, c| s.inside(c))
}

/// One step of `parts` messages that each lane sends of its part, one of `C` of a share:
/// on all uplinks at once.
fn step(scene: &Scene, lanes: usize, parts: f64) -> (f64, f64) {
    let part = scene.bytes / (lanes * scene.count()) as u64;
    let cut = part.clamp(1, scene.piece.bytes.max(1));
    // A part that is smaller than a piece occupies links as its size, nearly.
    let scale = (cut as f64 / scene.piece.bytes.max(1) as f64).max(0.02);
    let pieces = part.div_ceil(cut).max(1) as f64;
    let passing = scene.most(|cluster| {
        let busiest = scene.piece.leaving[cluster].max(scene.piece.entering[cluster]);
        parts * lanes as f64 * pieces * scale * busiest
    });
    let mut alone = 0.0;
    for from in 0..scene.count() {
        // Only from there can a part take longer than the longest so far.
        if scene.piece.farthest_from[from] > alone {
            let hops = scene.others(from).map(|to| scene.piece.hop(from, to));
            let parts = hops.map(|hop| hop.latency + scale * hop.gap);
            alone = parts.fold(alone, f64::max);
        }
    }
    (passing, alone)
}

/// Lanes that reduce and collect by sending each part straight to its cluster.
pub fn allreduce_direct(scene: &Scene, lanes: usize) -> f64 {
    let others = (scene.count() - 1) as f64;
    let in_flight = scene.in_flight(Operation::Allreduce);
    let straight = straight_of_allreduce(in_flight, scene.count(), scene.bytes);
    let local = scene.most(|cluster| scene.shared_out(cluster, lanes));
    let busiest = scene.most(|c| scene.piece.leaving[c].max(scene.piece.entering[c]));
    // Each lane has so many pieces for each cluster to reduce.
    let ways = (lanes * scene.count()) as u64;
    let rounds = ((scene.bytes - straight) / ways).div_ceil(scene.piece.bytes.max(1));
    let parted = others / scene.count() as f64 * scene.volume(scene.bytes - straight) * busiest;
    let straight = others * scene.volume(straight) * busiest;
    let latency = scene.piece.latency;
    // Results follow at once where there is enough else to send meanwhile; the last ones when their
    // parts have come.
    let last = parted / rounds.max(1) as f64;
    let sent = match parted > 0.0 {
        true => (2.0 * parted + straight).max(parted + latency + last),
        false => straight,
    };
    // What happens inside and between clusters overlaps piece by piece.
    let (local, pieces) = (2.0 * local, scene.pieces(scene.bytes));
    latency + local.max(sent) + local.min(sent) / pieces + scene.reducing()
}

/// Lanes whose pieces are reduced in other clusters, or in the root's.
pub fn reduce_direct(scene: &Scene, lanes: usize) -> f64 {
    let (home, others) = (scene.home(), (scene.count() - 1) as u64);
    let straight = match others {
        0 | 1 => scene.bytes,
        _ => (scene.in_flight(Operation::Reduce) / others).min(scene.bytes),
    };
    let parted = scene.volume(scene.bytes - straight);
    let share = parted * (others.max(1) - 1) as f64 / others.max(1) as f64;
    let leaves = scene.most(|c| scene.piece.leaving[c]);
    let enters = scene.piece.entering[home];
    let latency = scene.piece.latency;
    // Pieces to others leave first, and fill the link that results need.
    let sent = (share + scene.volume(straight)) * leaves;
    let results = match parted > 0.0 {
        true => sent.max(share * leaves + latency) + parted * enters.max(leaves / others as f64),
        false => 0.0,
    };
    let at_once = share * leaves + others as f64 * scene.volume(straight) * enters;
    let local = scene.most(|cluster| scene.shared_out(cluster, lanes));
    let to_root = scene.spread(home, scene.bytes / lanes as u64);
    local + latency + results.max(at_once) + scene.reducing() + to_root
}

/// Lanes that reduce and collect round a ring of clusters.
pub fn allreduce_ring(scene: &Scene, lanes: usize) -> f64 {
    let (passing, alone) = step(scene, lanes, 1.0);
    let local = scene.most(|cluster| scene.shared_out(cluster, lanes));
    let steps = 2.0 * (scene.count() - 1) as f64;
    2.0 * local + steps * passing.max(alone) + alone.min(passing)
}
