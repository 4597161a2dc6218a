//! Names and values of the cells of heat maps, which a browser shows under the pointer.

use treepie_base::printable::{markup, one_line};

use super::grid::Grid;
use super::layout::{Layout, Square};
use crate::picture::panels::Picture;

/// More cells than this would make a page heavy.
const MOST_CELLS: usize = 8 << 10;

/// A see-through square with its title over each cell of a picture.
pub(super) fn titles(picture: &Picture, layout: &Layout) -> String {
    let filled = |grid: &Grid| grid.values.iter().filter(|&&value| value > 0.0).count();
    if layout.grids.iter().map(filled).sum::<usize>() > MOST_CELLS {
        return String::new();
    }
    let panels = layout.grids.iter().zip(&layout.squares);
    panels
        .map(|(grid, &square)| of_panel(picture, grid, square))
        .collect()
}

fn of_panel(picture: &Picture, grid: &Grid, square: Square) -> String {
    let cell = square.size / grid.side.max(1) as i32;
    let cells = grid.values.iter().enumerate();
    let cells = cells
        .filter(|(_, value)| **value > 0.0)
        .map(|(at, &value)| {
            let (row, column) = (at / grid.side, at % grid.side);
            let title = format!(
                "{} {} to {}: {}",
                picture.axis,
                members(grid, row),
                members(grid, column),
                picture.unit.text(value)
            );
            let title = markup(&one_line(&title));
            format!("<path d=\"M{column} {row}h1v1h-1z\"><title>{title}</title></path>\n")
        });
    format!(
        "<g class=\"titles\" fill-opacity=\"0\" transform=\"translate({},{}) scale({cell})\">\n{}</g>\n",
        square.left,
        square.top,
        cells.collect::<String>()
    )
}

/// Numbers in the matrix of those that a row of cells stands for.
fn members(grid: &Grid, row: usize) -> String {
    let first = row * grid.per_cell;
    match grid.per_cell {
        1 => first.to_string(),
        some => format!("{first}-{}", first + some - 1),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use treepie_traffic::Matrix;

    use super::*;
    use crate::picture::scale::Unit;
    use crate::picture::write::svg;

    #[test]
    fn each_cell_says_which_ranks_and_how_much() {
        let matrix = Matrix::from_rows(&[[0.0, 2048.0], [0.0, 0.0]]).unwrap();
        let picture = Picture::by_rank("a".to_owned(), Unit::Bytes, "all".to_owned(), matrix);
        let drawn = svg(&picture.laid_out()).unwrap();
        assert_eq!(drawn.matches("<title>").count(), 1);
        assert!(
            drawn.contains("<title>rank 0 to 1: 2 KiB</title>"),
            "{drawn}"
        );
    }
}
