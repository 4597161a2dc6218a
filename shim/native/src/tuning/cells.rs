//! Selection of the calls that are measured.

use std::collections::BTreeMap;

use treepie_collective::{Operation, Record};

/// Calls that are measured together: an operation on a communicator with this number of ranks, of
/// this number of bytes, as in [`Row`](super::Row).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// Collective operation.
    pub operation: Operation,
    /// Number of ranks of the communicator; 0 for all of a job whose size is not known yet.
    pub ranks: usize,
    /// Bytes of the message or block.
    pub bytes: u64,
}

/// Operations that are measured by default.
const USUAL: [Operation; 10] = {
    use Operation::*;
    [
        Barrier,
        Bcast,
        Reduce,
        Allreduce,
        Allgather,
        Alltoall,
        Gather,
        Scatter,
        ReduceScatterBlock,
        Scan,
    ]
};

/// Bytes that are measured by default.
const USUAL_BYTES: [u64; 4] = [8, 1 << 10, 16 << 10, 256 << 10];

/// Maximum length of a buffer of a measurement in bytes.
const LONGEST: u64 = 256 << 20;

/// True if the algorithms of an operation can be measured: all ranks know the bytes of such a call.
pub fn is_measured(operation: Operation) -> bool {
    use Operation::*;
    !operation.is_among_neighbours()
        && !matches!(operation, Gatherv | Scatterv | Alltoallv | Alltoallw)
}

/// Returns cells for communicators of `ranks` ranks each: of `operations`, or of the usual ones; of
/// `bytes`, or of the usual sizes.
pub fn usual_cells(operations: &[Operation], bytes: &[u64], ranks: &[usize]) -> Vec<Cell> {
    let operations = match operations.is_empty() {
        true => &USUAL[..],
        false => operations,
    };
    let bytes = match bytes.is_empty() {
        true => &USUAL_BYTES[..],
        false => bytes,
    };
    let mut cells = Vec::new();
    for &ranks in ranks {
        for &operation in operations.iter().filter(|one| is_measured(**one)) {
            let sizes = match operation {
                Operation::Barrier => &[0],
                _ => bytes,
            };
            cells.extend(sizes.iter().map(|&bytes| Cell {
                operation,
                ranks,
                bytes,
            }));
        }
    }
    cells.retain(|cell| cell.fits());
    cells
}

/// Returns the bytes of the cell of calls with `bytes` bytes.
pub fn cell_bytes(bytes: u64) -> u64 {
    bytes.checked_next_power_of_two().unwrap_or(u64::MAX)
}

/// Returns the cells in which a profile's program spends its collectives: by bytes moved and calls,
/// the most important ones first, of `operations` if some are named.
pub fn cells_of_records(records: &[Record], operations: &[Operation]) -> Vec<Cell> {
    let mut weights: BTreeMap<Cell, u64> = BTreeMap::new();
    for record in records {
        let operation = record.operation;
        let wanted = operations.is_empty() || operations.contains(&operation);
        if !wanted || !is_measured(operation) || record.group.len() < 2 {
            continue;
        }
        let cell = Cell {
            operation,
            ranks: record.group.len(),
            bytes: match operation {
                Operation::Barrier => 0,
                _ => cell_bytes(record.block_bytes()),
            },
        };
        // Even a short call has a cost: that of sending some KiB.
        let weight = record.calls.saturating_mul(cell.bytes.saturating_add(4096));
        let sum = weights.entry(cell).or_insert(0);
        *sum = sum.saturating_add(weight);
    }
    let mut cells: Vec<(Cell, u64)> = weights.into_iter().collect();
    cells.retain(|(cell, _)| cell.fits());
    cells.sort_by_key(|(cell, weight)| (std::cmp::Reverse(*weight), *cell));
    cells.into_iter().map(|(cell, _)| cell).collect()
}

impl Cell {
    /// True if there is anything to measure, with buffers that are not too long.
    pub fn fits(&self) -> bool {
        self.ranks != 1 && self.longest_buffer() <= LONGEST
    }

    /// Returns its relative share of the time for all cells: the rounds of long calls take longer,
    /// and the same number is needed.
    pub fn time_share(&self) -> f64 {
        f64::from(1 + (1 + self.longest_buffer() / 4096).ilog2())
    }

    /// Returns the bytes of the longest buffer of such a call.
    pub(crate) fn longest_buffer(&self) -> u64 {
        use Operation::*;
        match self.operation {
            Barrier => 0,
            Bcast | Reduce | Allreduce | Scan | Exscan => self.bytes,
            _ => self.bytes.saturating_mul(self.ranks.max(1) as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie_collective::{Volume, size_class};

    fn record(operation: Operation, ranks: u32, calls: u64, bytes: u64) -> Record {
        Record {
            operation,
            group: (0..ranks).collect(),
            root: operation.has_root().then_some(0),
            size_class: size_class(bytes),
            plan: None,
            calls,
            volume: Volume::Uniform(bytes * calls),
        }
    }

    #[test]
    fn the_usual_list_has_one_barrier_and_no_buffer_that_is_too_long() {
        let cells = usual_cells(&[], &[], &[4, 2]);
        let barriers = cells
            .iter()
            .filter(|one| one.operation == Operation::Barrier);
        assert_eq!(barriers.count(), 2);
        assert_eq!(cells.len(), 2 * (1 + 9 * 4));
        assert_eq!(usual_cells(&[], &[], &[0]).len(), 1 + 9 * 4);
        let cells = usual_cells(
            &[Operation::Alltoall, Operation::Alltoallv],
            &[1 << 28],
            &[2, 1],
        );
        assert_eq!(cells, []);
    }

    #[test]
    fn long_calls_have_a_larger_share_of_the_time() {
        let share = |operation, bytes| {
            Cell {
                operation,
                ranks: 16,
                bytes,
            }
            .time_share()
        };
        assert_eq!(share(Operation::Barrier, 0), 1.0);
        assert_eq!(share(Operation::Bcast, 8), 1.0);
        assert_eq!(share(Operation::Bcast, 1 << 20), 9.0);
        assert_eq!(share(Operation::Allgather, 1 << 20), 13.0);
        assert_eq!(share(Operation::Bcast, u64::MAX), 53.0);
    }

    #[test]
    fn a_profile_names_the_cells_that_matter_most_first() {
        let records = [
            record(Operation::Bcast, 4, 10, 1000),
            record(Operation::Allreduce, 4, 1000, 8),
            record(Operation::Allreduce, 4, 1000, 7),
            record(Operation::Alltoallv, 4, 100_000, 8),
            record(Operation::Bcast, 1, 100_000, 8),
        ];
        let cell = |operation, bytes| Cell {
            operation,
            ranks: 4,
            bytes,
        };
        let allreduce = cell(Operation::Allreduce, 8);
        let bcast = cell(Operation::Bcast, 1024);
        assert_eq!(cells_of_records(&records, &[]), [allreduce, bcast]);
        assert_eq!(cells_of_records(&records, &[Operation::Bcast]), [bcast]);
    }
}
