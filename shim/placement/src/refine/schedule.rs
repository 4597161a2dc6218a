//! Length and temperatures of annealing.

/// Schedule of simulated annealing. Temperatures are parts of what a usual edge weighs or saves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Schedule {
    /// Number of times that a move of every vertex is tried.
    pub sweeps: f64,
    /// First temperature.
    pub hot: f64,
    /// Last temperature.
    pub cold: f64,
}

impl Schedule {
    /// Factor by which the temperature falls in each of so many steps.
    pub(crate) fn ratio(&self, steps: usize) -> f64 {
        libm::pow(self.cold / self.hot, 1.0 / steps.max(1) as f64)
    }
}
