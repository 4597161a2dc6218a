//! Summary of a bare matrix in a few lines.

use serde::Serialize;
use treepie_traffic::Matrix;
use treepie_traffic::measures::{imbalance, symmetry};

use super::table::Table;
use super::units;
use super::words::pluralize;
use crate::layers::{LayerSummary, layer_table};
use crate::picture::scale::Unit;
use crate::summary::{BusiestRank, TOP_PAIRS};

/// Summary of a matrix.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatrixSummary {
    /// Number of ranks.
    pub ranks: usize,
    /// Number of ordered pairs that communicate, including ranks with themselves.
    pub pairs: usize,
    /// Sum of all entries.
    pub total: f64,
    /// Share of the traffic that is matched in the other direction.
    pub symmetry: f64,
    /// The rank with the most traffic, if there is any.
    pub busiest: Option<BusiestRank>,
    /// The pairs of different ranks with the most traffic: from, to, value.
    pub top_pairs: Vec<(usize, usize, f64)>,
    /// Each kind of call with traffic; empty if the file does not have them.
    pub layers: Vec<LayerSummary>,
}

impl MatrixSummary {
    /// Summarizes a matrix that is the sum of `layers`, if known.
    pub fn new(matrix: &Matrix, layers: Vec<LayerSummary>) -> Self {
        let mut pairs: Vec<_> = matrix
            .entries()
            .filter(|(from, to, _)| from != to)
            .collect();
        // Stable: of equal ones, the first.
        pairs.sort_by(|one, other| other.2.total_cmp(&one.2));
        pairs.truncate(TOP_PAIRS);
        MatrixSummary {
            ranks: matrix.order(),
            pairs: matrix.non_zeros(),
            total: matrix.total(),
            symmetry: symmetry(matrix),
            busiest: imbalance(matrix).map(BusiestRank::from),
            top_pairs: pairs,
            layers,
        }
    }

    /// Formats the whole summary of the matrix in `file`, whose values are in `unit`.
    pub fn text(&self, file: &str, unit: Unit) -> String {
        let mut text = format!(
            "{file}: matrix of {}, {} communicate, {} in all\n",
            pluralize(self.ranks, "rank"),
            pluralize(self.pairs, "ordered pair"),
            unit.text(self.total)
        );
        text += &if self.layers.is_empty() {
            "  what kinds of calls sent that is not in the file: no shares of layers\n".to_owned()
        } else {
            format!("\n{}", layer_table(&self.layers).text())
        };
        let Some(busiest) = &self.busiest else {
            return text;
        };
        let mut table = Table::new(["from -> to", unit.title(), "share"]);
        for &(from, to, value) in &self.top_pairs {
            table.row([
                format!("{from} -> {to}"),
                unit.text(value),
                units::share(value, self.total),
            ]);
        }
        text += &format!("\n{}\n{}", table.text(), busiest.text(self.symmetry));
        text
    }
}
