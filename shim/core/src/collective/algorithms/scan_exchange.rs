//! `Scan` and `Exscan` between clusters in two latencies, however ranks are numbered.
//!
//! Ranks that follow each other in one cluster are a *run*. A run's prefixes are made along it, inside its cluster.
//! Of the sums of all runs each cluster has a part of the message: its coordinator makes the prefixes of the runs, and
//! sends them to where they start. Each uplink carries a run's sum and its prefix once, where a chain over ranks
//! needs a latency at the end of every run.
//!
//! ```text
//!   clusters a: 0 1 4 5   b: 2 3 6 7         runs: 0-1, 2-3, 4-5, 6-7
//!   inside:       1, 3, 5, 7 have the sums of their runs
//!   first half:   1, 3, 5 --> 0 (speaks for a) --> 2, 4, 6    what is before their runs
//!   second half:  1, 3, 5 --> 2 (speaks for b) --> 2, 4, 6    and on to 3, 5, 7
//! ```

use super::trees::Waiting;
use crate::collective::Operation;
use crate::collective::plan::Range;
use crate::collective::problem::share;
use crate::collective::{Builder, Clusters, Problem};

/// Ranks that follow each other in one cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The lowest rank.
    pub first: usize,
    /// The highest.
    pub last: usize,
}

/// The runs of all clusters, from low to high ranks.
pub fn runs(clusters: &Clusters) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for rank in 0..clusters.ranks() {
        match runs.last_mut() {
            Some(run) if clusters.of(run.last) == clusters.of(rank) => run.last = rank,
            _ => runs.push(Run {
                first: rank,
                last: rank,
            }),
        }
    }
    runs
}

/// The prefixes of one run in the outputs, along it, piece by piece. Gives where the sum up to this rank is; where
/// nobody in the run needs it, there is one only if it is `kept`.
pub fn along(problem: &Problem, rank: usize, builder: &mut Builder, run: Run, kept: bool) -> Range {
    let inclusive = problem.operation == Operation::Scan;
    let length = problem.part(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let next = (rank < run.last).then_some(rank + 1);
    let mut waiting = Waiting::new(builder, length, 2);
    if rank == run.first {
        if inclusive {
            builder.copy(own, output);
        }
        if let Some(next) = next {
            builder.send(next, own);
        }
        return own;
    }
    let room = match kept && !inclusive {
        true => builder.scratch(length),
        false => output,
    };
    let mut done = 0;
    for own in builder.pieces(own) {
        let (start, length) = (done, own.length);
        done += length;
        let result = output.part(start, length);
        let (before, sum) = match (inclusive, kept) {
            (true, _) => (waiting.next(length), result),
            (false, true) => (result, room.part(start, length)),
            (false, false) => (result, waiting.next(length)),
        };
        builder.receive_piece(rank - 1, before);
        if inclusive || kept || next.is_some() {
            builder.copy(own, sum);
            builder.reduce(before, sum);
        }
        if let Some(next) = next {
            builder.send_piece(next, sum);
        }
    }
    room
}

/// A rank that makes the prefixes of all runs for a part of the message: start and length.
struct Part {
    owner: usize,
    start: u64,
    length: u64,
}

/// The parts of the message, the one of this rank's own cluster last: not all send to the same one first.
fn parts(problem: &Problem, rank: usize) -> Vec<Part> {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let order = clusters.others(here).chain([here]);
    order
        .map(|cluster| {
            let (start, length) = share(problem.part(rank), clusters.count(), cluster);
            Part {
                owner: problem.leader(cluster),
                start,
                length,
            }
        })
        .collect()
}

/// `Scan` and `Exscan`.
pub fn exchange(problem: &Problem, rank: usize, builder: &mut Builder) {
    let runs = runs(problem.clusters);
    let at = runs.partition_point(|run| run.last < rank);
    let (run, length) = (runs[at], problem.part(rank));
    let gives = rank == run.last && at + 1 < runs.len();
    let sum = along(problem, rank, builder, run, gives);
    let parts = parts(problem, rank);
    if gives {
        for part in parts.iter().filter(|part| part.owner != rank) {
            builder.send(part.owner, sum.part(part.start, part.length));
        }
    }
    let before = match at {
        0 => Range::output(0, 0),
        _ => builder.scratch(length),
    };
    for part in parts.iter().filter(|part| part.owner == rank) {
        prefixes(builder, &runs, rank, part, sum, before);
    }
    if at == 0 {
        return;
    }
    for part in &parts {
        for piece in builder.pieces(before.part(part.start, part.length)) {
            match rank == run.first {
                true if part.owner == rank => (),
                true => builder.receive_piece(part.owner, piece),
                false => builder.receive_piece(rank - 1, piece),
            }
            if rank < run.last {
                builder.send_piece(rank + 1, piece);
            }
            let result = Range::output(piece.start - before.start, piece.length);
            match rank == run.first && problem.operation == Operation::Exscan {
                true => builder.copy(piece, result),
                false => builder.reduce(piece, result),
            }
        }
    }
}

/// What the owner of a part does: it adds up the sums of runs, and sends each what is before it. Its own `sum` is that
/// of its run if it ends it; what is `before` a run that it starts goes there.
fn prefixes(
    builder: &mut Builder,
    runs: &[Run],
    rank: usize,
    part: &Part,
    sum: Range,
    before: Range,
) {
    let mut waiting = Waiting::new(builder, part.length, runs.len());
    let mut done = part.start;
    let pieces = builder.pieces(Range::output(part.start, part.length));
    for length in pieces.map(|piece| piece.length) {
        let start = done;
        done += length;
        let mut reduced: Option<Range> = None;
        for (number, run) in runs.iter().enumerate() {
            match reduced {
                Some(reduced) if run.first == rank => {
                    builder.copy(reduced, before.part(start, length));
                }
                Some(reduced) => builder.send_piece(run.first, reduced),
                None => (),
            }
            if number + 1 == runs.len() {
                break;
            }
            let incoming = waiting.next(length);
            match run.last == rank {
                true => builder.copy(sum.part(start, length), incoming),
                false => builder.receive_piece(run.last, incoming),
            }
            if let Some(reduced) = reduced {
                builder.reduce(reduced, incoming);
            }
            reduced = Some(incoming);
        }
    }
}
