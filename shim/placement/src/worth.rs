//! Assessment of the benefit of a placement.

use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::from_name;

/// Least relative change that counts.
pub const NOTHING: f64 = 0.005;

/// Share of the cost below which a saving is small.
const LITTLE: f64 = 0.05;

/// Least share of a job's time that counts.
const LITTLE_TIME: f64 = 0.02;

/// Benefit of a placement, from its saving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Worth {
    /// It saves nothing.
    None,
    /// Too small to be seen in a job's time, or on short paths.
    Little,
    /// Large enough to try it.
    Gain,
}

from_name!(Worth, "worth of a placement");

impl Worth {
    /// Classifies the saving of a placement as a part of the cost (0.1 if the cost after is 0.9 of
    /// that before), in a job that spends a given part of its time in MPI, if known, on several
    /// nodes or on one.
    pub fn of(saved: f64, time_in_mpi: Option<f64>, several_nodes: bool) -> Worth {
        let short = time_in_mpi.is_some_and(|part| part * saved < LITTLE_TIME);
        match saved < NOTHING {
            true => Worth::None,
            false if saved < LITTLE || short || !several_nodes => Worth::Little,
            false => Worth::Gain,
        }
    }
}

/// The saved part of a cost: 0.1 if `after` is 0.9 of `before`.
pub fn saved(before: f64, after: f64) -> f64 {
    match before > 0.0 {
        true => 1.0 - after / before,
        false => 0.0,
    }
}
