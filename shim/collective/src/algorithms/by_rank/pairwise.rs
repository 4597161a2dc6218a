//! `Alltoall`, `Alltoallv` and `Alltoallw` without relay: all messages together, or one after the
//! other.
//!
//! ```text
//!   flat         all messages together, one of each cluster round-robin
//!   pairwise     step i: to the rank i further          0 -> 1, 1 -> 2, 2 -> 0 | 0 -> 2, 1 -> 0, 2 -> 1
//! ```

use crate::plan::range::Range;
use crate::problem::{Amount, Problem};
use crate::steps::Steps;
use crate::told::pair;
use treepie_base::Cluster;

/// Ranges of the blocks from `rank` to each rank, in the input, and from each rank to it, in the
/// output.
pub fn buffers(problem: &Problem, rank: usize) -> (Vec<Range>, Vec<Range>) {
    let ranks = problem.ranks();
    let (sent, received) = match problem.amount {
        Amount::Each(units) => (vec![*units; ranks], vec![*units; ranks]),
        Amount::Blocks(blocks) | Amount::KnownBlocks(blocks) | Amount::ToldBlocks(blocks) => {
            (blocks.clone(), blocks.clone())
        }
        Amount::Table(_) | Amount::ToldRows { .. } => (
            (0..ranks).map(|to| pair(problem, rank, rank, to)).collect(),
            (0..ranks)
                .map(|from| pair(problem, rank, from, rank))
                .collect(),
        ),
        Amount::Exchanged { sent, received } => (sent.clone(), received.clone()),
    };
    let in_order = |lengths: Vec<u64>, range: fn(u64, u64) -> Range| {
        let mut start = 0;
        let next = |length| {
            start += length;
            range(start - length, length)
        };
        lengths.into_iter().map(next).collect()
    };
    (
        in_order(sent, Range::input),
        in_order(received, Range::output),
    )
}

/// The others in a rank's order of service, or, `towards` it, in the order in which they serve it:
/// one of each other cluster round-robin, the next cluster first, so that not all send to the same
/// one; then its own cluster.
fn partners(problem: &Problem, rank: usize, towards: bool) -> Vec<usize> {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let members = |cluster: Cluster| clusters.members(cluster);
    let place = members(here).iter().position(|&m| m == rank).unwrap_or(0);
    let far: Vec<Cluster> = match towards {
        true => clusters.others_towards(here).collect(),
        false => clusters.others(here).collect(),
    };
    let at = |cluster: Cluster, distance: usize| {
        let members = members(cluster);
        let size = members.len();
        let distance = if towards { size - distance } else { distance };
        members[(place + distance) % size]
    };
    let deepest = far.iter().map(|&cluster| members(cluster).len()).max();
    let mut partners = Vec::with_capacity(problem.ranks());
    for distance in 0..deepest.unwrap_or(0) {
        let reached = |&&cluster: &&Cluster| distance < members(cluster).len();
        let clusters = far.iter().filter(reached);
        partners.extend(clusters.map(|&cluster| at(cluster, distance)));
    }
    partners.extend((1..members(here).len()).map(|distance| at(here, distance)));
    partners
}

/// Starts all sends together, far ones first, in an order that does not depend on the numbering of
/// ranks.
pub fn flat(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    direct(problem, rank, steps, &|_, _| true);
}

/// Sends blocks between ranks for which `goes` is true, and copies the rank's own.
pub fn direct(
    problem: &Problem,
    rank: usize,
    steps: &mut dyn Steps,
    goes: &dyn Fn(usize, usize) -> bool,
) {
    let (input, output) = buffers(problem, rank);
    let senders = partners(problem, rank, true).into_iter();
    for from in senders.filter(|&from| goes(from, rank)) {
        steps.receive(from, output[from]);
    }
    let far = problem.clusters.count() - 1;
    for round in partners(problem, rank, false).chunks(far.max(1)) {
        let receivers = round.iter().filter(|&&to| goes(rank, to));
        steps.send_round_robin(receivers.map(|&to| (to, input[to])));
    }
    steps.copy(input[rank], output[rank]);
}

/// One message at a time (MPICH, LAM; thesis item 73): in step i to the rank i further, or to rank
/// xor i if the number of ranks is a power of two, so that two ranks exchange.
pub fn pairwise(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let ranks = problem.ranks();
    let partners = (1..ranks).map(|step| match ranks.is_power_of_two() {
        true => (rank ^ step, rank ^ step),
        false => (problem.after(rank, step), problem.before(rank, step)),
    });
    let (to, from): (Vec<usize>, Vec<usize>) = partners.unzip();
    let (input, output) = buffers(problem, rank);
    steps.copy(input[rank], output[rank]);
    for from in from {
        steps.receive(from, output[from]);
    }
    for to in to {
        if input[to].length > 0 {
            steps.send(to, input[to]);
            steps.one_by_one();
        }
    }
}

/// Time of a message of an exchange whose sizes all ranks know: in seconds, or, if the network is
/// unknown, in units that cost more between clusters. Zero if there is no message.
pub fn seconds(problem: &Problem, from: usize, to: usize) -> f64 {
    /// Assumed ratio of the time of a message between clusters to that inside one.
    const APART: f64 = 10.0;
    let (clusters, units) = (problem.clusters, problem.pair(from, to));
    if units == 0 {
        return 0.0;
    }
    let link = problem.network.map(|network| network.link(from, to));
    match link {
        Some(link) => {
            let bytes = units.saturating_mul(problem.unit_bytes);
            link.map_or(0.0, |link| link.delivery(bytes))
        }
        None if clusters.of(from) == clusters.of(to) => units as f64,
        None => APART * units as f64,
    }
}
