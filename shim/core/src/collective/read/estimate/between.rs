//! Broadcasts between clusters, and a reduction that is one of them backwards.

use super::{Hop, Scene, Stage, longer};
use crate::collective::Operation;
use crate::collective::algorithms::Direction;

/// Along a tree of clusters: `edges` from cluster to cluster, senders before their
/// receivers, those of one sender in the order in which it serves them. Every cluster
/// hands each piece on inside when it has sent it to the others.
pub fn broadcast_tree(scene: &Scene, edges: &[(usize, usize)]) -> f64 {
    along(scene, edges, 1)
}

/// Along the same tree with several ranks of every cluster side by side: each carries
/// every `lanes`-th piece, so that a connection that cannot fill the uplink alone does not
/// hold the others up.
pub fn broadcast_lanes(scene: &Scene, edges: &[(usize, usize)], lanes: usize) -> f64 {
    let handed = match lanes {
        1 => 0.0,
        _ => scene.piece.within[scene.home()].seconds(),
    };
    handed + along(scene, edges, lanes)
}

fn along(scene: &Scene, edges: &[(usize, usize)], lanes: usize) -> f64 {
    let mut at = vec![Node::default(); scene.count()];
    for &(from, _) in edges {
        at[from].degree += 1.0;
    }
    for &(from, to) in edges {
        let hop = scene.piece.hop(from, to);
        let (sender, leaving) = (at[from], scene.piece.leaving[from]);
        let way = Stage {
            first: sender.sent + hop.seconds(),
            period: longer(
                hop.gap / lanes as f64,
                longer(sender.degree * leaving, scene.piece.entering[to]),
            ),
        };
        at[from].sent += leaving;
        at[to].stage = sender.stage.then(way);
    }
    let pieces = scene.pieces(scene.bytes);
    scene.most(|cluster| {
        let stage = at[cluster].stage.then(scene.inside(cluster));
        stage.seconds(pieces)
    })
}

/// A cluster in a tree.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    /// The way to it.
    stage: Stage,
    /// How many others it sends to.
    degree: f64,
    /// How long it has sent the first piece to others.
    sent: f64,
}

/// What messages of a piece meet on their way from the root, or with the same tree backwards, on
/// the way to it.
struct Ways<'a, 'b> {
    scene: &'a Scene<'b>,
    direction: Direction,
}

impl Ways<'_, '_> {
    fn hop(&self, from: usize, to: usize) -> Hop {
        match self.direction {
            Direction::Down => self.scene.piece.hop(from, to),
            Direction::Up => self.scene.piece.hop(to, from),
        }
    }

    /// The longest way onwards from a cluster.
    fn farthest(&self, cluster: usize) -> f64 {
        match self.direction {
            Direction::Down => self.scene.piece.farthest_from[cluster],
            Direction::Up => self.scene.piece.farthest_to[cluster],
        }
    }

    fn leaving(&self, cluster: usize) -> f64 {
        match self.direction {
            Direction::Down => self.scene.piece.leaving[cluster],
            Direction::Up => self.scene.piece.entering[cluster],
        }
    }

    fn entering(&self, cluster: usize) -> f64 {
        match self.direction {
            Direction::Down => self.scene.piece.entering[cluster],
            Direction::Up => self.scene.piece.leaving[cluster],
        }
    }

    fn inside(&self, cluster: usize) -> Stage {
        match self.direction {
            Direction::Down => self.scene.inside(cluster),
            Direction::Up => self.scene.reduced_inside(cluster),
        }
    }
}

/// The root sends each piece to one other cluster, in turn; they exchange them.
pub fn broadcast_exchange(scene: &Scene) -> f64 {
    exchange(scene, Direction::Down)
}

/// Each cluster reduces some pieces, and sends them to the root.
pub fn reduce_exchange(scene: &Scene) -> f64 {
    exchange(scene, Direction::Up) + scene.reducing()
}

fn exchange(scene: &Scene, direction: Direction) -> f64 {
    let others = (scene.count() - 1).max(1) as u64;
    let operation = match direction {
        Direction::Down => Operation::Bcast,
        Direction::Up => Operation::Reduce,
    };
    let straight = match others {
        1 => scene.bytes,
        _ => (scene.in_flight(operation) / others).min(scene.bytes),
    };
    let exchanged = Ways {
        scene: &Scene {
            bytes: scene.bytes - straight,
            ..*scene
        },
        direction,
    };
    let ways = Ways { scene, direction };
    // What goes straight leaves the root once for each cluster.
    let sent = exchanged.scene.bytes + others * straight;
    let leaves = scene.volume(sent) * ways.leaving(scene.home());
    let inside = scene.most(|cluster| ways.inside(cluster).first);
    let arrives = leaves + scene.most(|c| ways.hop(scene.home(), c).latency) + inside;
    match exchanged.scene.bytes {
        0 => arrives,
        _ => arrives.max(exchanged_by_others(&exchanged)),
    }
}

/// The part that each cluster hands on to the others.
fn exchanged_by_others(ways: &Ways) -> f64 {
    let scene = ways.scene;
    let (home, others) = (scene.home(), (scene.count() - 1) as f64);
    let volume = scene.volume(scene.bytes);
    let busiest = scene
        .others(home)
        .map(|other| {
            let passed_on = volume / others * (others - 1.0) * ways.leaving(other);
            let slowest = ways.hop(home, other).gap / others;
            let comes = volume * ways.entering(other).max(slowest);
            passed_on.max(comes)
        })
        .fold(volume * ways.leaving(home), longer);
    let to = |other: usize| ways.hop(home, other).seconds();
    // With few pieces, not all others hand some on.
    let takes = scene.pieces(scene.bytes) as usize;
    let mut first: f64 = 0.0;
    for other in scene.clusters.others(home).take(takes) {
        // Only over those can the way be longer than the longest so far.
        if to(other) + ways.farthest(other) > first {
            let next = scene.others(other).filter(|&next| next != home);
            let onwards = next.map(|next| ways.hop(other, next).seconds());
            first = first.max(to(other) + onwards.fold(0.0, longer));
        }
    }
    // Pieces wait their turn at whoever hands them on, on average half of it; results wait for
    // the parts of two rounds, too, once that many rounds are under way.
    let rounds = match ways.direction {
        Direction::Down => 0.0,
        Direction::Up => 2.0 * (volume / others / 8.0).min(1.0),
    };
    let turn = (others - 1.0).max(0.0) / 2.0 + rounds * others;
    let waits = turn
        * scene
            .others(home)
            .map(|other| ways.leaving(other))
            .fold(0.0, longer);
    let inside = (0..scene.count()).map(|cluster| ways.inside(cluster));
    let (last, period) = inside.fold((0.0, 0.0), |(last, period): (f64, f64), stage| {
        (longer(last, stage.first), longer(period, stage.period))
    });
    first
        + waits
        + last
        + (busiest - ways.leaving(home))
            .max(0.0)
            .max((volume - 1.0) * period)
}
