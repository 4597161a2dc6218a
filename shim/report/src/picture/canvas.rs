//! The basic shapes of pictures, on any drawing backend of plotters.

use plotters::coord::Shift;
use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::prelude::{DrawingArea, DrawingBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontStyle, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle, WHITE,
};

use super::font;
use treepie_base::printable::one_line;

/// Style and anchor of a text.
#[derive(Clone, Copy)]
pub struct Lettering {
    /// Height in drawing units.
    pub size: f64,
    /// True for bold text.
    pub bold: bool,
    /// Its colour.
    pub colour: RGBColor,
    /// Horizontal anchor; the vertical one is the middle.
    pub anchor: HPos,
    /// True if it reads upwards.
    pub upwards: bool,
}

/// The colour of text.
const BLACK: RGBColor = RGBColor(0, 0, 0);
/// Colour of remarks.
pub(crate) const GREY: RGBColor = RGBColor(80, 80, 80);

impl Lettering {
    /// Black text centred at its point.
    pub const fn plain(size: f64) -> Self {
        Lettering {
            size,
            bold: false,
            colour: BLACK,
            anchor: HPos::Center,
            upwards: false,
        }
    }

    /// Bold text, for titles.
    pub const fn strong(size: f64) -> Self {
        Lettering {
            bold: true,
            ..Lettering::plain(size)
        }
    }
}

/// A surface to draw on.
pub struct Canvas<DB: DrawingBackend> {
    /// Drawing area of plotters.
    pub area: DrawingArea<DB, Shift>,
    /// Offset by which the backend draws the middle of a text too high, as a fraction of its size.
    pub text_rise: f64,
}

/// Result of drawing, with the reason of a failure.
pub type Drawn = Result<(), String>;

impl<DB: DrawingBackend> Canvas<DB> {
    /// Fills the surface with white.
    pub fn clear(&self) -> Drawn {
        self.area.fill(&WHITE).map_err(|error| error.to_string())
    }

    /// Draws a filled rectangle.
    pub(crate) fn rectangle(
        &self,
        corner: (i32, i32),
        size: (i32, i32),
        colour: RGBColor,
    ) -> Drawn {
        let end = (corner.0 + size.0, corner.1 + size.1);
        self.put(&Rectangle::new([corner, end], colour.filled()))
    }

    /// Draws a filled circle.
    pub fn dot(&self, centre: (i32, i32), radius: i32, colour: RGBColor) -> Drawn {
        self.put(&Circle::new(centre, radius, colour.filled()))
    }

    /// Draws the edge of a rectangle.
    pub fn frame(&self, corner: (i32, i32), size: (i32, i32), colour: RGBColor) -> Drawn {
        let end = (corner.0 + size.0, corner.1 + size.1);
        self.put(&Rectangle::new([corner, end], colour.stroke_width(2)))
    }

    /// Draws a straight line.
    pub fn line(&self, from: (i32, i32), to: (i32, i32), colour: RGBColor, width: u32) -> Drawn {
        let style = ShapeStyle {
            color: colour.to_rgba(),
            filled: false,
            stroke_width: width,
        };
        self.put(&PathElement::new([from, to], style))
    }

    /// Draws a text whose anchor is at `point`.
    pub fn text(&self, text: &str, point: (i32, i32), how: Lettering) -> Drawn {
        let style = if how.bold {
            FontStyle::Bold
        } else {
            FontStyle::Normal
        };
        let mut letters = (font::FAMILY, how.size, style).into_font();
        if how.upwards {
            letters = letters.transform(FontTransform::Rotate270);
        }
        let style = TextStyle::from(letters)
            .color(&how.colour)
            .pos(Pos::new(how.anchor, VPos::Center));
        let drop = (self.text_rise * how.size).round() as i32;
        let point = if how.upwards {
            (point.0 + drop, point.1)
        } else {
            (point.0, point.1 + drop)
        };
        self.put(&Text::new(one_line(text), point, style))
    }

    fn put<'a, E>(&self, element: &'a E) -> Drawn
    where
        &'a E: plotters::element::PointCollection<'a, (i32, i32)>,
        E: plotters::element::Drawable<DB>,
    {
        self.area.draw(element).map_err(|error| error.to_string())
    }
}
