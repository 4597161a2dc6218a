//! Rules and settings by which an MPI adopts a tuning.

use crate::knobs::knob::Knob;
use crate::knobs::variables::{Component, Setting};
use crate::tuning::file::Tuning;
use crate::tuning::row::Row;
use std::collections::BTreeMap;

/// Factor by which an algorithm may be slower than the default in any row to be selected for all
/// sizes.
const SLOWER: f64 = 1.02;

/// Tuning in the MPI's own formats.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MpiTuning {
    /// Texts of files of rules, if this MPI has such and they are needed.
    pub rules: Vec<(Component, String)>,
    /// Settings for the environment, except for the file's name.
    pub settings: Vec<Setting>,
    /// Rows of the tuning with a winner that this MPI's rules and settings cannot express.
    pub left_out: Vec<usize>,
}

impl MpiTuning {
    /// True if there are no rules and settings.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.settings.is_empty()
    }
}

/// Returns the knob that a row names, if the library has it; such rows have been checked before.
pub(super) fn knob_of(tuning: &Tuning, row: &Row) -> Option<Knob> {
    let name = row.algorithm.as_deref()?;
    tuning.library.knob(row.operation, name).ok()
}

/// Returns the algorithm that is the fastest choice for all these rows together, and slower than
/// the default in none.
pub(super) fn for_all<'a>(rows: &[&'a Row]) -> Option<&'a str> {
    let mut gains: BTreeMap<&str, f64> = BTreeMap::new();
    for name in rows.iter().filter_map(|row| row.algorithm.as_deref()) {
        let ratio = |row: &&Row| Some(row.seconds_of(name)? / row.native_seconds);
        let ratios: Option<Vec<f64>> = rows.iter().map(ratio).collect();
        if let Some(ratios) = ratios
            && ratios.iter().all(|ratio| *ratio <= SLOWER)
        {
            gains.insert(
                name,
                -ratios.iter().map(|ratio| libm::log(*ratio)).sum::<f64>(),
            );
        }
    }
    let best = gains
        .into_iter()
        .max_by(|one, other| one.1.total_cmp(&other.1));
    best.map(|(name, _)| name)
}
