//! Drawing a picture, part by part, from back to front.

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;

use super::canvas::{Canvas, Drawn, GREY, Lettering};
use super::grid::Grid;
use super::layout::{Layout, Square};
use super::scale::{Scale, colour_at};
use crate::picture::blocks::Block;
use crate::picture::panels::{Panel, Picture};

const PALE: RGBColor = RGBColor(247, 247, 247);

/// Lines of the coarsest level of blocks and of those below it.
const BLOCK_LINES: [(RGBColor, u32); 3] = [
    (RGBColor(214, 39, 40), 4),
    (RGBColor(110, 110, 110), 2),
    (RGBColor(190, 190, 190), 1),
];

/// Number of lines above which they are drawn thinner.
const MANY_LINES: usize = 8;
const VERY_MANY_LINES: usize = 16;

/// Approximate number of ranks named along an edge.
const MOST_TICKS: usize = 16;

const TITLE: Lettering = Lettering::strong(42.0);
const PANEL_TITLE: Lettering = Lettering::strong(33.0);
const TEXT: Lettering = Lettering::plain(27.0);
const CAPTION: Lettering = Lettering {
    colour: GREY,
    ..TEXT
};

/// Draws everything.
pub fn draw<DB: DrawingBackend>(picture: &Picture, layout: &Layout, canvas: &Canvas<DB>) -> Drawn {
    canvas.clear()?;
    canvas.text(&picture.title, layout.title, TITLE)?;
    let scale = common_scale(picture, layout);
    for ((panel, &square), grid) in picture
        .panels
        .iter()
        .zip(&layout.squares)
        .zip(&layout.grids)
    {
        let size = (square.size, square.size);
        canvas.rectangle((square.left, square.top), size, PALE)?;
        if let Some(scale) = &scale {
            draw_cells(grid, scale, square, canvas)?;
        }
        draw_blocks(&panel.blocks, panel.matrix.order(), square, canvas)?;
        canvas.frame((square.left, square.top), size, GREY)?;
        draw_ticks(panel.matrix.order(), square, canvas)?;
        draw_names(picture, panel, layout, square, canvas)?;
    }
    for (captions, &square) in layout.captions.iter().zip(&layout.squares) {
        for (line, caption) in captions.iter().enumerate() {
            canvas.text(caption, layout.caption(square, line), CAPTION)?;
        }
    }
    match scale {
        Some(scale) => draw_bar(picture, &scale, layout, canvas),
        None => Ok(()),
    }
}

/// One scale for all panels, or `None` without traffic.
fn common_scale(picture: &Picture, layout: &Layout) -> Option<Scale> {
    let ranges = layout.grids.iter().filter_map(Grid::range);
    let (low, high) = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    Some(Scale::new(picture.unit, low, high))
}

/// Draws the cells; adjacent cells of one colour become one rectangle.
fn draw_cells<DB: DrawingBackend>(
    grid: &Grid,
    scale: &Scale,
    square: Square,
    canvas: &Canvas<DB>,
) -> Drawn {
    let cell = square.size / grid.side as i32;
    for (row, values) in grid.values.chunks(grid.side).enumerate() {
        let colours: Vec<Option<RGBColor>> = values
            .iter()
            .map(|&value| (value > 0.0).then(|| scale.colour(value)))
            .collect();
        let mut left = 0;
        for run in colours.chunk_by(|a, b| a == b) {
            if let Some(colour) = run[0] {
                let corner = (
                    square.left + left as i32 * cell,
                    square.top + row as i32 * cell,
                );
                canvas.rectangle(corner, (run.len() as i32 * cell, cell), colour)?;
            }
            left += run.len();
        }
    }
    Ok(())
}

/// Position of the edge between two rows of the matrix, from the top or the left.
fn edge(row: usize, order: usize, square: Square) -> i32 {
    (row as i64 * i64::from(square.size) / order.max(1) as i64) as i32
}

/// Draws the finer levels first, so that the coarser ones are on top.
fn draw_blocks<DB: DrawingBackend>(
    blocks: &[Block],
    order: usize,
    square: Square,
    canvas: &Canvas<DB>,
) -> Drawn {
    for (block, (colour, width)) in blocks.iter().zip(BLOCK_LINES).rev() {
        let width = match block.ends.len() {
            lines if lines > VERY_MANY_LINES => 1,
            lines if lines > MANY_LINES => width.div_ceil(2),
            _ => width,
        };
        for &end in &block.ends {
            let at = edge(end, order, square);
            let (x, y) = (square.left + at, square.top + at);
            canvas.line(
                (square.left, y),
                (square.left + square.size, y),
                colour,
                width,
            )?;
            canvas.line(
                (x, square.top),
                (x, square.top + square.size),
                colour,
                width,
            )?;
        }
    }
    Ok(())
}

/// Draws the numbers along the left and the lower edge.
fn draw_ticks<DB: DrawingBackend>(order: usize, square: Square, canvas: &Canvas<DB>) -> Drawn {
    let target = if order > 64 {
        MOST_TICKS / 2
    } else {
        MOST_TICKS
    };
    let step = (0..)
        .map(|power| 1_usize << power)
        .find(|step| order.div_ceil(*step) <= target);
    let bottom = square.top + square.size;
    for rank in (0..order).step_by(step.unwrap_or(1)) {
        let middle = (edge(rank, order, square) + edge(rank + 1, order, square)) / 2;
        let (x, y) = (square.left + middle, square.top + middle);
        canvas.line((square.left - 8, y), (square.left, y), GREY, 2)?;
        canvas.line((x, bottom), (x, bottom + 8), GREY, 2)?;
        let label = rank.to_string();
        let at_left = Lettering {
            anchor: HPos::Right,
            ..TEXT
        };
        canvas.text(&label, (square.left - 16, y), at_left)?;
        canvas.text(&label, (x, bottom + 28), TEXT)?;
    }
    Ok(())
}

/// Draws the words around one panel.
fn draw_names<DB: DrawingBackend>(
    picture: &Picture,
    panel: &Panel,
    layout: &Layout,
    square: Square,
    canvas: &Canvas<DB>,
) -> Drawn {
    canvas.text(&panel.title, layout.panel_title(square), PANEL_TITLE)?;
    let receiver = format!("receiving {}", picture.axis);
    canvas.text(&receiver, layout.column_name(square), TEXT)?;
    let sender = format!("sending {}", picture.axis);
    let upwards = Lettering {
        upwards: true,
        ..TEXT
    };
    canvas.text(&sender, layout.row_name(square), upwards)
}

/// Draws the colour bar with its marks.
fn draw_bar<DB: DrawingBackend>(
    picture: &Picture,
    scale: &Scale,
    layout: &Layout,
    canvas: &Canvas<DB>,
) -> Drawn {
    let (left, top, width, height) = layout.bar;
    for line in (0..height).step_by(4) {
        let place = 1.0 - f64::from(line) / f64::from(height);
        let thickness = 4.min(height - line);
        canvas.rectangle((left, top + line), (width, thickness), colour_at(place))?;
    }
    canvas.frame((left, top), (width, height), GREY)?;
    for mark in scale.marks() {
        let y = top + height - (scale.place(mark) * f64::from(height)).round() as i32;
        canvas.line((left + width, y), (left + width + 8, y), GREY, 2)?;
        let beside = Lettering {
            anchor: HPos::Left,
            ..TEXT
        };
        canvas.text(&picture.unit.mark(mark), (left + width + 18, y), beside)?;
    }
    let name = Lettering {
        anchor: HPos::Left,
        ..TEXT
    };
    canvas.text(picture.unit.title(), (left, top - 34), name)
}
