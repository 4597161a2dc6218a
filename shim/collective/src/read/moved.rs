//! Bytes that a collective moves through memory: the reading of a description, or of plans, that
//! counts the units that each rank reads and writes.
//!
//! ```text
//!   message inside a host     the receiver reads it in place, and writes it
//!   message to another host   the sender's card reads it, the receiver's writes it
//!   copy                      reads and writes
//!   reduction                 reads two operands, writes one
//!   in a sweep                data received, or copied, and reduced immediately is not written and
//!                             read again: two reads, one write
//! ```
//!
//! A message that passes through blocks, or through the eager buffers of an MPI, is copied twice:
//! data for other ranks of the host is written, and read, once more ([`Moved::twice`]). Such
//! buffers stay in the caches. An MPI with single copies (CMA, XPMEM) moves [`Moved::once`], as do
//! plans with long messages; its own reductions are not done in sweeps.

use crate::algorithms::algorithm::Description;
use crate::network::links::Network;
use crate::network::memory;
use crate::plan::range::{Range, Space};
use crate::plan::step::{Action, Plan};
use crate::steps::{Flow, Steps};
use std::collections::{BTreeMap, HashSet};
use std::iter::Sum;
use std::ops::Add;

/// Units that a rank, or a host, moves through memory: bytes, if those are the units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moved {
    /// Units read.
    pub read: u64,
    /// Units written.
    pub written: u64,
    /// Units that ranks send to others of their host.
    pub handed: u64,
    /// Units of all used buffers.
    pub held: u64,
}

impl Moved {
    /// Units read and written if messages are copied once.
    pub fn once(&self) -> u64 {
        self.read.saturating_add(self.written)
    }

    /// Units read and written if messages are copied twice.
    pub fn twice(&self) -> u64 {
        self.once().saturating_add(self.handed.saturating_mul(2))
    }
}

impl Add for Moved {
    type Output = Moved;

    fn add(self, other: Moved) -> Moved {
        Moved {
            read: self.read.saturating_add(other.read),
            written: self.written.saturating_add(other.written),
            handed: self.handed.saturating_add(other.handed),
            held: self.held.saturating_add(other.held),
        }
    }
}

impl Sum for Moved {
    fn sum<I: Iterator<Item = Moved>>(all: I) -> Moved {
        all.fold(Moved::default(), Moved::add)
    }
}

/// Units that a rank moves, by its description; `host_of` is the host of each rank.
fn of_rank(description: &Description, rank: usize, host_of: &[usize]) -> Moved {
    let mut reader = Reader::new(description.problem().flow(Flow::WHOLE), rank, host_of);
    description.read(rank, &mut reader);
    reader.moved()
}

/// Units that each rank moves by its plan.
pub fn of_plans(plans: &[Plan], host_of: &[usize]) -> Vec<Moved> {
    let plans = plans.iter().enumerate();
    plans
        .map(|(rank, plan)| of_plan(plan, rank, host_of))
        .collect()
}

/// Units that the ranks of one host move together: the maximum over hosts.
pub fn of_busiest_host(all: &[Moved], host_of: &[usize]) -> Moved {
    let mut hosts: BTreeMap<usize, Moved> = BTreeMap::new();
    for (moved, host) in all.iter().zip(host_of) {
        let of_host = hosts.entry(*host).or_default();
        *of_host = *of_host + *moved;
    }
    let busiest = hosts.into_values().max_by_key(Moved::once);
    busiest.unwrap_or_default()
}

/// Units that a rank moves by its plan.
fn of_plan(plan: &Plan, rank: usize, host_of: &[usize]) -> Moved {
    let mut reader = Reader::new(Flow::WHOLE, rank, host_of);
    for step in plan.steps() {
        match step.action {
            Action::Send { to, range, .. } => reader.send_segment(to, range),
            Action::Receive { from, range, .. } => reader.receive_segment(from, range),
            Action::Reduce { left, right } => reader.reduce_segment(left, right),
            Action::Copy { from, into } => reader.copy_segment(from, into),
        }
    }
    reader.moved()
}

/// Minimum time in seconds of the plans of all ranks of a host, by the units that they move; 0
/// between hosts, whose networks are slower.
pub(crate) fn seconds_of_plans(network: &Network, plans: &[Plan], unit_bytes: u64) -> f64 {
    if !network.is_in_memory() {
        return 0.0;
    }
    let all: Moved = of_plans(plans, network.host_of()).into_iter().sum();
    let bytes = |units: u64| units as f64 * unit_bytes as f64;
    memory::seconds(bytes(all.once()), bytes(all.held))
}

