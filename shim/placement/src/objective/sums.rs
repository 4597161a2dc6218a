//! Objectives that are no DistComm, as one: what a search for DistComm has to be
//! given so that it finds something good by them.

use crate::objective::choice::Objective;
use crate::objective::hop_bytes::mean_of_directions;
use treepie_traffic::{Matrix, MatrixError};

/// A matrix and distances whose DistComm leads to another objective.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AsSum {
    /// The affinities.
    pub matrix: Matrix,
    /// The distances, from the root.
    pub distances: Vec<f64>,
}

/// Ratio of the distances of adjacent levels, so that the highest levels dominate.
const STEP: f64 = 1000.0;

/// The powers that times of pairs are raised to, for the longest to count most.
/// The first ones leave a search something to go by, the last one makes what is
/// a hundredth longer count more than a hundred pairs.
const POWERS: [i32; 3] = [4, 16, 512];

impl Objective {
    /// The sums to search for, on a tree with these level distances, of whose levels the first
    /// `levels` are those of leaves. None where the objective is DistComm itself (TempsComm is,
    /// where throughputs are the inverse of distances), or has a search of its own (congestion, and
    /// the mixture of both).
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

/// Each level [`STEP`] times as long as the next, down to the leaves; slots on
/// one leaf have no distance.
fn steps(depth: usize, levels: usize) -> Vec<f64> {
    let most = 200 / STEP.log10() as usize;
    let step = |level: usize| STEP.powi((levels - 1 - level).min(most) as i32);
    (0..depth)
        .map(|level| if level < levels { step(level) } else { 0.0 })
        .collect()
}
