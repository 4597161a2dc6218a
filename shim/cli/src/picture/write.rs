//! A picture as a file: SVG or PNG, as its name ends.

use std::io;
use std::path::Path;

use plotters::backend::{BitMapBackend, SVGBackend};
use plotters::prelude::IntoDrawingArea;
use treepie_core::files::write_atomically;

use super::canvas::Canvas;
use super::draw::draw;
use super::layout::{Layout, UNITS_PER_PIXEL};
use super::{Picture, font};
use crate::error::CommandError;

/// How far the letters of a PNG come out too high, in parts of their size.
const PNG_TEXT_RISE: f64 = 0.16;

/// What a picture can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Lines and texts; sharp at any size.
    Svg,
    /// Pixels.
    Png,
}

impl Format {
    /// The format that a file's name asks for.
    ///
    /// # Errors
    /// A name that ends neither in `.svg` nor in `.png`.
    pub fn of(path: &Path) -> Result<Self, CommandError> {
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
    /// Writes the picture whole, or not at all.
    ///
    /// # Errors
    /// A name of no known format; a file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), CommandError> {
        self.write_as(Format::of(path)?, path)
    }

    /// Writes the picture in one format, whatever the file is called.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_as(&self, format: Format, path: &Path) -> Result<(), CommandError> {
        let drawn = match format {
            Format::Svg => self.svg().map(String::into_bytes),
            Format::Png => self.png(),
        };
        let bytes = drawn.map_err(|reason| {
            CommandError::failed(format!("{}: cannot be drawn: {reason}", path.display()))
        })?;
        write_atomically(path, |out| out.write_all(&bytes))?;
        Ok(())
    }

    fn svg(&self) -> Result<String, String> {
        font::register();
        let layout = Layout::new(self);
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, layout.size).into_drawing_area();
            draw(
                self,
                &layout,
                &Canvas {
                    area,
                    text_rise: 0.0,
                },
            )?;
        }
        let (width, height) = layout.size;
        let size_in_units = format!("width=\"{width}\" height=\"{height}\"");
        let pixels = (width / UNITS_PER_PIXEL, height / UNITS_PER_PIXEL);
        let size_in_pixels = format!("width=\"{}\" height=\"{}\"", pixels.0, pixels.1);
        Ok(text.replacen(&size_in_units, &size_in_pixels, 1))
    }

    fn png(&self) -> Result<Vec<u8>, String> {
        font::register();
        let layout = Layout::new(self);
        let (width, height) = layout.size;
        let mut pixels = vec![0; width as usize * height as usize * 3];
        {
            let area = BitMapBackend::with_buffer(&mut pixels, layout.size).into_drawing_area();
            draw(
                self,
                &layout,
                &Canvas {
                    area,
                    text_rise: PNG_TEXT_RISE,
                },
            )?;
        }
        encode(&pixels, layout.size).map_err(|error| error.to_string())
    }
}

/// Red, green and blue bytes as a PNG file.
fn encode(pixels: &[u8], (width, height): (u32, u32)) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(bytes)
}
