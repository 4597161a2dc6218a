//! `Reduce_scatter` and `Reduce_scatter_block`.

use super::trees::Waiting;
use crate::schedule::plan::Range;
use crate::schedule::{Builder, Problem};

/// Everyone sends each its part, and reduces what comes in the order of ranks.
pub fn pairwise(problem: &Problem, rank: usize, builder: &mut Builder) {
    let ranks = problem.ranks();
    let part = |owner: usize| Range::input(problem.start(owner), problem.part(owner));
    for distance in 1..ranks {
        let to = (rank + distance) % ranks;
        builder.send(to, part(to));
    }
    let own = part(rank);
    let mut waiting = Waiting::new(builder, own.length, ranks);
    let mut done = 0;
    for piece in builder.pieces(own) {
        let mut reduced: Option<Range> = None;
        for from in 0..ranks {
            let incoming = waiting.next(piece.length);
            match from == rank {
                true => builder.copy(piece, incoming),
                false => builder.receive_piece(from, incoming),
            }
            if let Some(before) = reduced {
                builder.reduce(before, incoming);
            }
            reduced = Some(incoming);
        }
        if let Some(reduced) = reduced {
            builder.copy(reduced, Range::output(done, piece.length));
        }
        done += piece.length;
    }
}
