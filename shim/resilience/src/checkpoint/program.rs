//! Programs that iterate: each rank computes, then exchanges messages.

use serde::Serialize;
use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::from_name;
use treepie_collective::{Builder, Plan, Range, Steps};

/// Message pattern of an iteration.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Display, IntoStaticStr, VariantArray, Serialize,
)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// A long message to each of six neighbours: the faces of NPB BT.
    #[default]
    Bt,
    /// Vectors that are summed along the rows of a grid of ranks and transposed, and two sums of
    /// one number: NPB CG.
    Cg,
}

from_name!(Pattern, "pattern of messages");

/// A program.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Program {
    /// Its messages.
    pub pattern: Pattern,
    /// Number of iterations.
    pub iterations: u64,
    /// Bytes of each long message.
    pub bytes: u64,
    /// Seconds that a rank computes in an iteration.
    pub compute: f64,
}

impl Program {
    /// NPB BT of class B or CG of class C on `ranks` ranks, which compute for `work` seconds in
    /// total. BT has 102^3 points of 5 numbers, whose faces are two points deep, and 200
    /// iterations; CG has 150 000 rows, and 75 times 26 products.
    pub fn npb(pattern: Pattern, ranks: usize, work: f64) -> Program {
        let side = (ranks as f64).sqrt();
        let (iterations, bytes) = match pattern {
            Pattern::Bt => (200, 2.0 * 5.0 * 8.0 * 102.0 * 102.0 / side),
            Pattern::Cg => (75 * 26, 8.0 * 150_000.0 / side),
        };
        Program {
            pattern,
            iterations,
            bytes: bytes as u64,
            compute: work / iterations as f64,
        }
    }

    /// Builds the plans of an iteration.
    pub fn plans(&self, ranks: usize) -> Vec<Plan> {
        let grid = Grid::new(ranks);
        let plan = |rank| {
            Builder::plan(u64::MAX >> 8, |steps| match self.pattern {
                Pattern::Bt => self.faces(&grid, rank, steps),
                Pattern::Cg => self.product(&grid, rank, steps),
            })
        };
        (0..ranks).map(plan).collect()
    }

    fn faces(&self, grid: &Grid, rank: usize, steps: &mut dyn Steps) {
        // In BT's multi-partition, neighbours in the third dimension are on the diagonal.
        let ways = [(1, 0), (0, 1), (1, -1)];
        let both = ways
            .into_iter()
            .flat_map(|(down, right)| [(down, right), (-down, -right)]);
        let sent = Range::input(0, self.bytes);
        for (place, (down, right)) in both.enumerate() {
            let to = grid.neighbour(rank, down, right);
            let from = grid.neighbour(rank, -down, -right);
            if to != rank {
                steps.send(to, sent);
                steps.receive(from, Range::output(place as u64 * self.bytes, self.bytes));
            }
        }
    }

    /// Like `tests/jobs/cg.c`: recursive doubling in the row, the transpose, two sums.
    fn product(&self, grid: &Grid, rank: usize, steps: &mut dyn Steps) {
        let vector = Range::output(0, self.bytes);
        doubled(grid, rank, vector, steps);
        let partner = grid.transposed(rank);
        if partner != rank {
            let other = steps.scratch(self.bytes);
            steps.send(partner, vector);
            steps.receive(partner, other);
            steps.copy(other, vector);
        }
        for sum in 0..2 {
            let number = Range::output(self.bytes + 8 * sum, 8);
            doubled(grid, rank, number, steps);
        }
    }
}

/// Sums a vector along the row of a rank; the length of rows is a power of two.
fn doubled(grid: &Grid, rank: usize, vector: Range, steps: &mut dyn Steps) {
    let mut distance = 1;
    while distance < grid.columns {
        let column = rank % grid.columns;
        if column ^ distance < grid.columns {
            let partner = rank - column + (column ^ distance);
            let other = steps.scratch(vector.length);
            steps.send(partner, vector);
            steps.receive(partner, other);
            steps.reduce(other, vector);
        }
        steps.one_by_one();
        distance *= 2;
    }
}

/// Ranks in rows, as close to a square as their number allows.
struct Grid {
    rows: usize,
    columns: usize,
}

impl Grid {
    fn new(ranks: usize) -> Grid {
        let rows = (1..=ranks.isqrt())
            .rev()
            .find(|rows| ranks.is_multiple_of(*rows));
        let rows = rows.unwrap_or(1);
        Grid {
            rows,
            columns: ranks / rows.max(1),
        }
    }

    /// The rank `down` rows down and `right` columns to the right, with wrap-around.
    fn neighbour(&self, rank: usize, down: isize, right: isize) -> usize {
        let (row, column) = (rank / self.columns, rank % self.columns);
        let moved = |place: usize, by: isize, of: usize| {
            (place as isize + by).rem_euclid(of as isize) as usize
        };
        moved(row, down, self.rows) * self.columns + moved(column, right, self.columns)
    }

    /// The rank that has the other part of the vector after a transposition: in squares only the
    /// mirrored one.
    fn transposed(&self, rank: usize) -> usize {
        if self.rows == self.columns {
            rank % self.columns * self.columns + rank / self.columns
        } else {
            rank
        }
    }
}
