//! `Alltoall`, `Alltoallv` and `Alltoallw` without relay: at once, or one message after the other.
//!
//! ```text
//!   flat         all messages at once, one of each cluster round-robin
//!   pairwise     step i: to the rank i further          0 -> 1, 1 -> 2, 2 -> 0 | 0 -> 2, 1 -> 0, 2 -> 1
//! ```

use crate::plan::range::Range;
use crate::problem::{Amount, Problem};
use crate::steps::Steps;
use crate::told::pair;

/// Where the blocks to and from each rank are for `rank`: those of the input, and of the
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

/// The others as a rank serves them, or, `towards` it, as they serve it: one of each other cluster
/// round-robin, the next cluster first, so that not all send to the same one; then its own cluster.
fn partners(problem: &Problem, rank: usize, towards: bool) -> Vec<usize> {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let members = |cluster: usize| clusters.members(cluster);
    let place = members(here).iter().position(|&m| m == rank).unwrap_or(0);
    let far: Vec<usize> = match towards {
        true => clusters.others_towards(here).collect(),
        false => clusters.others(here).collect(),
    };
    let at = |cluster: usize, distance: usize| {
        let members = members(cluster);
        let size = members.len();
        let distance = if towards { size - distance } else { distance };
        members[(place + distance) % size]
    };
    let deepest = far.iter().map(|&cluster| members(cluster).len()).max();
    let mut partners = Vec::with_capacity(problem.ranks());
    for distance in 0..deepest.unwrap_or(0) {
        let reached = |&&cluster: &&usize| distance < members(cluster).len();
        let clusters = far.iter().filter(reached);
        partners.extend(clusters.map(|&cluster| at(cluster, distance)));
    }
    partners.extend((1..members(here).len()).map(|distance| at(here, distance)));
    partners
}

/// Everyone sends to all others at once, far ones first, in an order that does not depend on
/// how ranks are numbered.
pub fn flat(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    direct(problem, rank, steps, &|_, _| true);
}

/// The same for blocks from and to ranks for which `goes` says so, and the rank's own.
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
/// xor i where ranks are a power of two, so that two exchange.
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

/// What a message of an exchange takes whose sizes all ranks know: in seconds, or, where no network
/// is known, in units that are dearer between clusters. Nothing where there is none to send.
pub fn seconds(problem: &Problem, from: usize, to: usize) -> f64 {
    /// How much longer messages between clusters are taken to take.
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
