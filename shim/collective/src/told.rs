//! What ranks tell the leader of their cluster of the sizes that MPI tells them alone, so that
//! blocks of several ranks can go between clusters in one message, in the same call.
//!
//! ```text
//!   1  each rank --its sizes--> leader of its cluster        in the cluster, nothing comes back
//!   2  the call, by a plan of what each rank knows now       between clusters: one latency
//! ```
//!
//! | collective | MPI tells | then the leader of cluster A knows | and with it |
//! |---|---|---|---|
//! | `Gatherv`, `Scatterv` | the root all sizes, each other rank its own | those of A | the root |
//! | `Alltoallv/w` | each rank its row and column | those of A | the leader of B, between both |
//!
//! # Why ranks never disagree
//!
//! MPI has the amounts of each pair of ranks equal, in bytes whatever the datatypes are. So each
//! number of bytes that a plan depends on is one that all who take part in its message have from
//! their own arguments, or were told by a rank that has:
//!
//! * whether a block goes through leaders is said by its size alone ([`goes_along`]), which its
//!   sender, its receiver, and the leaders of both have: nobody has to tell members what was
//!   decided, and no number that only some have (such as a mean over pairs) decides;
//! * a message between leaders has the blocks that go along, of all pairs of the two clusters, in
//!   an order that all know. Both have the sizes of all of them, one from its senders, the other
//!   from its receivers;
//! * whether ranks tell each other at all is a function of the algorithm, on which all agree.
//!
//! Nobody waits in step 1 but leaders, and those for ranks of their cluster alone, which send
//! what they tell before anything else. So step 1 ends wherever all ranks enter the call.

use crate::clusters::Clusters;
use crate::plan::builder::Builder;
use crate::plan::range::Range;
use crate::plan::step::Plan;
use crate::problem::{Amount, Problem};
use crate::steps::Flow;

/// Blocks of up to so many bytes go through leaders. What a message costs a wide-area link beside
/// its bytes is gained; of blocks of a kilobyte that is less than their way to the leader takes.
const MOST_ALONG: u64 = 512;

/// With more ranks than this, leaders are told more than exchanges of small blocks gain.
pub const MOST_RANKS: usize = 128;

/// Bytes of a size.
const SIZE: u64 = size_of::<u64>() as u64;

/// Whether a block of so many bytes goes through the leaders of clusters, together with others:
/// longer ones gain nothing by it. Nothing goes nowhere.
pub fn goes_along(bytes: u64) -> bool {
    (1..=MOST_ALONG).contains(&bytes)
}

/// The sizes that a rank tells: what is in its arguments. `None` where MPI tells all of them to all
/// ranks.
pub fn row(amount: &Amount, rank: usize) -> Option<Vec<u64>> {
    match amount {
        Amount::Blocks(blocks) => Some(vec![blocks[rank]]),
        Amount::Exchanged { sent, received } => Some([sent.as_slice(), received].concat()),
        _ => None,
    }
}

/// Whether the ranks of a cluster tell its leader: the root knows all sizes.
fn tells(problem: &Problem, cluster: usize) -> bool {
    !problem.operation.has_root() || cluster != problem.root_cluster()
}

/// Who hears of the sizes of `rank`'s cluster, if it is this rank: the members, from low to high.
fn told_by<'a>(problem: &Problem<'a>, rank: usize) -> Option<&'a [usize]> {
    let clusters: &'a Clusters = problem.clusters;
    let here = clusters.of(rank);
    let is_told = problem.leader(here) == rank && tells(problem, here);
    is_told.then(|| clusters.members(here))
}

/// How many rows a rank has when it was told: its own, or one of each rank of its cluster.
pub fn rows(problem: &Problem, rank: usize) -> usize {
    told_by(problem, rank).map_or(1, <[usize]>::len)
}

/// The plan by which `rank` tells its row of so many sizes, the input, and its leader gets all rows
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
        None if tells(problem, here) => steps.send(problem.leader(here), own),
        None => (),
    })
}

/// The amount of a call as `rank` knows it when it was told these rows, those of its output, or
/// none.
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

/// Units that go from one rank to another in an exchange, as `rank` knows them: it is one of both,
/// or leads the cluster of one, or all know all.
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
