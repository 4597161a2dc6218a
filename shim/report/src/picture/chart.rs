//! Curves over logarithmic or plain axes.

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;

use super::axis::{Axis, Scale};
use super::canvas::{Canvas, Drawn, GREY, Lettering};
use super::write::Drawing;

/// Colours that most readers can distinguish (Okabe and Ito 2008).
pub(super) const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(150, 150, 150),
];
pub(super) const PALE: RGBColor = RGBColor(225, 225, 225);

pub(super) const TITLE: Lettering = Lettering::strong(33.0);
pub(super) const TEXT: Lettering = Lettering::plain(25.0);

/// A named curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name, for the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Style of the points.
    pub style: Style,
    /// Number of its colour: two series with the same number belong together.
    pub colour: usize,
}

/// Style of the points of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A line with marked points.
    Marked,
    /// A line.
    Line,
    /// Points.
    Points,
}

/// Curves in one frame.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Title.
    pub title: String,
    /// Horizontal axis and the format of its marks.
    pub across: Axis,
    /// Vertical axis and the format of its marks.
    pub upwards: Axis,
    /// The curves.
    pub series: Vec<Series>,
}

/// Frame of a chart, in drawing units.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// Left edge.
    pub left: i32,
    /// Upper edge.
    pub top: i32,
    /// Width.
    pub width: i32,
    /// Height.
    pub height: i32,
}

impl Frame {
    /// The part for the curves: labels are to the left, below and to the right.
    fn inner(self) -> Frame {
        Frame {
            left: self.left + 190,
            top: self.top + 80,
            width: self.width - 560,
            height: self.height - 200,
        }
    }
}

impl Drawing for Chart {
    fn size(&self) -> (u32, u32) {
        (1900, 1000)
    }

    fn draw_on<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        canvas.clear()?;
        let frame = Frame {
            left: 0,
            top: 20,
            width: 1900,
            height: 960,
        };
        self.draw_in(frame, canvas)
    }
}

impl Chart {
    /// Draws the chart in a frame of a larger picture.
    pub(crate) fn draw_in<DB: DrawingBackend>(&self, frame: Frame, canvas: &Canvas<DB>) -> Drawn {
        let inner = frame.inner();
        let middle = inner.left + inner.width / 2;
        canvas.text(&self.title, (middle, frame.top + 30), TITLE)?;
        let points = || self.series.iter().flat_map(|series| series.points.iter());
        let x = Scale::new(self.across, points().map(|point| point.0));
        let y = Scale::new(self.upwards, points().map(|point| point.1));
        let place_x = |value| inner.left + (x.place(value) * f64::from(inner.width)) as i32;
        let place_y =
            |value| inner.top + inner.height - (y.place(value) * f64::from(inner.height)) as i32;
        let (bottom, right) = (inner.top + inner.height, inner.left + inner.width);
        for mark in x.marks() {
            let at = place_x(mark);
            canvas.line((at, inner.top), (at, bottom), PALE, 1)?;
            canvas.text(&(self.across.mark)(mark), (at, bottom + 28), TEXT)?;
        }
        let beside = Lettering {
            anchor: HPos::Right,
            ..TEXT
        };
        for mark in y.marks() {
            let at = place_y(mark);
            canvas.line((inner.left, at), (right, at), PALE, 1)?;
            canvas.text(&(self.upwards.mark)(mark), (inner.left - 14, at), beside)?;
        }
        canvas.frame((inner.left, inner.top), (inner.width, inner.height), GREY)?;
        canvas.text(self.across.name, (middle, bottom + 76), TEXT)?;
        let sideways = Lettering {
            upwards: true,
            ..TEXT
        };
        let centre = inner.top + inner.height / 2;
        canvas.text(self.upwards.name, (frame.left + 30, centre), sideways)?;
        for (number, series) in self.series.iter().enumerate() {
            let colour = COLOURS[series.colour % COLOURS.len()];
            let shown = |point: &&(f64, f64)| x.shows(point.0) && y.shows(point.1);
            let places: Vec<(i32, i32)> = series
                .points
                .iter()
                .filter(shown)
                .map(|&(across, up)| (place_x(across), place_y(up)))
                .collect();
            let line = inner.top + 24 + 36 * number as i32;
            if series.style != Style::Points {
                for pair in places.windows(2) {
                    canvas.line(pair[0], pair[1], colour, 4)?;
                }
                canvas.line((right + 24, line), (right + 64, line), colour, 5)?;
            }
            if series.style != Style::Line {
                for place in &places {
                    canvas.rectangle((place.0 - 6, place.1 - 6), (12, 12), colour)?;
                }
                canvas.rectangle((right + 38, line - 6), (12, 12), colour)?;
            }
            let legend = Lettering {
                anchor: HPos::Left,
                ..TEXT
            };
            canvas.text(&series.name, (right + 76, line), legend)?;
        }
        Ok(())
    }
}
