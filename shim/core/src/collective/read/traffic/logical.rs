//! What a collective means, whatever carries it out: who has data that whom gets.

use crate::collective::operation::Operation;
use crate::collective::read::traffic::blocks::Blocks;
use crate::collective::read::traffic::messages::Messages;
use crate::collective::read::traffic::pairwise;
use crate::collective::read::traffic::tree::{self, Flow};

/// Barriers, broadcasts, reductions and scans of one message of `bytes` bytes:
/// root to all, all to root, all to all, or each rank to those after it.
pub(super) fn message(messages: &mut Messages, operation: Operation, root: usize, bytes: u64) {
    match operation {
        Operation::Bcast => tree::linear(messages, root, Flow::FromRoot, |_, _| bytes),
        Operation::Reduce => tree::linear(messages, root, Flow::ToRoot, |_, _| bytes),
        Operation::Scan | Operation::Exscan => {
            for to in 0..messages.size() {
                for from in 0..to {
                    messages.send(from, to, bytes);
                }
            }
        }
        _ => pairwise::exchange(messages, |_, _| bytes),
    }
}

/// Gathers, scatters and reduce-scatters of one block for each rank.
pub(super) fn blocks(messages: &mut Messages, operation: Operation, root: usize, blocks: &Blocks) {
    let bytes = |first: usize, count: usize| blocks.around(root + first, count);
    match operation {
        Operation::Gather | Operation::Gatherv => tree::linear(messages, root, Flow::ToRoot, bytes),
        Operation::Scatter | Operation::Scatterv => {
            tree::linear(messages, root, Flow::FromRoot, bytes);
        }
        Operation::Allgather | Operation::Allgatherv => {
            pairwise::exchange(messages, |from, _| blocks.one(from));
        }
        _ => pairwise::exchange(messages, |_, to| blocks.one(to)),
    }
}
