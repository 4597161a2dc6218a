//! `Scan` and `Exscan` between clusters in two latencies, for any numbering of ranks.
//!
//! Consecutive ranks in one cluster are a *run*. A run's prefixes are computed along it, inside its
//! cluster. Each cluster owns a block of the message in the sums of all runs: its leader computes
//! the prefixes of the runs, and sends them to the runs' first ranks. Each uplink carries a run's
//! sum and its prefix once; a chain over ranks needs a latency at the end of every run.
//!
//! ```text
//!   clusters a: 0 1 4 5   b: 2 3 6 7         runs: 0-1, 2-3, 4-5, 6-7
//!   inside:       1, 3, 5, 7 have the sums of their runs
//!   first half:   1, 3, 5 --> 0 (leads a) --> 2, 4, 6    what is before their runs
//!   second half:  1, 3, 5 --> 2 (leads b) --> 2, 4, 6    and on to 3, 5, 7
//! ```

use crate::algorithms::by_cluster::allgather;
use crate::algorithms::trees::Slots;
use crate::clusters::Clusters;
use crate::operation::Operation;
use crate::plan::range::Range;
use crate::problem::{Problem, share};
use crate::steps::Steps;

/// Consecutive ranks in one cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Lowest rank.
    pub first: usize,
    /// Highest rank.
    pub last: usize,
}

/// Runs of all clusters, from low to high ranks.
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

/// Computes the prefixes of one run in the outputs, along it, segment by segment. Returns the range
/// of the sum up to this rank; if no rank of the run needs that sum, it exists only if it is
/// `kept`.
pub fn along(problem: &Problem, rank: usize, steps: &mut dyn Steps, run: Run, kept: bool) -> Range {
    let inclusive = problem.operation == Operation::Scan;
    let length = problem.block(rank);
    let (own, output) = (Range::input(0, length), Range::output(0, length));
    let next = (rank < run.last).then_some(rank + 1);
    let mut slots = Slots::new(steps, length, 2);
    if rank == run.first {
        if inclusive {
            steps.copy(own, output);
        }
        if let Some(next) = next {
            steps.send(next, own);
        }
        return own;
    }
    let scratch = match kept && !inclusive {
        true => steps.scratch(length),
        false => output,
    };
    let mut done = 0;
    for own in steps.segments(own) {
        let (start, length) = (done, own.length);
        done += length;
        let result = output.part(start, length);
        let (before, sum) = match (inclusive, kept) {
            (true, _) => (slots.next(length), result),
            (false, true) => (result, scratch.part(start, length)),
            (false, false) => (result, slots.next(length)),
        };
        steps.receive_segment(rank - 1, before);
        if inclusive || kept || next.is_some() {
            steps.copy(own, sum);
            steps.reduce(before, sum);
        }
        if let Some(next) = next {
            steps.send_segment(next, sum);
        }
    }
    scratch
}

/// Block of the message for which a rank computes the prefixes of all runs: start and length.
struct Block {
    owner: usize,
    start: u64,
    length: u64,
}

/// Blocks of the message, the one of this rank's own cluster last: not all send to the same one
/// first.
fn blocks(problem: &Problem, rank: usize) -> Vec<Block> {
    let clusters = problem.clusters;
    let here = clusters.of(rank);
    let order = clusters.others(here).chain([here]);
    order
        .map(|cluster| {
            let (start, length) = share(problem.block(rank), clusters.count(), cluster.0);
            Block {
                owner: problem.leader(cluster),
                start,
                length,
            }
        })
        .collect()
}

/// `Scan` and `Exscan`.
pub fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let runs = runs(problem.clusters);
    let at = runs.partition_point(|run| run.last < rank);
    let (run, length) = (runs[at], problem.block(rank));
    let gives = rank == run.last && at + 1 < runs.len();
    let sum = along(problem, rank, steps, run, gives);
    let blocks = blocks(problem, rank);
    if gives {
        for block in blocks.iter().filter(|block| block.owner != rank) {
            steps.send(block.owner, sum.part(block.start, block.length));
        }
    }
    let before = match at {
        0 => Range::output(0, 0),
        _ => steps.scratch(length),
    };
    for block in blocks.iter().filter(|block| block.owner == rank) {
        prefixes(steps, &runs, rank, block, sum, before);
    }
    if at == 0 {
        return;
    }
    for block in &blocks {
        for segment in steps.segments(before.part(block.start, block.length)) {
            match rank == run.first {
                true if block.owner == rank => (),
                true => steps.receive_segment(block.owner, segment),
                false => steps.receive_segment(rank - 1, segment),
            }
            if rank < run.last {
                steps.send_segment(rank + 1, segment);
            }
            let result = Range::output(segment.start - before.start, segment.length);
            match rank == run.first && problem.operation == Operation::Exscan {
                true => steps.copy(segment, result),
                false => steps.reduce(segment, result),
            }
        }
    }
}

/// Steps of the owner of a block: adds up the sums of runs, and sends each run the sum `before` it.
/// Its own `sum` is that of its run, if it ends the run; `before` receives the sum before the run
/// that it starts.
fn prefixes(
    steps: &mut dyn Steps,
    runs: &[Run],
    rank: usize,
    block: &Block,
    sum: Range,
    before: Range,
) {
    let mut slots = Slots::new(steps, block.length, runs.len());
    let mut done = block.start;
    let segments = steps.segments(Range::output(block.start, block.length));
    for length in segments.map(|segment| segment.length) {
        let start = done;
        done += length;
        let mut reduced: Option<Range> = None;
        for (number, run) in runs.iter().enumerate() {
            match reduced {
                Some(reduced) if run.first == rank => {
                    steps.copy(reduced, before.part(start, length));
                }
                Some(reduced) => steps.send_segment(run.first, reduced),
                None => (),
            }
            if number + 1 == runs.len() {
                break;
            }
            let incoming = slots.next(length);
            match run.last == rank {
                true => steps.copy(sum.part(start, length), incoming),
                false => steps.receive_segment(run.last, incoming),
            }
            if let Some(reduced) = reduced {
                steps.reduce(reduced, incoming);
            }
            reduced = Some(incoming);
        }
    }
}

/// Exchanges all operands between all ranks, along the clusters; each rank reduces those before its
/// own. One latency between clusters for any numbering of ranks, and every message is sent
/// everywhere.
pub fn gathered(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let length = problem.block(rank);
    let all = steps.scratch(problem.total());
    allgather::collect(problem, rank, steps, all);
    let of = |rank: usize| all.part(rank as u64 * length, length);
    let last = match problem.operation {
        Operation::Scan => Some(rank),
        _ => rank.checked_sub(1),
    };
    if let Some(last) = last {
        for next in 1..=last {
            steps.reduce(of(next - 1), of(next));
        }
        steps.copy(of(last), Range::output(0, length));
    }
}
