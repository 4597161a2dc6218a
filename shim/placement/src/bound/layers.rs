//! Least cut of a group of a mesh of three axes, layer by layer.
//!
//! Along a line on which `k` groups lie, `k - 1` edges are cut: a group costs one for each line on
//! which it lies, less its share of all lines. Across the layers it lies on `q` lines, if its
//! largest layer has `q` cells. Within a layer of `m <= q` cells it lies on `r` lines of one axis
//! and `t` of the other, where `r t >= m`.
//!
//! ```text
//!   128 cells, q = 25:  5 layers of 25 (5 + 5 lines), one of 3 (2 + 2):  25 + 54 lines
//!   by Loomis and Whitney alone: p1 p2 p3 >= 128^2, 77 lines
//! ```
//!
//! The stacking of layers is not modelled, so that this is at most the cost of any group.

/// Maximum number of steps for one axis across the layers.
const MOST_STEPS: usize = 20_000_000;

/// An axis whose lines are paths: its length and the weight of its edges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path {
    pub length: usize,
    pub weight: f64,
}

/// Least cost of a group of 1, 2, ..., `most` cells; `None` if that takes too long.
pub(super) fn least(axes: [Path; 3], most: usize) -> Option<Vec<f64>> {
    let mut least = vec![0.0; most];
    let mut found = false;
    for across in 0..3 {
        let within = [axes[(across + 1) % 3], axes[(across + 2) % 3]];
        if let Some(lines) = lines(axes[across], within, most) {
            found = true;
            for (least, lines) in least.iter_mut().zip(lines) {
                *least = f64::max(*least, lines);
            }
        }
    }
    let share: f64 = axes
        .iter()
        .map(|axis| axis.weight / axis.length as f64)
        .sum();
    for (before, least) in least.iter_mut().enumerate() {
        *least = (*least - share * (before + 1) as f64).max(0.0);
    }
    found.then_some(least)
}

/// Least weight of the lines on which groups of 1, 2, ..., `most` cells lie, by layers across the
/// first axis.
fn lines(across: Path, within: [Path; 2], most: usize) -> Option<Vec<f64>> {
    let columns = (within[0].length * within[1].length).min(most);
    let rectangles = rectangles(within);
    if columns
        .saturating_mul(most)
        .saturating_mul(rectangles.len())
        > MOST_STEPS
    {
        return None;
    }
    let mut least = vec![f64::INFINITY; most];
    let mut stacks = vec![0.0; most + 1];
    for largest in 1..=columns {
        // Cost of layers of up to `largest` cells that have `cells` cells together.
        for cells in 1..=most {
            let best = rectangles.iter().map(|&(room, cost)| {
                let left = cells.saturating_sub(room.min(largest));
                cost + stacks[left]
            });
            stacks[cells] = best.fold(f64::INFINITY, f64::min);
        }
        let fit = most.min(largest * across.length);
        for cells in 1..=fit {
            let cost = largest as f64 * across.weight + stacks[cells];
            least[cells - 1] = f64::min(least[cells - 1], cost);
        }
    }
    Some(least)
}

/// Rectangles of a layer, as the number of cells that they hold and the weight of their lines: each
/// is the cheapest of its capacity.
fn rectangles(within: [Path; 2]) -> Vec<(usize, f64)> {
    let sides = |path: Path| 1..=path.length;
    let mut all: Vec<(usize, f64)> = sides(within[0])
        .flat_map(|one| sides(within[1]).map(move |other| (one, other)))
        .map(|(one, other)| {
            // A side of `one` cells along the first axis crosses `one` lines of the second.
            let cost = one as f64 * within[1].weight + other as f64 * within[0].weight;
            (one * other, cost)
        })
        .collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    let mut most = 0;
    all.retain(|&(room, _)| {
        let is_larger = room > most;
        most = most.max(room);
        is_larger
    });
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn cubes_cost_their_lines_and_others_no_less_than_a_cube_with_something_on_it() {
        let axes = [Path {
            length: 8,
            weight: 1.0,
        }; 3];
        let least = least(axes, 128).unwrap();
        let lines = |cells: usize| least[cells - 1] + cells as f64 * 3.0 / 8.0;
        assert!((lines(1) - 3.0).abs() < 1e-9);
        assert!((lines(125) - 75.0).abs() < 1e-9);
        assert!((lines(128) - 79.0).abs() < 1e-9);
    }

    #[test]
    fn all_cells_of_a_mesh_cost_nothing_and_flat_ones_follow_the_light_axis() {
        let path = |length, weight| Path { length, weight };
        let all = least([path(2, 1.0), path(3, 2.0), path(4, 3.0)], 24).unwrap();
        assert!(all[23].abs() < 1e-9);
        // Four cells in a square of the heavier axes: two lines of each, four of the light one.
        assert!(
            (all[3] - (2.0 * 3.0 + 2.0 * 2.0 + 4.0 - 4.0 * (0.5 + 2.0 / 3.0 + 0.75))).abs() < 1e-9
        );
    }
}
