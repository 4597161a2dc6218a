//! Blocks of their own: gathers, scatters, total exchanges, barriers.

use super::{Scene, longer};
use crate::collective::Operation;
use crate::collective::algorithms::{Grouped, by_tail, runs};

/// How many ranks of `from` send a block of `bytes` to ranks of `to`.
type Blocks<'a> = &'a dyn Fn(usize, usize) -> f64;

/// The busiest link between clusters, and the farthest way, for so many messages of a
/// block from cluster to cluster.
fn passing(scene: &Scene, messages: Blocks) -> f64 {
    let volume = scene.volume(scene.bytes);
    let mut farthest = 0.0;
    let busiest = scene.most(|here| {
        let (mut leaves, mut enters, mut slowest) = (0.0, 0.0, 0.0);
        for there in scene.others(here) {
            leaves += messages(here, there) * scene.piece.leaving[here];
            enters += messages(there, here) * scene.piece.entering[here];
            // A connection carries one rank's messages.
            if messages(here, there) > 0.0 {
                slowest = longer(slowest, scene.piece.hop(here, there).gap);
            }
        }
        volume * longer(longer(leaves, enters), slowest)
    });
    for from in 0..scene.count() {
        for to in scene.others(from).filter(|&to| messages(from, to) > 0.0) {
            farthest = longer(farthest, scene.piece.hop(from, to).latency);
        }
    }
    busiest + farthest
}

/// Everyone who has a block for another sends it straight there.
pub fn direct(scene: &Scene, operation: Operation) -> f64 {
    use Operation::{Gather, Gatherv, Scatter, Scatterv};
    let (home, ranks) = (scene.home(), |cluster: usize| {
        scene.sizes[cluster].ranks as f64
    });
    let between = match operation {
        Gather | Gatherv => passing(scene, &|from, to| {
            if to == home { ranks(from) } else { 0.0 }
        }),
        Scatter | Scatterv => passing(scene, &|from, to| {
            if from == home { ranks(to) } else { 0.0 }
        }),
        _ => passing(scene, &|from, to| ranks(from) * ranks(to)) + waiting_to_enter(scene),
    };
    let all: f64 = (0..scene.count()).map(ranks).sum();
    let serves = match operation {
        Gather | Gatherv | Scatter | Scatterv => home..home + 1,
        _ => 0..scene.count(),
    };
    // Every message of a rank passes its host's card.
    let card = serves
        .map(|cluster| {
            let size = scene.sizes[cluster];
            let hop = scene.piece.within[cluster];
            let others = all - size.on_host as f64;
            let senders = match operation {
                Gather | Gatherv | Scatter | Scatterv => 1.0,
                _ => size.on_host as f64,
            };
            scene.volume(scene.bytes) * senders * others * hop.gap + hop.latency
        })
        .fold(0.0, longer);
    between.max(card)
}

/// Blocks are gathered inside clusters, exchanged between coordinators, and handed on as
/// they come.
pub fn allgather_exchange(scene: &Scene) -> f64 {
    let ranks = |cluster: usize| scene.sizes[cluster].ranks as u64;
    let all: u64 = (0..scene.count()).map(ranks).sum();
    let gathered = scene.most(|c| scene.spread(c, scene.bytes * (ranks(c) - 1)));
    let passing = scene.most(|here| {
        let others = (scene.count() - 1) as f64;
        let leaves = others * scene.volume(scene.bytes * ranks(here)) * scene.piece.leaving[here];
        let enters = scene.volume(scene.bytes * (all - ranks(here))) * scene.piece.entering[here];
        // One connection carries all that goes from cluster to cluster.
        let hops = scene.others(here).map(|there| scene.piece.hop(here, there));
        let slowest = hops.map(|hop| hop.gap).fold(0.0, longer);
        leaves
            .max(enters)
            .max(scene.volume(scene.bytes * ranks(here)) * slowest)
    });
    let handed = |cluster: usize| {
        let stage = scene.inside(cluster);
        (stage.first, scene.volume(scene.bytes * all) * stage.period)
    };
    let first = scene.most(|c| handed(c).0);
    let period = scene.most(|c| handed(c).1);
    let latency = scene.farthest() - scene.most(|c| scene.piece.leaving[c]);
    gathered + latency.max(0.0) + passing.max(period) + waiting_to_enter(scene) + first
}

/// Clusters do not start together: once, a message waits for one from another cluster where both
/// enter.
pub(in crate::collective) fn waiting_to_enter(scene: &Scene) -> f64 {
    match scene.count() {
        0..=2 => 0.0,
        _ => scene.most(|cluster| scene.piece.entering[cluster]),
    }
}

/// Every member to one of each other cluster, who hands it on.
pub fn allgather_lanes(scene: &Scene) -> f64 {
    let ranks = |cluster: usize| scene.sizes[cluster].ranks as f64;
    let passing = passing(scene, &|from, _| ranks(from));
    let all: f64 = (0..scene.count()).map(ranks).sum();
    let handed = |cluster: usize| scene.spread(cluster, scene.bytes * all as u64);
    let piece = scene.piece.bytes.min(scene.bytes);
    passing.max(scene.most(handed))
        + waiting_to_enter(scene)
        + scene.most(|c| scene.spread(c, piece))
}

