//! Predicted times of one algorithm.
use treepie_collective::Algorithm;

/// The predicted time of an algorithm, or of the native collective.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// The algorithm; `None` for the native collective.
    pub algorithm: Option<&'static Algorithm>,
    /// The largest message, in bytes; 0 where the MPI decides.
    pub segment: u64,
    /// The trees inside clusters of an algorithm that goes along a tree of clusters: of each
    /// cluster those of its levels, the widest first (`chain/flat`), clusters that are alike once.
    pub inside: Option<String>,
    /// Seconds of its plans in the simulator; `None` where they are too many to simulate.
    pub simulated: Option<f64>,
    /// Estimated seconds, by which a plan is chosen; `None` for what is never chosen here.
    pub estimated: Option<f64>,
}

impl Prediction {
    /// Seconds: simulated, or else estimated.
    pub fn seconds(&self) -> Option<f64> {
        self.simulated.or(self.estimated)
    }
}
