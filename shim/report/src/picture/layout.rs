//! Layout of the parts of a picture, in drawing units. Two of them make one pixel of a screen, so
//! that lines can be half a pixel thin.

use super::grid::Grid;
use crate::picture::panels::{Panel, Picture};
use crate::words::plural;

/// Drawing units in a pixel of a screen, for SVG.
pub(crate) const UNITS_PER_PIXEL: u32 = 2;

/// Maximum width of a heat map, alone and beside another.
const WIDEST_ALONE: usize = 1120;
const WIDEST_BESIDE: usize = 920;

/// Minimum width of a cell: thinner ones are not visible on a screen.
const SMALLEST_CELL: usize = 4;

const MARGIN: i32 = 40;
const TITLE: i32 = 72;
const PANEL_TITLE: i32 = 52;
const LEFT_LABELS: i32 = 132;
const BELOW_LABELS: i32 = 104;
const CAPTION_LINE: i32 = 40;
const GAP: i32 = 40;
const BAR_GAP: i32 = 56;
const BAR_WIDTH: i32 = 40;
const BAR_LABELS: i32 = 220;

/// A square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Square {
    /// Its left edge.
    pub left: i32,
    /// Its upper edge.
    pub top: i32,
    /// Its width and height.
    pub size: i32,
}

/// Positions of all parts.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Width and height of the picture.
    pub size: (u32, u32),
    /// Square of each heat map.
    pub squares: Vec<Square>,
    /// The heat maps as cells.
    pub grids: Vec<Grid>,
    /// The lines below each of them.
    pub captions: Vec<Vec<String>>,
    /// Left, top, width, height of the colour bar.
    pub bar: (i32, i32, i32, i32),
    /// The middle of the title, and its top.
    pub title: (i32, i32),
}

impl Layout {
    /// Computes positions for all panels of a picture.
    pub fn new(picture: &Picture) -> Self {
        let widest = match picture.panels.len() {
            1 => WIDEST_ALONE,
            _ => WIDEST_BESIDE,
        };
        let panels = picture.panels.iter();
        let grids: Vec<Grid> = panels
            .map(|panel| Grid::new(&panel.matrix, widest / SMALLEST_CELL))
            .collect();
        let top = MARGIN + TITLE + PANEL_TITLE;
        let mut left = MARGIN;
        let mut squares = Vec::new();
        for grid in &grids {
            let side = grid.side.max(1);
            let size = (widest / side * side) as i32;
            left += LEFT_LABELS;
            squares.push(Square { left, top, size });
            left += size + GAP;
        }
        let size = squares.iter().map(|square| square.size).max().unwrap_or(0);
        let bar_left = left - GAP + BAR_GAP;
        let width = bar_left + BAR_WIDTH + BAR_LABELS;
        let captions: Vec<Vec<String>> = picture
            .panels
            .iter()
            .zip(&grids)
            .map(|(panel, grid)| captions(&picture.axis, panel, grid))
            .collect();
        let lines = captions.iter().map(Vec::len).max().unwrap_or(0) as i32;
        let height = top + size + BELOW_LABELS + CAPTION_LINE * lines + MARGIN;
        Layout {
            size: (width as u32, height as u32),
            squares,
            grids,
            captions,
            bar: (bar_left, top, BAR_WIDTH, size),
            title: (width / 2, MARGIN + 8),
        }
    }

    /// The middle of the line for the title of a panel.
    pub(crate) fn panel_title(&self, square: Square) -> (i32, i32) {
        (
            square.left + square.size / 2,
            square.top - PANEL_TITLE / 2 - 4,
        )
    }

    /// The middle of the name of the columns.
    pub(crate) fn column_name(&self, square: Square) -> (i32, i32) {
        (square.left + square.size / 2, square.top + square.size + 70)
    }

    /// The middle of the name of the rows.
    pub(crate) fn row_name(&self, square: Square) -> (i32, i32) {
        (square.left - LEFT_LABELS + 24, square.top + square.size / 2)
    }

    /// The middle of a line below a panel.
    pub fn caption(&self, square: Square, line: usize) -> (i32, i32) {
        let below = square.top + square.size + BELOW_LABELS;
        (
            square.left + square.size / 2,
            below + CAPTION_LINE * line as i32 + CAPTION_LINE / 2,
        )
    }
}

/// Captions of a panel.
fn captions(axis: &str, panel: &Panel, grid: &Grid) -> Vec<String> {
    let mut captions = panel.captions.clone();
    let mut hints = Vec::new();
    let mut colours = ["red", "grey", "light"].into_iter();
    for (block, colour) in panel.blocks.iter().zip(&mut colours) {
        hints.push(format!("{colour} lines: {}", plural(&block.level)));
    }
    if grid.per_cell > 1 {
        hints.push(format!(
            "a cell sums {0} x {0} {1}",
            grid.per_cell,
            plural(axis)
        ));
    }
    if !hints.is_empty() {
        captions.push(hints.join(", "));
    }
    captions
}
