//! Intel MPI: variables with ranges of bytes and ranks.

use std::collections::BTreeMap;

use crate::tuning::file::Tuning;
use crate::tuning::row::Row;
use crate::tuning::rules::mpi_tuning::{MpiTuning, knob_of};

/// Largest number of bytes in a range.
const MOST_BYTES: u64 = i32::MAX as u64;

pub(super) fn mpi_tuning(tuning: &Tuning, groups: &[&[Row]]) -> MpiTuning {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for rows in groups {
        for (place, row) in rows.iter().enumerate() {
            let Some(knob) = knob_of(tuning, row) else {
                continue;
            };
            let next = rows
                .get(place + 1)
                .map(|next| next.from_bytes.saturating_sub(1));
            let (from, to, ranks) = (row.from_bytes, next.unwrap_or(MOST_BYTES), row.ranks);
            for (name, number) in tuning.library.settings(&knob) {
                let range = format!("{number}:{from}-{to}@{ranks}-{ranks}");
                values.entry(name).or_default().push(range);
            }
        }
    }
    let joined = values.into_iter();
    MpiTuning {
        settings: joined
            .map(|(name, ranges)| (name, ranges.join(";")))
            .collect(),
        ..MpiTuning::default()
    }
}
