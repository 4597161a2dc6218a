//! Cells of a target: sets of slots with equal distances.

/// Slots in cells, numbered from 0: all slots of a cell have the same distances from all others.
pub(crate) trait Cells {
    /// Number of cells.
    fn count(&self) -> usize;

    /// Usable slots of a cell, ascending.
    fn slots(&self, cell: usize) -> impl Iterator<Item = usize>;

    /// Number of these slots.
    fn capacity(&self, cell: usize) -> usize;

    /// Distance between slots of two cells, or between two slots of one.
    fn distance(&self, a: usize, b: usize) -> f64;

    /// Least distance between any two slots.
    fn least_distance(&self) -> f64;

    /// Cells that are not equivalent for a rank if others are in the cells `placed`; of equivalent
    /// cells the first.
    fn distinct(&self, placed: &[usize]) -> Vec<usize>;
}
