//! Scatter and gather (thesis table 6.3, items 31 and 43). The size is that of ONE process's
//! message. Gather is a reversed scatter: the times are the same.

use crate::models::group::{Form, Group, ceil_log2, doubling_blocks, floor_log2};

/// A strategy of scatter or gather inside a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scatter {
    /// The root sends to each.
    Flat,
    /// Each process forwards the messages of those behind it.
    Chain,
    /// The root sends half of it to another process, and both continue.
    Binomial,
}

impl Scatter {
    /// All strategies, in the order of table 6.3.
    pub const ALL: [Scatter; 3] = [Scatter::Flat, Scatter::Chain, Scatter::Binomial];

    /// Seconds, with `bytes` for each process.
    pub fn seconds(self, group: Group<'_>, bytes: u64) -> f64 {
        if group.processes == 1 {
            return 0.0;
        }
        let gap = |blocks: u64| group.timing.gap(blocks.saturating_mul(bytes));
        let latency = |blocks: u64| group.latency(blocks.saturating_mul(bytes));
        match self {
            Scatter::Flat => latency(1) + group.others() * gap(1),
            Scatter::Chain => (1..group.processes as u64)
                .map(|blocks| latency(blocks) + gap(blocks))
                .sum(),
            Scatter::Binomial => match group.form {
                Form::Thesis => {
                    let gaps: f64 = (0..floor_log2(group.processes)).map(|j| gap(1 << j)).sum();
                    group.rounds() * latency(1) + gaps
                }
                Form::Corrected => binomial_path(group, bytes),
            },
        }
    }
}

/// Numbers of blocks that the root of a binomial scatter sends, the largest first: P/2, P/4, ... 1
/// for a power of two; their sum is P - 1.
pub(super) fn binomial_sizes(processes: usize) -> impl Iterator<Item = u64> {
    let mut sizes: Vec<u64> = doubling_blocks(processes).collect();
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    sizes.into_iter()
}

/// The corrected time: the root is free after all its sends; a process served in a round continues
/// with its blocks. The slowest path is that of the last leaf of the root, or of a leaf with the
/// largest messages on every hop.
fn binomial_path(group: Group<'_>, bytes: u64) -> f64 {
    let timing = group.timing;
    // The times of the trees of 1 to P processes below a node that has its blocks, by size: the
    // rounded halves repeat, so that few sizes occur.
    fn below(processes: usize, cost: &impl Fn(u64) -> (f64, f64), depth: u32) -> f64 {
        if processes <= 1 || depth == 0 {
            return 0.0;
        }
        let sent = processes / 2;
        let (gap, latency) = cost(sent as u64);
        let served = gap + latency + below(sent, cost, depth - 1);
        served.max(gap + below(processes - sent, cost, depth - 1))
    }
    let cost = |blocks: u64| {
        let size = blocks.saturating_mul(bytes);
        (timing.gap(size), group.latency(size))
    };
    let deepest = ceil_log2(group.processes);
    match group.processes.is_power_of_two() {
        // All halves are equal: the path over every hop is the longest.
        true => (0..deepest)
            .map(|round| {
                let (gap, latency) = cost(1 << round);
                gap + latency
            })
            .sum(),
        false => below(group.processes, &cost, deepest + 1),
    }
}
