//! Rounds: each runs every variant once, one after the other, so that other work on the machine
//! affects all of them alike.

use crate::error::Error;
use crate::figures::{Figure, Origin};

/// Measurement of a row in one run of one variant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measurement {
    pub(crate) row: String,
    pub(crate) quantity: &'static str,
    pub(crate) values: Vec<f64>,
}

/// Properties common to all variants of a benchmark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Series<'a> {
    pub(crate) origin: &'a Origin,
    /// The MPI's name, or an empty text.
    pub(crate) mpi: &'a str,
    /// Number of calls of an iteration.
    pub(crate) calls: u32,
    pub(crate) rounds: usize,
}

impl Series<'_> {
    /// Runs all variants in each round; returns the figures of all rounds, with a row's variants in
    /// order.
    ///
    /// # Errors
    /// Reports the first run that fails.
    pub(crate) fn run<V: Copy>(
        self,
        variants: &[V],
        name_of: impl Fn(V) -> &'static str,
        mut measure: impl FnMut(V) -> Result<Vec<Measurement>, Error>,
    ) -> Result<Vec<Figure>, Error> {
        let mut figures: Vec<Figure> = Vec::new();
        for _ in 0..self.rounds {
            for &variant in variants {
                for measured in measure(variant)? {
                    self.add(&mut figures, name_of(variant), measured);
                }
            }
        }
        Ok(figures)
    }

    fn add(self, figures: &mut Vec<Figure>, variant: &str, measured: Measurement) {
        let is_same = |figure: &&mut Figure| {
            figure.variant == variant
                && figure.row == measured.row
                && figure.quantity == measured.quantity
        };
        match figures.iter_mut().find(is_same) {
            Some(figure) => figure.values.extend(measured.values),
            None => figures.push(Figure {
                origin: self.origin.clone(),
                mpi: self.mpi.to_owned(),
                row: measured.row,
                variant: variant.to_owned(),
                quantity: measured.quantity.to_owned(),
                calls: self.calls,
                values: measured.values,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_take_turns_and_rounds_add_up() {
        let origin = Origin {
            bench: "test".to_owned(),
            date: "now".to_owned(),
            commit: "none".to_owned(),
            machine: "this".to_owned(),
        };
        let mut turns = Vec::new();
        let series = Series {
            origin: &origin,
            mpi: "",
            calls: 1,
            rounds: 2,
        };
        let figures = series.run(
            &["a", "b"],
            |name| name,
            |name| {
                turns.push(name);
                let values = vec![turns.len() as f64];
                Ok(vec![Measurement {
                    row: "row".to_owned(),
                    quantity: "ns",
                    values,
                }])
            },
        );
        let figures = figures.expect("nothing fails");
        assert_eq!(turns, ["a", "b", "a", "b"]);
        let values: Vec<_> = figures
            .iter()
            .map(|figure| figure.values.as_slice())
            .collect();
        assert_eq!(values, [[1.0, 3.0], [2.0, 4.0]]);
    }
}
