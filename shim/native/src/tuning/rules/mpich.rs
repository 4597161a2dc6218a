//! MPICH: variables, which apply to all sizes, so that an algorithm is only selected if it was
//! never slower than the default. If the library's own collective selection is available
//! ([`Selection`]), files that differ from it only for the measured calls.

use std::collections::BTreeMap;

use crate::knobs::variables::Component;
use crate::tuning::file::Tuning;
use crate::tuning::row::Row;
use crate::tuning::rules::mpi_tuning::{MpiTuning, for_all};
use crate::tuning::rules::selection::Selection;
use crate::tuning::rules::steps::{Step, steps};
use treepie_collective::Operation;

/// True if a selection can distinguish calls by bytes, alike on all ranks.
pub(super) fn goes_by_bytes(operation: Operation) -> bool {
    use Operation::*;
    matches!(
        operation,
        Bcast
            | Reduce
            | Allreduce
            | Allgather
            | Allgatherv
            | Alltoall
            | ReduceScatter
            | ReduceScatterBlock
    )
}

/// Returns variables: one algorithm of an operation for all sizes.
pub(super) fn variables(tuning: &Tuning, groups: &[&[Row]]) -> MpiTuning {
    let mut by_operation: BTreeMap<Operation, Vec<&Row>> = BTreeMap::new();
    for rows in groups {
        let of_operation = by_operation.entry(rows[0].operation).or_default();
        of_operation.extend(rows.iter());
    }
    let mut made = MpiTuning::default();
    for (operation, rows) in by_operation {
        let knob = for_all(&rows).and_then(|name| tuning.library.knob(operation, name).ok());
        if let Some(knob) = knob {
            made.settings.extend(tuning.library.settings(&knob));
        }
    }
    made
}

/// Returns files that replace the library's own selection.
pub(super) fn selection(tuning: &Tuning, groups: &[&[Row]], own: &Selection) -> MpiTuning {
    let mut by_operation: BTreeMap<Operation, BTreeMap<usize, Vec<Step>>> = BTreeMap::new();
    for rows in groups {
        let operation = rows[0].operation;
        let mut steps = steps(tuning, rows, goes_by_bytes(operation));
        for (_, knob) in &mut steps {
            *knob = knob.filter(|knob| own.can_say(knob));
        }
        if steps.iter().any(|(_, knob)| knob.is_some()) {
            let sizes = by_operation.entry(operation).or_default();
            sizes.insert(rows[0].ranks, steps);
        }
    }
    if by_operation.is_empty() {
        return MpiTuning::default();
    }
    let mut made = own.clone();
    for (operation, sizes) in &by_operation {
        made.set(*operation, sizes);
    }
    let [algorithms, compositions] = made.texts();
    MpiTuning {
        rules: vec![
            (Component::Algorithms, algorithms),
            (Component::Compositions, compositions),
        ],
        ..MpiTuning::default()
    }
}
