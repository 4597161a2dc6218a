//! Clusters on a circle, with labels on the lines between them.

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;

use super::canvas::{Canvas, Drawn, Lettering};
use super::chart::{Chart, Frame};
use super::write::Drawing;

const LINE: RGBColor = RGBColor(140, 140, 140);
const NODE: RGBColor = RGBColor(222, 235, 247);

const TEXT: Lettering = Lettering::plain(26.0);

/// A line between two nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// One node.
    pub one: usize,
    /// The other.
    pub other: usize,
    /// Its text.
    pub label: String,
}

/// Nodes on a circle.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Title.
    pub title: String,
    /// The lines of text of every node.
    pub nodes: Vec<Vec<String>>,
    /// The lines between nodes.
    pub edges: Vec<Edge>,
}

/// A network above and curves below.
#[derive(Debug, Clone)]
pub struct Overview {
    /// The network.
    pub network: Network,
    /// The curves.
    pub chart: Chart,
}

const SIDE: i32 = 1300;

impl Drawing for Overview {
    fn size(&self) -> (u32, u32) {
        (1900, self.network.height() as u32 + 1000)
    }

    fn draw_on<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        canvas.clear()?;
        let height = self.network.height();
        self.network.draw_in((950, height / 2 + 30), canvas)?;
        let frame = Frame {
            left: 0,
            top: height,
            width: 1900,
            height: 980,
        };
        self.chart.draw_in(frame, canvas)
    }
}

impl Network {
    /// Height; one or two nodes need no circle.
    fn height(&self) -> i32 {
        match self.nodes.len() {
            0..=2 => SIDE / 4,
            _ => SIDE,
        }
    }

    fn draw_in<DB: DrawingBackend>(&self, centre: (i32, i32), canvas: &Canvas<DB>) -> Drawn {
        canvas.text(&self.title, (centre.0, 50), Lettering::strong(42.0))?;
        let radius = f64::from(SIDE) * 0.36;
        let place = |node: usize| {
            if self.nodes.len() == 1 {
                return centre;
            }
            // Two beside each other, more starting at the top.
            let start = if self.nodes.len() == 2 { 0.5 } else { -0.25 };
            let turn = node as f64 / self.nodes.len() as f64 + start;
            let angle = turn * std::f64::consts::TAU;
            let x = f64::from(centre.0) + 1.5 * radius * angle.cos();
            let y = f64::from(centre.1) + radius * angle.sin();
            (x as i32, y as i32)
        };
        for edge in &self.edges {
            canvas.line(place(edge.one), place(edge.other), LINE, 2)?;
        }
        // Not in the middle, where lines across the circle may intersect.
        let twentieths = if self.nodes.len() > 3 { 8 } else { 10 };
        for edge in &self.edges {
            let (from, to) = (place(edge.one), place(edge.other));
            let at = |from: i32, to: i32| from + (to - from) * twentieths / 20;
            let point = (at(from.0, to.0), at(from.1, to.1));
            let width = 15 * edge.label.chars().count() as i32;
            let corner = (point.0 - width / 2, point.1 - 18);
            canvas.rectangle(corner, (width, 36), RGBColor(255, 255, 255))?;
            canvas.text(&edge.label, point, TEXT)?;
        }
        for (node, lines) in self.nodes.iter().enumerate() {
            let point = place(node);
            let longest = lines
                .iter()
                .map(|line| line.chars().count())
                .max()
                .unwrap_or(0);
            let (width, height) = (15 * longest as i32 + 40, 34 * lines.len() as i32 + 20);
            let corner = (point.0 - width / 2, point.1 - height / 2);
            canvas.rectangle(corner, (width, height), NODE)?;
            canvas.frame(corner, (width, height), LINE)?;
            for (number, line) in lines.iter().enumerate() {
                let y = corner.1 + 27 + 34 * number as i32;
                let letters = Lettering {
                    bold: number == 0,
                    ..TEXT
                };
                canvas.text(line, (point.0, y), letters)?;
            }
        }
        Ok(())
    }
}
