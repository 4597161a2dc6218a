//! Exchange of sizes that MPI gives to single ranks, from ranks to the leaders of their clusters,
//! so that blocks of several ranks can be sent between clusters in one message, in the same call.
//!
//! ```text
//!   1  each rank --its sizes--> leader of its cluster        in the cluster, without an answer
//!   2  the call, by a plan from the sizes known then         between clusters: one latency
//! ```
//!
//! | collective | MPI gives | then the leader of cluster A knows | and with it |
//! |---|---|---|---|
//! | `Gatherv`, `Scatterv` | the root all sizes, each other rank its own | those of A | the root |
//! | `Alltoallv/w` | each rank its row and column | those of A | the leader of B, between both |
//!
//! # Why ranks never disagree
//!
//! MPI requires that the amounts of each pair of ranks are equal, in bytes, for any datatypes.
//! Therefore, each number of bytes on which a plan depends is known to all participants of its
//! message, from their own arguments or from a rank that has it:
//!
//! * the size of a block alone decides whether leaders relay it ([`goes_along`]), and its sender,
//!   its receiver, and the leaders of both know it: no decision has to be sent to members, and it
//!   depends on no value that only some ranks have (such as a mean over pairs);
//! * a message between leaders has the relayed blocks of all pairs of the two clusters, in an order
//!   that all know. Both have the sizes of all of them, one from its senders, the other from its
//!   receivers;
//! * the algorithm, on which all agree, decides whether ranks send sizes at all.
//!
//! In step 1, only leaders wait, and only for ranks of their cluster, which send their sizes before
//! anything else. Step 1 therefore ends wherever all ranks enter the call.

use crate::clusters::Clusters;
use crate::plan::builder::Builder;
use crate::plan::range::Range;
use crate::plan::step::Plan;
use crate::problem::{Amount, Problem};
use crate::steps::Flow;
use treepie_base::Cluster;

/// Maximum number of bytes of a block that leaders relay. Relaying saves the cost of a message on a
/// wide-area link beyond its bytes; for blocks of a kilobyte that is less than the cost of the way
/// to the leader.
const MOST_ALONG: u64 = 512;

/// Maximum number of ranks: for more, the sizes cost more than exchanges of small blocks gain.
pub const MOST_RANKS: usize = 128;

/// Bytes of a size.
const SIZE: u64 = size_of::<u64>() as u64;

/// True if leaders relay a block of this many bytes, together with others: longer ones do not
/// benefit. Empty ones are not sent.
pub fn goes_along(bytes: u64) -> bool {
    (1..=MOST_ALONG).contains(&bytes)
}

/// Sizes that a rank sends to its leader, from its arguments. `None` if MPI gives all of them to
/// all ranks.
pub fn row(amount: &Amount, rank: usize) -> Option<Vec<u64>> {
    match amount {
        Amount::Blocks(blocks) => Some(vec![blocks[rank]]),
        Amount::Exchanged { sent, received } => Some([sent.as_slice(), received].concat()),
        _ => None,
    }
}

/// True if the ranks of a cluster send sizes to its leader: the root knows all sizes.
fn sends_sizes(problem: &Problem, cluster: Cluster) -> bool {
    !problem.operation.has_root() || cluster != problem.root_cluster()
}

/// Members of `rank`'s cluster, from low to high, if `rank` is the leader that receives their
/// sizes.
fn told_by<'a>(problem: &Problem<'a>, rank: usize) -> Option<&'a [usize]> {
    let clusters: &'a Clusters = problem.clusters;
    let here = clusters.of(rank);
    let is_told = problem.leader(here) == rank && sends_sizes(problem, here);
    is_told.then(|| clusters.members(here))
}

/// Number of rows that a rank has afterwards: its own, or one of each rank of its cluster.
pub fn rows(problem: &Problem, rank: usize) -> usize {
    told_by(problem, rank).map_or(1, <[usize]>::len)
}

/// Plan by which `rank` sends its row of `sizes` sizes, the input, and its leader receives all rows
/// of the cluster, from low to high, as its output.
pub fn plan(problem: &Problem, rank: usize, sizes: usize) -> Plan {
    let bytes = sizes as u64 * SIZE;
    let own = Range::input(0, bytes);
    let here = problem.clusters.of(rank);
    Builder::plan(Flow::WHOLE, |steps| match told_by(problem, rank) {
        Some(members) => {
            for (place, &member) in members.iter().enumerate() {
                let into = Range::output(place as u64 * bytes, bytes);
                match member == rank {
                    true => steps.copy(own, into),
                    false => steps.receive(member, into),
                }
            }
        }
        None if sends_sizes(problem, here) => steps.send(problem.leader(here), own),
        None => (),
    })
}

/// Amount of a call for `rank` after it has received these rows, those of its output, or none.
pub fn learn(problem: &Problem, rank: usize, rows: &[u64]) -> Amount {
    let members = told_by(problem, rank);
    match (problem.amount, members) {
        (Amount::Blocks(own), members) => {
            let mut blocks = own.clone();
            for (&member, &size) in members.unwrap_or_default().iter().zip(rows) {
                blocks[member] = size;
            }
            Amount::ToldBlocks(blocks)
        }
        (Amount::Exchanged { sent, received }, None) => Amount::ToldRows {
            sent: sent.clone(),
            received: received.clone(),
        },
        (Amount::Exchanged { .. }, Some(_)) => {
            let ranks = problem.ranks();
            let half = |which: usize| {
                let rows = rows.chunks_exact(2 * ranks);
                rows.flat_map(|row| &row[which * ranks..(which + 1) * ranks])
                    .copied()
                    .collect()
            };
            Amount::ToldRows {
                sent: half(0),
                received: half(1),
            }
        }
        (known, _) => known.clone(),
    }
}

/// Units from one rank to another in an exchange, as known by `rank`: it is one of both, or leads
/// the cluster of one, or all ranks know all sizes.
pub fn pair(problem: &Problem, rank: usize, from: usize, to: usize) -> u64 {
    let ranks = problem.ranks();
    match problem.amount {
        Amount::Exchanged { sent, .. } if from == rank => sent[to],
        Amount::Exchanged { received, .. } if to == rank => received[from],
        Amount::ToldRows { sent, received } => {
            let place = |of: usize| match sent.len() > ranks {
                true => {
                    let members = problem.clusters.members(problem.clusters.of(rank));
                    members.binary_search(&of).ok()
                }
                false => (of == rank).then_some(0),
            };
            match (place(from), place(to)) {
                (Some(row), _) => sent[row * ranks + to],
                (None, Some(row)) => received[row * ranks + from],
                (None, None) => 0,
            }
        }
        _ => problem.pair(from, to),
    }
}
