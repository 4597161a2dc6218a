//! Collectives that the thesis describes and does not measure (its chapter 5): barriers (5.3, item
//! 29), reductions (5.4, item 30), allreduces (5.6, item 32) and allgathers (5.7, item 33).
//! Operands of reductions have `bytes` bytes each, and so does the block of each process.

use crate::models::group::{Group, ceil_log2, doubling_blocks, floor_log2};
use crate::models::segment;
use crate::models::tables_6_1_and_6_2::Broadcast;
use treepie_collective::network::Computing;

/// A barrier: gather and release along a binomial tree.
pub fn barrier_binomial(group: Group<'_>) -> f64 {
    2.0 * group.rounds() * group.timing.delivery(0)
}

/// A barrier in which every process sends to rank + 2^k in round k.
pub fn barrier_dissemination(group: Group<'_>) -> f64 {
    group.rounds() * group.timing.delivery(0)
}

/// Every process sends to the root, which computes.
pub fn reduce_flat(group: Group<'_>, computing: Computing, bytes: u64) -> f64 {
    let step = group.timing.gap(bytes) + computing.seconds(bytes);
    match group.processes {
        1 => 0.0,
        _ => group.latency(bytes) + group.others() * step,
    }
}

/// Partial results up a binomial tree.
pub fn reduce_binomial(group: Group<'_>, computing: Computing, bytes: u64) -> f64 {
    let step = group.timing.gap(bytes) + computing.seconds(bytes);
    group.rounds() * group.latency(bytes) + group.gaps() * step
}

/// Reduce-scatter by halves, then a binomial gather (Rabenseifner).
pub fn reduce_scatter_gather(group: Group<'_>, computing: Computing, bytes: u64) -> f64 {
    let compute = computing.seconds(bytes - bytes / group.processes as u64);
    folding(group, bytes, computing) + 2.0 * halving(group, bytes) + compute
}

/// Partial results along a chain, in segments of `cut` bytes.
pub fn reduce_chain(group: Group<'_>, computing: Computing, bytes: u64, cut: u64) -> f64 {
    let cut = cut.clamp(1, bytes.max(1));
    let count = segment::segments(bytes, cut) as f64;
    let step = group.timing.gap(cut) + computing.seconds(cut);
    match group.processes {
        1 => 0.0,
        _ => group.others() * (step + group.latency(cut)) + step * (count - 1.0),
    }
}

/// Binomial reduction, binomial broadcast.
pub fn allreduce_binomial(group: Group<'_>, computing: Computing, bytes: u64) -> f64 {
    reduce_binomial(group, computing, bytes) + Broadcast::Binomial.seconds(group, bytes, bytes)
}

/// In round k every process exchanges all data with rank xor 2^k.
pub fn allreduce_doubling(group: Group<'_>, computing: Computing, bytes: u64) -> f64 {
    let round = group.timing.delivery(bytes) + computing.seconds(bytes);
    let exchanged = f64::from(floor_log2(group.processes)) * round;
    folding(group, bytes, computing) + exchanged + unfolding(group, bytes)
}

/// Reduce-scatter by halves, allgather by doubling (Rabenseifner).
pub fn allreduce_halving(group: Group<'_>, computing: Computing, bytes: u64) -> f64 {
    reduce_scatter_gather(group, computing, bytes) + unfolding(group, bytes)
}

/// Reduce-scatter and allgather around a ring.
pub fn allreduce_ring(group: Group<'_>, computing: Computing, bytes: u64) -> f64 {
    let block = bytes.div_ceil(group.processes as u64);
    let step = group.timing.gap(block) + group.latency(block);
    group.others() * (2.0 * step + computing.seconds(block))
}

/// Blocks are passed around a ring.
pub fn allgather_ring(group: Group<'_>, bytes: u64) -> f64 {
    group.others() * group.timing.delivery(bytes)
}

/// In round k every process sends 2^k blocks to rank - 2^k.
pub fn allgather_bruck(group: Group<'_>, bytes: u64) -> f64 {
    let delivery = |blocks: u64| group.timing.delivery(blocks.saturating_mul(bytes));
    doubling_blocks(group.processes).map(delivery).sum()
}

/// Messages of a half, a quarter, ... of `bytes`: one direction of recursive halving or doubling
/// among the largest power of two of processes.
fn halving(group: Group<'_>, bytes: u64) -> f64 {
    let sizes = (1..=floor_log2(group.processes)).map(|round| bytes >> round);
    sizes
        .map(|size| group.timing.gap(size) + group.latency(size))
        .sum()
}

/// Cost of processes beyond a power of two: they send their operand before the halving.
fn folding(group: Group<'_>, bytes: u64, computing: Computing) -> f64 {
    match ceil_log2(group.processes) == floor_log2(group.processes) {
        true => 0.0,
        false => group.timing.delivery(bytes) + computing.seconds(bytes),
    }
}

/// Cost of sending the result to these processes at the end.
fn unfolding(group: Group<'_>, bytes: u64) -> f64 {
    match group.processes.is_power_of_two() {
        true => 0.0,
        false => group.timing.delivery(bytes),
    }
}