/// Members to coordinators, coordinators to each other, and back.
pub fn barrier_exchange(scene: &Scene) -> f64 {
    let inside = scene.most(|cluster| {
        let size = scene.sizes[cluster];
        match (size.ranks, size.hosts) {
            (1, _) => 0.0,
            (_, 1) => scene.piece.on_host[cluster].seconds(),
            _ => scene.piece.within[cluster].seconds(),
        }
    });
    2.0 * inside + scene.farthest()
}

/// One message of all blocks of a cluster from the root or to it, in the order that the
/// generator takes, and inside.
pub fn grouped(scene: &Scene, order: Grouped) -> f64 {
    let home = scene.home();
    let block = |cluster: usize| scene.volume(scene.bytes * scene.sizes[cluster].ranks as u64);
    let inside = |cluster: usize| {
        let others = (scene.sizes[cluster].ranks - 1) as u64;
        scene.spread(cluster, scene.bytes * others)
    };
    let tail = |cluster: usize| scene.piece.hop(home, cluster).latency + inside(cluster);
    let passes = |cluster: usize| block(cluster) * scene.piece.hop(home, cluster).gap;
    let order = by_tail(scene.clusters, home, order, passes, tail);
    let mut sent = 0.0;
    let mut last = inside(home);
    for cluster in order {
        let hop = scene.piece.hop(home, cluster);
        let passes = block(cluster) * hop.gap.max(scene.piece.entering[cluster]);
        last = last.max(sent + passes + hop.latency + inside(cluster));
        sent += block(cluster) * scene.piece.leaving[home];
    }
    last.max(sent + inside(home))
}

/// Blocks between two clusters go in one message between coordinators.
pub fn alltoall_grouped(scene: &Scene) -> f64 {
    let ranks = |cluster: usize| scene.sizes[cluster].ranks as u64;
    let all: u64 = (0..scene.count()).map(ranks).sum();
    let away = |cluster: usize| scene.bytes * ranks(cluster) * (all - ranks(cluster));
    let passing = scene.most(|cluster| {
        let busiest = scene.piece.leaving[cluster].max(scene.piece.entering[cluster]);
        scene.volume(away(cluster)).max((scene.count() - 1) as f64) * busiest
    });
    let local = scene.most(|cluster| scene.spread(cluster, away(cluster)));
    2.0 * local + passing + scene.farthest()
}

/// Parts reduced inside clusters, exchanged between coordinators, and handed on.
pub fn reduce_scatter_exchange(scene: &Scene) -> f64 {
    let ranks = |cluster: usize| scene.sizes[cluster].ranks as u64;
    let all: u64 = (0..scene.count()).map(ranks).sum();
    let total = scene.bytes * all;
    let pieces = scene.pieces(total);
    let inside = scene.most(|cluster| scene.inside(cluster).seconds(pieces));
    let computing = 2.0 * scene.network.computing.seconds(total);
    let passing = scene.most(|cluster| {
        let leaves = scene.volume(scene.bytes * (all - ranks(cluster)));
        let others = (scene.count() - 1) as f64;
        let enters = others * scene.volume(scene.bytes * ranks(cluster));
        f64::max(
            leaves.max(others) * scene.piece.leaving[cluster],
            enters * scene.piece.entering[cluster],
        )
    });
    let handed = scene.most(|cluster| scene.spread(cluster, scene.bytes * (ranks(cluster) - 1)));
    inside + computing + passing + scene.farthest() + handed
}

/// Sums of runs to the coordinators, each of which makes the prefixes of a part of the message, and these back.
pub fn scan_exchange(scene: &Scene) -> f64 {
    let runs = runs(scene.clusters);
    let mut own = vec![0.0; scene.count()];
    for run in &runs {
        own[scene.clusters.of(run.first)] += 1.0;
    }
    let (all, clusters) = (runs.len() as f64, scene.count() as f64);
    let bytes = scene.bytes as f64 / clusters;
    // A part that is smaller than a piece occupies links as its size, nearly.
    let part = (bytes / scene.piece.bytes.max(1) as f64).max(0.02);
    let given = |cluster: usize| part * own[cluster] * (clusters - 1.0);
    let collected = |cluster: usize| part * (all - own[cluster]);
    let busy = |leaves: &dyn Fn(usize) -> f64, enters: &dyn Fn(usize) -> f64| {
        let (leaving, entering) = (&scene.piece.leaving, &scene.piece.entering);
        scene.most(|c| f64::max(leaves(c) * leaving[c], enters(c) * entering[c]))
    };
    let both = |cluster: usize| given(cluster) + collected(cluster);
    let (sums, prefixes) = (busy(&given, &collected), busy(&collected, &given));
    let latency = scene.piece.latency;
    // Prefixes follow at once where there is enough else to send meanwhile.
    let last = prefixes / part.max(1.0);
    let passing = (sums + latency + last).max(busy(&both, &both));
    let pieces = scene.pieces(scene.bytes);
    let inside = scene.most(|c| scene.inside(c).seconds(pieces));
    2.0 * inside + latency + passing + all * scene.reducing() / clusters
}
