//! What a collective costs between alike processes (thesis chapter 6): every
//! strategy as a formula of the pLogP parameters, the number of processes and
//! the size.
//!
//! Where a printed formula is ambiguous or optimistic, the corrected form is the
//! default and the printed one is kept as [`Form::Thesis`].

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod barrier;
pub mod broadcast;
mod column;
mod compute;
pub mod reduce;
mod rounds;
pub mod scatter;
pub mod segment;
#[cfg(test)]
mod tests;
pub mod thesis;

pub use column::strategy_formula;
pub use compute::Computing;
pub use segment::{Segmented, best_segment};

use strum::{Display, IntoStaticStr, VariantArray};

use crate::platform::Timing;

/// Which reading of a formula.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Display, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Form {
    /// Right for any number of processes, with the handshakes that were measured.
    #[default]
    Corrected,
    /// As printed in the thesis.
    Thesis,
}

crate::affinity::names::from_name!(Form, "form of the models");

/// What every model is about: so many processes on alike links.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    /// Number of processes, from 1.
    pub processes: usize,
    /// The links between them.
    pub timing: &'a dyn Timing,
    /// Which reading of the formulas.
    pub form: Form,
}

impl<'a> Group<'a> {
    /// The group with the corrected formulas.
    pub fn new(processes: usize, timing: &'a dyn Timing) -> Self {
        Group {
            processes: processes.max(1),
            timing,
            form: Form::Corrected,
        }
    }

    /// The same group with the formulas as printed.
    pub fn as_printed(self) -> Self {
        Group {
            form: Form::Thesis,
            ..self
        }
    }

    /// `P - 1`: how many others there are.
    fn others(&self) -> f64 {
        (self.processes - 1) as f64
    }

    /// Rounds in which a doubling tree reaches all: the least q with 2^q >= P.
    fn rounds(&self) -> f64 {
        f64::from(rounds::ceil_log2(self.processes))
    }

    /// The factor of the gap in a binomial tree: the thesis prints the rounded
    /// down logarithm, which misses the last round when P is no power of two.
    fn gaps(&self) -> f64 {
        match self.form {
            Form::Corrected => self.rounds(),
            Form::Thesis => f64::from(rounds::floor_log2(self.processes)),
        }
    }

    /// What one message adds over `L + g`; nothing when P is 1.
    fn latency(&self, bytes: u64) -> f64 {
        self.timing.latency() + self.timing.handshake(bytes)
    }
}
