//! Allgather in pairs: each rank exchanges with its two neighbours in turn, first
//! its own block, then the two that it got last.
//!
//! ```text
//! 6 ranks: which blocks rank 0 has
//!   0     | from 1: 1 | from 5: 4 5 | from 1: 2 3
//! ```
//!
//! Source: Chen, Zhang, Zhang, Yuan, "Performance Evaluation of Allgather
//! Algorithms on Terascale Linux Cluster with Fast Ethernet" (2005).

use crate::collective::read::traffic::blocks::Blocks;
use crate::collective::read::traffic::messages::Messages;

/// Among an even number of ranks.
pub(super) fn allgather(messages: &mut Messages, blocks: &Blocks) {
    let size = messages.size();
    let partner = |rank: usize, round: usize| match (rank + round).is_multiple_of(2) {
        true => (rank + 1) % size,
        false => (rank + size - 1) % size,
    };
    for rank in 0..size {
        messages.send(rank, partner(rank, 0), blocks.one(rank));
    }
    // The first block of the pair that each rank got last; at first its own pair.
    let mut latest: Vec<usize> = (0..size).map(|rank| rank & !1).collect();
    for round in 1..size / 2 {
        for (rank, &pair) in latest.iter().enumerate() {
            messages.send(rank, partner(rank, round), blocks.around(pair, 2));
        }
        latest = (0..size).map(|rank| latest[partner(rank, round)]).collect();
    }
}
