//! The distributions of both arms, and the change with its interval.

use crate::picture::dots::{DotRow, Dots, Strip};
use crate::proof::comparison::{Comparison, Run};
use crate::units;

/// Explanation of the picture, below it.
pub(crate) const CAPTION: &str = "A dot is a run, in the lower part a pair of runs. Above, lines are the \
    medians, and bars hold the middle half of the runs. Below, the line is the estimated change; \
    the bar holds the true one in 95 % of comparisons. A change on the grey ground is none.";

impl Comparison {
    /// Draws all runs of both arms, and the change from one to the other.
    pub fn drawing(&self) -> Dots {
        Dots {
            title: format!("verdict: {}", self.sentence()),
            strips: vec![
                Strip {
                    name: "from MPI_Init to MPI_Finalize",
                    mark: units::seconds_by,
                    band: None,
                    rows: [0, 1].map(|way| self.row_of(way)).into(),
                },
                Strip {
                    name: "change of the time, pair by pair",
                    mark: units::percent_by,
                    band: Some((
                        -100.0 * self.limits.difference,
                        100.0 * self.limits.difference,
                    )),
                    rows: vec![self.change()],
                },
            ],
        }
    }

    fn row_of(&self, way: usize) -> DotRow {
        let mut values = self.of_way(way, |run: &Run| run.seconds);
        let medians = self.medians(|run| run.seconds);
        let centre = medians.map(|both| both[way]);
        let median = centre.map_or(String::new(), |centre| {
            format!(": median {}", units::seconds(centre))
        });
        values.sort_by(f64::total_cmp);
        let quarter = values.len() / 4;
        DotRow {
            name: self.names[way].clone() + &median,
            bar: match &values[..] {
                [] => None,
                values => Some((values[quarter], values[values.len() - 1 - quarter])),
            },
            values,
            centre,
            colour: way,
        }
    }

    fn change(&self) -> DotRow {
        let (low, high) = self.whole().interval();
        let change = |gain: f64| -100.0 * gain;
        let changes = self
            .runs()
            .iter()
            .map(|[baseline, candidate]| change(1.0 - candidate.seconds / baseline.seconds));
        let known = low.is_finite() && high < 1.0;
        DotRow {
            name: format!("change: {}", super::answer::change_in_words(self.whole())),
            values: changes.filter(|change| change.is_finite()).collect(),
            centre: self.whole().gain().map(change),
            bar: known.then_some((change(high), change(low))),
            colour: 2,
        }
    }
}
