//! A picture as a file: SVG or PNG, by the ending of its name.

use std::io;
use std::path::Path;

use plotters::backend::{BitMapBackend, SVGBackend};
use plotters::prelude::{DrawingBackend, IntoDrawingArea};
use treepie_base::write_atomically;
use treepie_launch::error::CommandError;

use super::canvas::{Canvas, Drawn};
use super::draw::draw;
use super::layout::{Layout, UNITS_PER_PIXEL};
use crate::picture::panels::Picture;
use crate::picture::titles::titles;
use crate::picture::{font, theme};

/// Offset by which the letters of a PNG are drawn too high, as a fraction of their size.
const PNG_TEXT_RISE: f64 = 0.16;

/// Formats of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Lines and texts; sharp at any size.
    Svg,
    /// Pixels.
    Png,
}

impl Format {
    /// The format by a file's name.
    ///
    /// # Errors
    /// The name ends neither in `.svg` nor in `.png`.
    pub fn from_path(path: &Path) -> Result<Self, CommandError> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            _ => Err(CommandError::usage(format!(
                "{}: is no picture's name; end it in .svg or .png",
                path.display()
            ))),
        }
    }
}

impl Picture {
    /// Writes the picture atomically.
    ///
    /// # Errors
    /// The ending of the name is not that of a format, or the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), CommandError> {
        self.write_as(Format::from_path(path)?, path)
    }

    /// Writes the picture in one format, regardless of the name of the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_as(&self, format: Format, path: &Path) -> Result<(), CommandError> {
        write_drawing(&self.laid_out(), format, path)
    }

    /// Lays the picture out for drawing.
    pub fn laid_out(&self) -> impl Drawing {
        LaidOut {
            picture: self,
            layout: Layout::new(self),
        }
    }
}

/// A drawing for any backend, in drawing units.
pub trait Drawing {
    /// Its width and height.
    fn size(&self) -> (u32, u32);

    /// Elements of an SVG, over the drawing, that say what is below the pointer.
    fn titles(&self) -> String {
        String::new()
    }

    /// Draws on the canvas.
    ///
    /// # Errors
    /// The backend fails.
    fn draw_on<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn;
}

/// A picture whose parts have positions.
struct LaidOut<'a> {
    picture: &'a Picture,
    layout: Layout,
}

impl Drawing for LaidOut<'_> {
    fn size(&self) -> (u32, u32) {
        self.layout.size
    }

    fn titles(&self) -> String {
        titles(self.picture, &self.layout)
    }

    fn draw_on<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        draw(self.picture, &self.layout, canvas)
    }
}

/// Writes a drawing atomically.
///
/// # Errors
/// The file cannot be written.
pub fn write_drawing(
    drawing: &impl Drawing,
    format: Format,
    path: &Path,
) -> Result<(), CommandError> {
    let drawn = match format {
        Format::Svg => svg(drawing).map(|text| with_style(&text).into_bytes()),
        Format::Png => png(drawing),
    };
    let bytes = drawn.map_err(|reason| {
        CommandError::failed(format!("{}: cannot be drawn: {reason}", path.display()))
    })?;
    write_atomically(path, |out| out.write_all(&bytes))?;
    Ok(())
}

/// The text of an SVG file with the style of its colours.
fn with_style(text: &str) -> String {
    let style = format!("<style>\n{}</style>\n", theme::style(Some(text)));
    let inside = text
        .find("<svg")
        .and_then(|start| Some(start + text[start..].find('>')? + 1));
    match inside {
        Some(at) => format!("{}\n{style}{}", &text[..at], text[at..].trim_start()),
        None => text.to_owned(),
    }
}

/// A drawing as the text of an SVG, whose colours are attributes.
///
/// # Errors
/// The backend fails.
pub fn svg(drawing: &impl Drawing) -> Result<String, String> {
    font::register();
    let size = drawing.size();
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        drawing.draw_on(&Canvas {
            area,
            text_rise: 0.0,
        })?;
    }
    let titles = drawing.titles();
    if !titles.is_empty() {
        text = text.replacen("</svg>", &format!("{titles}</svg>"), 1);
    }
    let (width, height) = size;
    let size_in_units = format!("width=\"{width}\" height=\"{height}\"");
    let pixels = (width / UNITS_PER_PIXEL, height / UNITS_PER_PIXEL);
    let size_in_pixels = format!("width=\"{}\" height=\"{}\"", pixels.0, pixels.1);
    Ok(text.replacen(&size_in_units, &size_in_pixels, 1))
}

fn png(drawing: &impl Drawing) -> Result<Vec<u8>, String> {
    font::register();
    let size = drawing.size();
    let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
        drawing.draw_on(&Canvas {
            area,
            text_rise: PNG_TEXT_RISE,
        })?;
    }
    encode(&pixels, size).map_err(|error| error.to_string())
}

/// Encodes red, green and blue bytes as a PNG file.
fn encode(pixels: &[u8], (width, height): (u32, u32)) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::canvas::Lettering;

    struct Name(&'static str);

    impl Drawing for Name {
        fn size(&self) -> (u32, u32) {
            (400, 100)
        }

        fn draw_on<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
            canvas.text(self.0, (200, 50), Lettering::plain(20.0))
        }
    }

    #[test]
    fn a_name_is_text_in_a_picture_whatever_it_holds() {
        let drawn = svg(&Name("\u{1b}[31m<b>&\n\u{7}</text><script>")).unwrap();
        assert!(
            drawn.contains("\\u{1b}[31m&lt;b&gt;&amp;\\n\\u{7}&lt;/text&gt;"),
            "{drawn}"
        );
        let acts = |letter: char| letter.is_control() && letter != '\n';
        assert!(
            !drawn.contains("<script") && !drawn.contains(acts),
            "{drawn}"
        );
    }
}
