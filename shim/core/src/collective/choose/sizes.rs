//! Into which messages a strategy cuts what it sends: sizes are tried from large to small, as
//! long as smaller ones gain more than their work costs.

use super::Known;
use crate::collective::Operation;
use crate::collective::read::estimate::{Costed, Scene};

/// Sizes of messages that are tried, below the whole one, as far as they go at once.
const PIECES: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 48 << 10];

/// The largest message that is taken to go at once where neither the network nor the MPI says it.
pub(super) const USUAL_EAGER_LIMIT: u64 = 48 << 10;

/// The sizes that are tried where messages of up to `eager` bytes go at once.
pub(super) fn pieces(eager: u64) -> Vec<u64> {
    let mut sizes: Vec<u64> = PIECES.into_iter().filter(|&size| size <= eager).collect();
    // The limit itself, where it is well above the last one and below the next.
    let is_apart = sizes.last().is_none_or(|&last| 4 * eager > 5 * last);
    if is_apart && sizes.len() < PIECES.len() {
        sizes.push(eager);
    }
    sizes
}

/// Smaller messages must gain this much: each costs its ranks some work that is known less well than links are.
const WORTH_CUTTING: f64 = 0.98;

/// What each piece of a reduction whose result all get costs beside its messages, in seconds: every rank
/// of a host is woken several times to add up and pass on, which is seen where ranks share processors.
/// Measured with 16 ranks on two cores: 40 to 90 microseconds.
const WORK_OF_A_PIECE: f64 = 40e-6;

/// The same for each piece of the blocks that all get from all, and that ranks hand on: measured there,
/// 250 microseconds.
const WORK_OF_A_PIECE_OF_ALL: f64 = 250e-6;

/// What smaller messages must gain where their work is known, or where ranks only pass them on.
const WORTH_CUTTING_KNOWN: f64 = 0.99;

/// Into so many pieces a message is cut at most: MPIs look through lists of all that are under way,
/// and the costs of single messages do not tell.
pub(super) const MOST_PIECES: u64 = 512;

impl Known {
    /// The messages, from small to large, into which so many bytes may be cut: not more than
    /// [`MOST_PIECES`] of them, if they need not be.
    pub(super) fn pieces_of(&self, bytes: u64) -> &[Costed] {
        let is_small = |piece: &Costed| piece.bytes.saturating_mul(MOST_PIECES) < bytes;
        let small = self.pieces.partition_point(is_small);
        &self.pieces[small.min(self.pieces.len().saturating_sub(1))..]
    }

    /// The size of messages that suits a strategy best, and what it takes then; larger ones where
    /// there is next to nothing between them.
    pub(super) fn best_size(
        &self,
        scene: &Scene,
        operation: Operation,
        estimate: impl Fn(&Scene) -> f64,
    ) -> (u64, f64) {
        let (work_of_a_piece, worth) = match operation {
            Operation::Allgather | Operation::Allgatherv => {
                (WORK_OF_A_PIECE_OF_ALL, WORTH_CUTTING_KNOWN)
            }
            Operation::Bcast => (0.0, WORTH_CUTTING_KNOWN),
            _ if operation.reduces() && !operation.has_root() => (WORK_OF_A_PIECE, WORTH_CUTTING),
            _ => (0.0, WORTH_CUTTING),
        };
        let work = |piece: &Costed| work_of_a_piece * (scene.bytes / piece.bytes.max(1)) as f64;
        let mut best = (scene.piece.bytes.max(1), estimate(scene));
        let mut worse = 0;
        let smaller = self.pieces_of(scene.bytes).iter().rev();
        for piece in smaller.filter(|piece| piece.bytes < scene.bytes) {
            let seconds = estimate(&Scene { piece, ..*scene }) + work(piece);
            if seconds < worth * best.1 {
                best = (piece.bytes, seconds);
                worse = 0;
            } else {
                // Times fall and rise again with the number of pieces.
                worse += 1;
                if worse == 2 {
                    break;
                }
            }
        }
        best
    }
}