/// Number of ranks that represent all others.
const LOOKED_AT: usize = 4;

/// Minimum time of a description in seconds, as [`seconds_of_plans`], from some of the ranks.
pub(crate) fn seconds(network: &Network, description: &Description) -> f64 {
    if !network.is_in_memory() {
        return 0.0;
    }
    let ranks = network.ranks();
    let some = (0..ranks).step_by(ranks.div_ceil(LOOKED_AT));
    let count = some.len();
    let all: Moved = some
        .map(|rank| of_rank(description, rank, network.host_of()))
        .sum();
    let of_all = |units: u64| units as f64 * ranks as f64 / count.max(1) as f64;
    memory::seconds(of_all(all.once()), of_all(all.held))
}

/// Adds units, up to `u64::MAX`.
fn add(count: &mut u64, units: u64) {
    *count = count.saturating_add(units);
}

/// Reader of one rank.
struct Reader<'a> {
    flow: Flow,
    rank: usize,
    host_of: &'a [usize],
    moved: Moved,
    /// Ends of input, output and scratch memory.
    ends: [u64; 3],
    /// Ranges that were received from this host, or copied, and that have not been read yet.
    received: HashSet<Range>,
    copied: HashSet<Range>,
}

impl<'a> Reader<'a> {
    fn new(flow: Flow, rank: usize, host_of: &'a [usize]) -> Self {
        Reader {
            flow,
            rank,
            host_of,
            moved: Moved::default(),
            ends: [0; 3],
            received: HashSet::new(),
            copied: HashSet::new(),
        }
    }

    fn moved(&self) -> Moved {
        Moved {
            held: self
                .ends
                .iter()
                .fold(0, |all, &end| all.saturating_add(end)),
            ..self.moved
        }
    }

    fn is_near(&self, other: usize) -> bool {
        self.host_of[self.rank] == self.host_of[other]
    }

    fn reads(&mut self, range: Range) {
        self.holds(range);
        add(&mut self.moved.read, range.length);
    }

    fn writes(&mut self, range: Range) {
        self.holds(range);
        add(&mut self.moved.written, range.length);
    }

    fn holds(&mut self, range: Range) {
        let end = &mut self.ends[range.space as usize];
        *end = range.end().max(*end);
    }

    /// Records that another step reads a range, which must then be in memory.
    fn is_needed(&mut self, range: Range) {
        self.received.remove(&range);
        self.copied.remove(&range);
    }
}

