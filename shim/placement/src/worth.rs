//! Whether a placement is worth it.

use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::from_name;

/// Least change that counts.
pub const NOTHING: f64 = 0.005;

/// A smaller share of the cost is little.
const LITTLE: f64 = 0.05;

/// Least share of the time of a job that counts.
const LITTLE_TIME: f64 = 0.02;

/// Whether a placement is worth it, by what it saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Worth {
    /// It saves nothing.
    None,
    /// Too little to be seen in a job's time, or on ways that are short.
    Little,
    /// Enough to try it.
    Gain,
}

from_name!(Worth, "worth of a placement");

impl Worth {
    /// Worth of a placement that saves a part of the cost (0.1 where the cost after is 0.9 of that
    /// before), in a job that spends a part of its time in MPI, where that is known, on several
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

/// The part of a cost that is saved: 0.1 where it is 0.9 of `before` then.
pub fn saved(before: f64, after: f64) -> f64 {
    match before > 0.0 {
        true => 1.0 - after / before,
        false => 0.0,
    }
}
