//! Square tables: a value for each pair of indexes of one type.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// Value for each pair of indexes of type `I`, row by row, as in `Square<Cluster, Link>`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Square<I, T> {
    order: usize,
    values: Vec<T>,
    index: PhantomData<I>,
}

impl<I: From<usize> + Copy, T> Square<I, T> {
    /// Table of `order` rows with these values.
    pub fn new(order: usize, value: impl FnMut((I, I)) -> T) -> Self {
        let mut values = Vec::with_capacity(order * order);
        values.extend(pairs((0..order).map(I::from)).map(value));
        Square {
            order,
            values,
            index: PhantomData,
        }
    }

    /// Table of `order` rows with one value everywhere.
    pub fn filled(order: usize, value: T) -> Self
    where
        T: Clone,
    {
        Square::new(order, |_| value.clone())
    }

    /// Number of rows.
    pub fn order(&self) -> usize {
        self.order
    }

    /// All pairs of indexes, row by row.
    pub fn keys(&self) -> impl Iterator<Item = (I, I)> + Clone + use<I, T> {
        pairs((0..self.order).map(I::from))
    }

    /// All values, row by row.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All values, row by row.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

impl<I: Into<usize>, T> Square<I, T> {
    #[inline]
    fn place(&self, (row, column): (I, I)) -> usize {
        let (row, column) = (row.into(), column.into());
        assert!(column < self.order, "no column {column} of {}", self.order);
        row * self.order + column
    }
}

impl<I: Into<usize>, T> Index<(I, I)> for Square<I, T> {
    type Output = T;

    fn index(&self, pair: (I, I)) -> &T {
        &self.values[self.place(pair)]
    }
}

impl<I: Into<usize>, T> IndexMut<(I, I)> for Square<I, T> {
    fn index_mut(&mut self, pair: (I, I)) -> &mut T {
        let place = self.place(pair);
        &mut self.values[place]
    }
}

/// All pairs of indexes, row by row; `all` are the indexes.
pub fn pairs<I: Copy>(
    all: impl Iterator<Item = I> + Clone,
) -> impl Iterator<Item = (I, I)> + Clone {
    let others = all.clone();
    all.flat_map(move |from| others.clone().map(move |to| (from, to)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cluster;

    #[test]
    fn each_pair_has_a_value_of_its_own() {
        let mut table = Square::new(3, |(from, to): (Cluster, Cluster)| 10 * from.0 + to.0);
        assert_eq!(table.values(), [0, 1, 2, 10, 11, 12, 20, 21, 22]);
        table[(Cluster(1), Cluster(2))] = 7;
        assert_eq!(table[(Cluster(1), Cluster(2))], 7);
        let found = table.keys().map(|pair| table[pair]);
        assert_eq!(found.collect::<Vec<_>>(), table.values());
    }

    #[test]
    #[should_panic(expected = "no column 3 of 3")]
    fn a_column_that_does_not_exist_is_none_of_the_next_row() {
        let table: Square<Cluster, u8> = Square::filled(3, 0);
        let _ = table[(Cluster(0), Cluster(3))];
    }
}
