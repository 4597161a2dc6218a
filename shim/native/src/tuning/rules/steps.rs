//! From how many bytes on which algorithm: the rows of one operation and size of communicator.

use super::{for_all, knob_of};
use crate::knobs::Knob;
use crate::tuning::file::Tuning;
use crate::tuning::row::Row;

/// From how many bytes of a message or block on which algorithm is taken; none is the MPI's own
/// choice.
pub(super) type Step = (u64, Option<Knob>);

/// The steps, of which the first is for 0 bytes: what was not measured stays as it is. There is one
/// alone where the MPI cannot tell by bytes.
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
