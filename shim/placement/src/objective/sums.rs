//! Other objectives expressed as DistComm: the input with which a search for DistComm finds
//! placements that are good by these.

use crate::objective::choice::Objective;
use crate::objective::hop_bytes::mean_of_directions;
use treepie_traffic::{Matrix, MatrixError};

/// A matrix and distances whose DistComm approximates another objective.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AsSum {
    /// The affinities.
    pub matrix: Matrix,
    /// The distances, from the root.
    pub distances: Vec<f64>,
}

/// Ratio of the distances of adjacent levels, so that the highest levels dominate.
const STEP: f64 = 1000.0;

/// Powers to which times of pairs are raised, so that the longest count most. The first ones give a
/// search a gradient; with the last one, a pair that takes one per cent longer outweighs a hundred
/// pairs.
const POWERS: [i32; 3] = [4, 16, 512];

impl Objective {
    /// The sums to search for, on a tree with these level distances, whose first `levels` levels
    /// are those of leaves. Empty if the objective is DistComm itself (so is TempsComm, if
    /// throughputs are the inverse of distances), or has its own search (congestion, and the
    /// mixture of both).
    ///
    /// # Errors
    /// None for a matrix whose [`Matrix::total`] is finite.
    pub(crate) fn as_sums(
        self,
        matrix: &Matrix,
        distances: &[f64],
        levels: usize,
    ) -> Result<Vec<AsSum>, MatrixError> {
        match self {
            Objective::Sum | Objective::TempsComm | Objective::Congestion | Objective::Mixture => {
                Ok(Vec::new())
            }
            Objective::CoupeMin => Ok(vec![AsSum {
                matrix: matrix.clone(),
                distances: steps(distances.len(), levels),
            }]),
            Objective::MakespanComm => {
                let times = mean_of_directions(matrix)?;
                let longest = times.entries().map(|entry| entry.2).fold(0.0, f64::max);
                let furthest = distances.first().copied().unwrap_or(0.0);
                if longest == 0.0 || furthest == 0.0 {
                    return Ok(Vec::new());
                }
                let raised = POWERS.map(|power| {
                    let raise = |value: f64, largest: f64| (value / largest).powi(power);
                    let entries = times.entries().map(|(a, b, v)| (a, b, raise(v, longest)));
                    let distances = distances.iter().map(|&d| raise(d, furthest));
                    Ok(AsSum {
                        matrix: Matrix::from_entries(times.order(), entries)?,
                        distances: distances.collect(),
                    })
                });
                raised.into_iter().collect()
            }
        }
    }
}

/// Distances that decrease by [`STEP`] from each level to the next, down to the leaves; slots on
/// one leaf have no distance.
fn steps(depth: usize, levels: usize) -> Vec<f64> {
    let most = 200 / STEP.log10() as usize;
    let step = |level: usize| STEP.powi((levels - 1 - level).min(most) as i32);
    (0..depth)
        .map(|level| if level < levels { step(level) } else { 0.0 })
        .collect()
}