impl Steps for Reader<'_> {
    fn flow(&self) -> Flow {
        self.flow
    }

    fn scratch(&mut self, length: u64) -> Range {
        let start = self.ends[Space::Scratch as usize];
        self.ends[Space::Scratch as usize] += length;
        Range {
            space: Space::Scratch,
            start,
            length,
        }
    }

    fn send_segment(&mut self, to: usize, data: Range) {
        self.is_needed(data);
        self.holds(data);
        match self.is_near(to) {
            true => add(&mut self.moved.handed, data.length),
            false => self.reads(data),
        }
    }

    fn receive_segment(&mut self, from: usize, into: Range) {
        self.writes(into);
        self.is_needed(into);
        if self.is_near(from) {
            add(&mut self.moved.read, into.length);
            self.received.insert(into);
        }
    }

    fn reduce_segment(&mut self, left: Range, right: Range) {
        self.reads(left);
        self.reads(right);
        self.writes(right);
        // One of the operands may arrive during the sum.
        let comes = self.received.remove(&right) || self.received.remove(&left);
        let sweeps = u64::from(comes) + u64::from(self.copied.remove(&right));
        for moved in [&mut self.moved.read, &mut self.moved.written] {
            *moved = moved.saturating_sub(sweeps * left.length);
        }
        self.is_needed(left);
        self.is_needed(right);
    }

    fn copy_segment(&mut self, from: Range, into: Range) {
        self.is_needed(from);
        self.is_needed(into);
        if from != into {
            self.reads(from);
            self.writes(into);
            self.copied.insert(into);
        }
    }

    fn await_signal(&mut self, _from: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::algorithm::Algorithm;
    use crate::clusters::Clusters;
    use crate::operation::Operation;
    use crate::problem::Uniform;

    /// Units that each rank moves in a call of 64 bytes, with `on_host` ranks on a host.
    fn moved(operation: Operation, name: &str, ranks: usize, on_host: usize) -> Vec<Moved> {
        let call = Uniform {
            operation,
            bytes: 64,
            root: 0,
        };
        let algorithm = Algorithm::find(operation, name);
        let plans = algorithm.map(|one| one.plans(&call, None, &Clusters::one(ranks), 64));
        let host_of: Vec<usize> = (0..ranks).map(|rank| rank / on_host).collect();
        of_plans(&plans.unwrap_or_default(), &host_of)
    }

    fn counts(moved: &Moved) -> [u64; 4] {
        [moved.read, moved.written, moved.handed, moved.held]
    }

    #[test]
    fn broadcasts_read_and_write_once_for_each_receiver() {
        let all = moved(Operation::Bcast, "flat", 3, 3);
        assert_eq!(counts(&all[0]), [0, 0, 128, 64]);
        assert_eq!(counts(&all[1]), [64, 64, 0, 64]);
        assert_eq!((all[1].once(), all[0].twice()), (128, 256));
        // The sender's card reads the message to another host.
        let all = moved(Operation::Bcast, "flat", 2, 1);
        assert_eq!(counts(&all[0]), [64, 0, 0, 64]);
        assert_eq!(counts(&all[1]), [0, 64, 0, 64]);
    }

    #[test]
    fn sums_of_halves_move_half_of_what_sums_of_all_do() {
        // Halves of 32 bytes: a sum in a sweep (2 reads, 1 write), and the other half (1, 1).
        for rank in moved(Operation::Allreduce, "direct-exchange", 2, 2) {
            assert_eq!((rank.read, rank.written, rank.handed), (96, 64, 64));
        }
        // A sum in a sweep of 64 bytes, and a copy of it to the output.
        for rank in moved(Operation::Allreduce, "recursive-doubling", 2, 2) {
            assert_eq!((rank.read, rank.written, rank.handed), (192, 128, 64));
        }
    }

    #[test]
    fn of_several_operands_one_is_kept_until_the_next_has_come() {
        // Quarters of 16 bytes: three sums (2, 1), the first of which has an operand that was kept
        // (1, 1), and, to rank 0, its own; three quarters return (1, 1).
        let all = moved(Operation::Allreduce, "direct-exchange", 4, 4);
        assert_eq!((all[0].read, all[0].written), (6 * 16 + 48, 3 * 16 + 48));
        assert_eq!((all[3].read, all[3].written), (7 * 16 + 48, 4 * 16 + 48));
    }

    #[test]
    fn the_busiest_host_is_that_whose_ranks_move_most_together() {
        let host_of = [0, 0, 1];
        let all = moved(Operation::Bcast, "flat", 3, 2);
        let busiest = of_busiest_host(&all, &host_of);
        // A message inside host 0, and one that its card reads.
        assert_eq!(counts(&busiest), [128, 64, 64, 128]);
    }

    #[test]
    fn messages_of_other_hosts_are_not_summed_as_they_come() {
        let all = moved(Operation::Allreduce, "recursive-doubling", 2, 1);
        // The card reads 64 bytes that are sent, and writes 64; a sum, and a copy.
        assert_eq!((all[0].read, all[0].written), (64 + 128 + 64, 64 + 64 + 64));
    }

    #[test]
    fn descriptions_and_plans_move_the_same() {
        for algorithm in Algorithm::of(Operation::Allreduce) {
            let call = Uniform {
                operation: Operation::Allreduce,
                bytes: 96,
                root: 0,
            };
            let clusters = Clusters::one(6);
            let plans = algorithm.plans(&call, None, &clusters, u64::MAX);
            let amount = crate::problem::Amount::Each(call.bytes);
            let problem = crate::problem::Problem {
                operation: call.operation,
                root: 0,
                amount: &amount,
                clusters: &clusters,
                ordered: false,
                network: None,
                unit_bytes: 1,
            };
            if !algorithm.serves(&problem) {
                continue;
            }
            let description = algorithm.describe(&problem);
            let host_of = [0; 6];
            for (rank, plan) in plans.iter().enumerate() {
                let read = of_rank(&description, rank, &host_of);
                let planned = of_plan(plan, rank, &host_of);
                assert_eq!(read.once(), planned.once(), "{} {rank}", algorithm.name);
            }
        }
    }
}
