//! Length and temperatures of annealing.

/// Schedule of simulated annealing. Temperatures are relative to the weight or saving of a typical
/// edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Schedule {
    /// Number of times that a move of every vertex is tried.
    pub sweeps: f64,
    /// Initial temperature.
    pub hot: f64,
    /// Final temperature.
    pub cold: f64,
}

impl Schedule {
    /// Factor by which the temperature falls in each of `steps` steps.
    pub(crate) fn ratio(&self, steps: usize) -> f64 {
        libm::pow(self.cold / self.hot, 1.0 / steps.max(1) as f64)
    }
}
