//! Every value as a dot: distributions one below the other on a common axis.
//!
//! ```text
//! title
//!    plain: median 1.03 s
//!          . .:|:. .          .   dots, the bar of the middle half, the line of the centre
//!    app.placement.yaml: median 0.98 s
//!     .:|: .
//!    +------------------------+
//!         axis of the strip
//! ```

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;

use super::axis::Scale;
use super::canvas::{Canvas, Drawn, GREY, Lettering};
use super::chart::{COLOURS, PALE, TEXT, TITLE};
use super::write::Drawing;

const WIDTH: i32 = 1900;
const MARGIN: i32 = 70;
const TOP: i32 = 90;
/// Height of a row; its name is in the upper part of it.
const ROW: i32 = 180;
const NAME: i32 = 44;
/// Height of the numbers and the name below a strip.
const BELOW: i32 = 130;
/// Distance at which dots touch.
const STEP: i32 = 15;
/// Maximum number of stacked dots: more overlap.
const MOST_LEVELS: usize = 7;
const BAND: RGBColor = RGBColor(240, 240, 240);

/// Values of one kind.
#[derive(Debug, Clone)]
pub struct DotRow {
    /// Its name, with remarks.
    pub name: String,
    /// All values.
    pub values: Vec<f64>,
    /// Median or estimate: drawn as a vertical line.
    pub centre: Option<f64>,
    /// Interval drawn as a bar.
    pub bar: Option<(f64, f64)>,
    /// Number of its colour.
    pub colour: usize,
}

/// Rows on one axis.
#[derive(Debug, Clone)]
pub struct Strip {
    /// Name of the axis.
    pub name: &'static str,
    /// Formats a mark as text, from its value and the distance between marks.
    pub mark: fn(f64, f64) -> String,
    /// Range that is always visible, with a shaded background.
    pub band: Option<(f64, f64)>,
    /// Rows from top to bottom.
    pub rows: Vec<DotRow>,
}

/// Strips one below the other.
#[derive(Debug, Clone)]
pub struct Dots {
    /// Title.
    pub title: String,
    /// Strips from top to bottom.
    pub strips: Vec<Strip>,
}

impl Strip {
    fn height(&self) -> i32 {
        self.rows.len() as i32 * ROW
    }

    fn scale(&self) -> Scale {
        let ends = |(low, high): (f64, f64)| [low, high];
        let of_row = |row: &DotRow| -> Vec<f64> {
            let bar = row.bar.into_iter().flat_map(ends);
            row.values
                .iter()
                .copied()
                .chain(row.centre)
                .chain(bar)
                .collect()
        };
        let rows = self.rows.iter().flat_map(of_row);
        Scale::close_to(rows.chain(self.band.into_iter().flat_map(ends)))
    }
}

impl Drawing for Dots {
    fn size(&self) -> (u32, u32) {
        let strips = self.strips.iter().map(|strip| strip.height() + BELOW);
        (WIDTH as u32, (TOP + strips.sum::<i32>()) as u32)
    }

    fn draw_on<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        canvas.clear()?;
        canvas.text(&self.title, (WIDTH / 2, TOP / 2), TITLE)?;
        let mut top = TOP;
        for strip in &self.strips {
            draw_strip(strip, top, canvas)?;
            top += strip.height() + BELOW;
        }
        Ok(())
    }
}

fn draw_strip<DB: DrawingBackend>(strip: &Strip, top: i32, canvas: &Canvas<DB>) -> Drawn {
    let scale = strip.scale();
    let (width, height) = (WIDTH - 2 * MARGIN, strip.height());
    let bottom = top + height;
    let place = |value: f64| MARGIN + (scale.place(value) * f64::from(width)) as i32;
    if let Some((low, high)) = strip.band {
        let (left, right) = (place(low), place(high));
        canvas.rectangle((left, top), (right - left, height), BAND)?;
    }
    for mark in scale.marks() {
        let at = place(mark);
        canvas.line((at, top), (at, bottom), PALE, 1)?;
        canvas.text(&(strip.mark)(mark, scale.step()), (at, bottom + 28), TEXT)?;
    }
    canvas.text(strip.name, (MARGIN + width / 2, bottom + 70), TEXT)?;
    canvas.frame((MARGIN, top), (width, height), GREY)?;
    for (number, row) in strip.rows.iter().enumerate() {
        draw_row(row, top + number as i32 * ROW, place, canvas)?;
    }
    Ok(())
}

fn draw_row<DB: DrawingBackend>(
    row: &DotRow,
    top: i32,
    place: impl Fn(f64) -> i32,
    canvas: &Canvas<DB>,
) -> Drawn {
    let colour = COLOURS[row.colour % COLOURS.len()];
    let left = Lettering {
        anchor: HPos::Left,
        ..TEXT
    };
    canvas.text(&row.name, (MARGIN + 18, top + NAME / 2 + 4), left)?;
    let middle = top + NAME + (ROW - NAME) / 2;
    let half = (ROW - NAME) / 2 - 8;
    if let Some((low, high)) = row.bar {
        let (low, high) = (place(low), place(high));
        canvas.rectangle(
            (low, middle - half),
            ((high - low).max(2), 2 * half),
            lighter(colour),
        )?;
    }
    let places: Vec<i32> = row.values.iter().map(|&value| place(value)).collect();
    for (at, level) in levels(places) {
        canvas.dot((at, middle + level * STEP), 7, colour)?;
    }
    if let Some(centre) = row.centre.map(place) {
        canvas.line((centre, middle - half), (centre, middle + half), colour, 5)?;
    }
    Ok(())
}

/// Each dot with its level: 0, and alternately above and below it if dots would overlap.
fn levels(mut places: Vec<i32>) -> Vec<(i32, i32)> {
    places.sort_unstable();
    // The last dot of each level.
    let mut ends = [i32::MIN; MOST_LEVELS];
    let mut put = |at: i32| {
        let free = ends.iter().position(|&end| end.saturating_add(STEP) <= at);
        let level = free.unwrap_or(0);
        ends[level] = at;
        let distance = level.div_ceil(2) as i32;
        let sign = if level % 2 == 1 { -1 } else { 1 };
        (at, sign * distance)
    };
    places.into_iter().map(&mut put).collect()
}

/// A lighter colour, as background for dots of the same colour.
fn lighter(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let [red, green, blue] = [red, green, blue].map(|part| 255 - (255 - part) / 5);
    RGBColor(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_that_would_cover_each_other_are_put_beside_the_line() {
        assert_eq!(
            levels(vec![40, 0, 5, 8, 60]),
            [(0, 0), (5, -1), (8, 1), (40, 0), (60, 0)]
        );
    }

    #[test]
    fn more_dots_than_fit_are_drawn_over_each_other() {
        let placed = levels(vec![0; 100]);
        assert_eq!(placed.len(), 100);
        assert!(placed.iter().all(|(_, level)| level.abs() <= 3));
    }
}
