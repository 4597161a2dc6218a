//! Groups of equal processes, and the two forms of a formula.

use crate::links::Timing;
use strum::{Display, IntoStaticStr, VariantArray};

/// Form of a formula.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Display, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Form {
    /// Correct for any number of processes, with the measured handshakes.
    #[default]
    Corrected,
    /// Printed form of the thesis.
    Thesis,
}

treepie_base::from_name!(Form, "form of the models");

/// Processes on equal links.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    /// Number of processes, at least 1.
    pub processes: usize,
    /// The links between them.
    pub timing: &'a dyn Timing,
    /// Form of the formulas.
    pub form: Form,
}

impl<'a> Group<'a> {
    /// Creates a group with the corrected formulas.
    pub fn new(processes: usize, timing: &'a dyn Timing) -> Self {
        Group {
            processes: processes.max(1),
            timing,
            form: Form::Corrected,
        }
    }

    /// Uses the formulas as printed.
    pub fn as_printed(self) -> Self {
        Group {
            form: Form::Thesis,
            ..self
        }
    }

    /// `P - 1`: number of other processes.
    pub(super) fn others(&self) -> f64 {
        (self.processes - 1) as f64
    }

    /// Number of rounds in which a doubling tree reaches all: the least q with 2^q >= P.
    pub(super) fn rounds(&self) -> f64 {
        f64::from(ceil_log2(self.processes))
    }

    /// The factor of the gap in a binomial tree: the thesis prints the logarithm rounded down,
    /// which lacks the last round if P is not a power of two.
    pub(super) fn gaps(&self) -> f64 {
        match self.form {
            Form::Corrected => self.rounds(),
            Form::Thesis => f64::from(floor_log2(self.processes)),
        }
    }

    /// Cost of one message in addition to `L + g`; 0 if P is 1.
    pub(super) fn latency(&self, bytes: u64) -> f64 {
        self.timing.latency() + self.timing.handshake(bytes)
    }
}

/// The least q with 2^q >= n; 0 for 0 and 1.
pub(super) fn ceil_log2(n: usize) -> u32 {
    n.max(1).next_power_of_two().trailing_zeros()
}

/// The greatest q with 2^q <= n; 0 for 0 and 1.
pub(super) fn floor_log2(n: usize) -> u32 {
    n.max(1).ilog2()
}

/// Number of blocks that the sender or receiver of a doubling scheme moves in each round: 1, 2, 4,
/// ... and in the last round the rest of `processes - 1`.
pub(super) fn doubling_blocks(processes: usize) -> impl Iterator<Item = u64> {
    (0..ceil_log2(processes)).map(move |round| {
        let held = 1_u64 << round;
        held.min(processes as u64 - held)
    })
}
