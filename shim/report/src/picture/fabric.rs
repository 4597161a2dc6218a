//! Links of a network with their traffic: planes of a torus, groups of a dragonfly.

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;

use super::canvas::{Canvas, Drawn, GREY, Lettering};
use super::scale::{Scale, Unit};
use super::write::Drawing;

const BARE: RGBColor = RGBColor(190, 190, 190);
const NODE: RGBColor = RGBColor(60, 60, 60);

/// Side of a panel and its margin.
const SIDE: i32 = 560;
const MARGIN: i32 = 60;

const TOP: i32 = 90;
const LEGEND: i32 = 90;

/// A vertex, at coordinates from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Position from left to right, and from top to bottom.
    pub at: (f64, f64),
    /// Load of links that are not drawn as a line there.
    pub load: f64,
}

/// A link, with both directions in one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Start of the line.
    pub from: (f64, f64),
    /// End of the line.
    pub to: (f64, f64),
    /// Load of the busier direction.
    pub load: f64,
}

/// A part of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Title.
    pub title: String,
    /// Its vertices.
    pub points: Vec<Point>,
    /// Its links.
    pub lines: Vec<Line>,
}

/// Parts of a network under one scale of colours.
#[derive(Debug, Clone)]
pub struct Fabric {
    /// Title.
    pub title: String,
    /// Unit of the loads; `None` without traffic.
    pub unit: Option<Unit>,
    /// The parts, row by row.
    pub rows: Vec<Vec<Part>>,
}

impl Fabric {
    fn scale(&self) -> Option<Scale> {
        let loads = self.rows.iter().flatten().flat_map(Part::loads);
        let loads: Vec<f64> = loads.filter(|&load| load > 0.0).collect();
        let low = loads.iter().copied().fold(f64::INFINITY, f64::min);
        let high = loads.iter().copied().fold(0.0, f64::max);
        let unit = self.unit.filter(|_| high > 0.0)?;
        Some(Scale::new(unit, low, high))
    }

    /// Number of parts of the longest row, at least two so that the title fits.
    fn columns(&self) -> i32 {
        self.rows.iter().map(Vec::len).max().unwrap_or(0).max(2) as i32
    }
}

impl Drawing for Fabric {
    fn size(&self) -> (u32, u32) {
        let width = self.columns() * SIDE + MARGIN;
        let height = TOP + self.rows.len().max(1) as i32 * (SIDE + 40) + LEGEND;
        (width as u32, height as u32)
    }

    fn draw_on<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        canvas.clear()?;
        let (width, height) = self.size();
        let middle = width as i32 / 2;
        canvas.text(&self.title, (middle, 45), Lettering::strong(36.0))?;
        let scale = self.scale();
        let mut top = TOP;
        for row in &self.rows {
            let mut left = middle - row.len() as i32 * SIDE / 2;
            for part in row {
                part.draw_in((left, top), scale.as_ref(), canvas)?;
                left += SIDE;
            }
            top += SIDE + 40;
        }
        match (scale, self.unit) {
            (Some(scale), Some(unit)) => legend(&scale, unit, (middle, height as i32 - 55), canvas),
            _ => Ok(()),
        }
    }
}

impl Part {
    /// Loads of its links.
    pub fn loads(&self) -> impl Iterator<Item = f64> {
        let points = self.points.iter().map(|point| point.load);
        self.lines.iter().map(|line| line.load).chain(points)
    }

    fn draw_in<DB: DrawingBackend>(
        &self,
        corner: (i32, i32),
        scale: Option<&Scale>,
        canvas: &Canvas<DB>,
    ) -> Drawn {
        let centre = corner.0 + SIDE / 2;
        canvas.text(&self.title, (centre, corner.1 + 16), Lettering::plain(24.0))?;
        let inner = f64::from(SIDE - MARGIN);
        let at = |(x, y): (f64, f64)| {
            let left = f64::from(corner.0 + MARGIN / 2);
            let top = f64::from(corner.1 + 40);
            ((left + x * inner) as i32, (top + y * inner) as i32)
        };
        let colour = |load: f64| match scale {
            Some(scale) if load > 0.0 => scale.colour(load),
            _ => BARE,
        };
        // The most loaded lines must not be hidden behind others.
        let mut lines: Vec<&Line> = self.lines.iter().collect();
        lines.sort_by(|a, b| a.load.total_cmp(&b.load));
        for line in lines {
            let wide = if line.load > 0.0 { 5 } else { 1 };
            canvas.line(at(line.from), at(line.to), colour(line.load), wide)?;
        }
        let radius = if self.points.len() > 400 { 4 } else { 8 };
        for point in &self.points {
            canvas.dot(at(point.at), radius + 2, NODE)?;
            canvas.dot(at(point.at), radius, colour(point.load))?;
        }
        Ok(())
    }
}

/// Draws the colours and their meaning.
fn legend<DB: DrawingBackend>(
    scale: &Scale,
    unit: Unit,
    centre: (i32, i32),
    canvas: &Canvas<DB>,
) -> Drawn {
    const STEPS: i32 = 64;
    const WIDTH: i32 = 10;
    let left = centre.0 - STEPS * WIDTH / 2;
    for step in 0..STEPS {
        let colour = super::scale::colour_at(f64::from(step) / f64::from(STEPS - 1));
        canvas.rectangle((left + step * WIDTH, centre.1), (WIDTH, 18), colour)?;
    }
    for mark in scale.marks() {
        let x = left + (scale.place(mark) * f64::from(STEPS * WIDTH)) as i32;
        let letters = Lettering {
            colour: GREY,
            anchor: HPos::Center,
            ..Lettering::plain(20.0)
        };
        canvas.text(&unit.mark(mark), (x, centre.1 + 34), letters)?;
    }
    Ok(())
}
