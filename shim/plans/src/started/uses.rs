//! Handles of the application's objects that an operation uses.

use treepie_collective::Operation;
use treepie_mpi::native::Native;
use treepie_mpi::{Call, Handle, Word};

/// Handles of objects that an operation uses until it ends, and that the application may free
/// earlier.
#[derive(Debug, Default)]
pub struct Uses(Vec<Word>);

impl Uses {
    /// Returns those of a call whose sides have these numbers of blocks.
    pub fn of(native: &Native, call: &Call, (sent, received): (usize, usize)) -> Self {
        let mut used = vec![
            call.op.word(),
            call.send.datatype.word(),
            call.receive.datatype.word(),
        ];
        if let Operation::Alltoallw | Operation::NeighborAlltoallw = call.operation {
            let sides = [(&call.send, sent), (&call.receive, received)];
            // A side in place has no types.
            let sides = sides
                .iter()
                .filter(|(side, _)| side.buffer != native.abi.in_place);
            for &(side, blocks) in sides.filter(|(side, _)| !side.datatypes.is_absent()) {
                let read = |rank| side.datatypes.at(native, rank);
                used.extend((0..blocks).map(|block| read(block).word()));
            }
        }
        let mask = native.handle_mask();
        used.iter_mut().for_each(|word| *word &= mask);
        used.retain(|&word| word != 0 && !native.is_lasting(word));
        used.sort_unstable();
        used.dedup();
        Uses(used)
    }

    /// True if this one is among them.
    pub fn contains(&self, handle: Word) -> bool {
        self.0.contains(&handle)
    }
}
