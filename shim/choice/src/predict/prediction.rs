//! Predicted times of one algorithm.
use treepie_collective::Algorithm;

/// Predicted time of an algorithm, or of the native collective.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// Algorithm; `None` for the native collective.
    pub algorithm: Option<&'static Algorithm>,
    /// Largest message in bytes; 0 if the MPI decides.
    pub segment: u64,
    /// Trees inside clusters of an algorithm with a tree between clusters: for each cluster those
    /// of its levels, widest first (`chain/flat`), with equal clusters listed once.
    pub inside: Option<String>,
    /// Seconds of its plans in the simulator; `None` if they are too many to simulate.
    pub simulated: Option<f64>,
    /// Estimated seconds, by which a plan is chosen; `None` for algorithms that are never chosen
    /// here.
    pub estimated: Option<f64>,
}

impl Prediction {
    /// Seconds, simulated or else estimated.
    pub fn seconds(&self) -> Option<f64> {
        self.simulated.or(self.estimated)
    }
}
