//! Cells of a target: sets of slots between which distances do not differ.

/// Slots in cells, numbered from 0: all slots of a cell are as far from all others.
pub(crate) trait Cells {
    /// Number of cells.
    fn count(&self) -> usize;

    /// Slots of a cell that may be used, ascending.
    fn slots(&self, cell: usize) -> impl Iterator<Item = usize>;

    /// Number of these slots.
    fn capacity(&self, cell: usize) -> usize;

    /// Distance between slots of two cells, or between two slots of one.
    fn distance(&self, a: usize, b: usize) -> f64;

    /// No two slots are nearer.
    fn least_distance(&self) -> f64;

    /// Cells that differ to a rank where others are in the cells `placed`; of those that are alike
    /// the first.
    fn distinct(&self, placed: &[usize]) -> Vec<usize>;
}
