//! Steps: the rows of one operation and size of communicator, as the algorithm from each number of
//! bytes on.

use crate::knobs::knob::Knob;
use crate::tuning::file::Tuning;
use crate::tuning::row::Row;
use crate::tuning::rules::mpi_tuning::{for_all, knob_of};
use std::collections::BTreeMap;
use treepie_collective::Operation;

/// Algorithm from a number of bytes of a message or block on; `None` is the MPI's own choice.
pub(super) type Step = (u64, Option<Knob>);

/// Returns the steps, of which the first is for 0 bytes: calls without measurements keep their
/// defaults. There is only one if the MPI cannot select by bytes.
pub(super) fn steps(tuning: &Tuning, rows: &[Row], goes_by_bytes: bool) -> Vec<Step> {
    if !goes_by_bytes {
        let all: Vec<&Row> = rows.iter().collect();
        let operation = rows[0].operation;
        let chosen = for_all(&all).and_then(|name| tuning.library.knob(operation, name).ok());
        return vec![(0, chosen)];
    }
    let mut steps: Vec<Step> = vec![(0, None)];
    for row in rows {
        steps.retain(|step| step.0 != row.from_bytes);
        steps.push((row.from_bytes, knob_of(tuning, row)));
    }
    steps.dedup_by_key(|step| step.1);
    steps
}

/// Returns the bytes that Open MPI compares with those of a rule, for the bytes of a row.
pub(super) fn bytes_of(operation: Operation, ranks: usize, bytes: u64) -> u64 {
    use Operation::*;
    match operation {
        Allgather | Alltoall | ReduceScatter | ReduceScatterBlock => {
            bytes.saturating_mul(ranks as u64)
        }
        _ => bytes,
    }
}

/// Rules of an operation of Open MPI, for each size of communicator.
type Sizes = BTreeMap<usize, Vec<Step>>;

/// Rules of all operations, by Open MPI's numbers.
pub(super) type Operations = BTreeMap<u32, (Operation, Sizes)>;
