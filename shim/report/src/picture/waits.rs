//! Ranks on a circle, with an arrow from each to those for which it waits.

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;

use super::canvas::{Canvas, Drawn, GREY, Lettering};
use super::write::Drawing;

/// A rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its number.
    pub label: String,
    /// True if it cannot continue.
    pub marked: bool,
}

/// Arrow from a rank to one for which it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrow {
    /// Index of the rank that waits.
    pub from: usize,
    /// Index of the other.
    pub to: usize,
    /// True if one of several suffices.
    pub dashed: bool,
    /// True if it is part of the cycle.
    pub strong: bool,
}

/// Arrows from waiting ranks to those for which they wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// Verdict.
    pub title: String,
    /// The ranks.
    pub nodes: Vec<Node>,
    /// The arrows.
    pub arrows: Vec<Arrow>,
    /// Meaning of the arrows.
    pub legend: String,
}

const SIDE: i32 = 1400;
const MARKED: RGBColor = RGBColor(214, 69, 65);
const PLAIN: RGBColor = RGBColor(158, 188, 218);
const LINE: RGBColor = RGBColor(140, 140, 140);
/// Maximum number of arrows: more would form one grey disc.
const MOST_ARROWS: usize = 4000;

impl Drawing for Graph {
    fn size(&self) -> (u32, u32) {
        (2000, SIDE as u32)
    }

    fn draw_on<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        canvas.clear()?;
        for (line, text) in lines(&self.title).iter().enumerate() {
            canvas.text(text, (1000, 50 + 44 * line as i32), Lettering::strong(34.0))?;
        }
        let strong_last = |arrow: &&Arrow| arrow.strong;
        let (strong, weak): (Vec<&Arrow>, Vec<&Arrow>) = self.arrows.iter().partition(strong_last);
        for arrow in weak.into_iter().take(MOST_ARROWS).chain(strong) {
            self.draw_arrow(arrow, canvas)?;
        }
        for (place, node) in self.nodes.iter().enumerate() {
            let colour = if node.marked { MARKED } else { PLAIN };
            canvas.dot(self.place(place), self.radius(), colour)?;
            let size = f64::from(self.radius()).min(34.0);
            canvas.text(&node.label, self.place(place), Lettering::plain(size))?;
        }
        let small = Lettering {
            colour: GREY,
            ..Lettering::plain(26.0)
        };
        canvas.text(&self.legend, (1000, SIDE - 40), small)
    }
}

impl Graph {
    fn radius(&self) -> i32 {
        (1500 / self.nodes.len().max(1) as i32).clamp(6, 40)
    }

    fn place(&self, node: usize) -> (i32, i32) {
        let turn = node as f64 / self.nodes.len().max(1) as f64 - 0.25;
        let angle = turn * std::f64::consts::TAU;
        let half = f64::from(SIDE) * 0.36;
        let y = f64::from(SIDE) / 2.0 + 40.0 + half * angle.sin();
        ((1000.0 + 1.4 * half * angle.cos()) as i32, y as i32)
    }

    fn draw_arrow<DB: DrawingBackend>(&self, arrow: &Arrow, canvas: &Canvas<DB>) -> Drawn {
        let (from, to) = (self.place(arrow.from), self.place(arrow.to));
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = dx.hypot(dy);
        if length < 1.0 {
            return Ok(());
        }
        let (dx, dy) = (dx / length, dy / length);
        // Two ranks that wait for each other have two parallel lines.
        let aside = 7.0;
        let at = |along: f64, across: f64| {
            let x = f64::from(from.0) + along * dx - (across + aside) * dy;
            let y = f64::from(from.1) + along * dy + (across + aside) * dx;
            (x as i32, y as i32)
        };
        let (colour, width) = if arrow.strong { (MARKED, 5) } else { (LINE, 2) };
        let edge = f64::from(self.radius()) + 4.0;
        let end = (length - edge).max(edge);
        let step = if arrow.dashed { 24.0 } else { length };
        let mut along = edge;
        while along < end {
            let until = (along + step).min(end);
            canvas.line(at(along, 0.0), at(until, 0.0), colour, width)?;
            along = until + 14.0;
        }
        for side in [-10.0, 10.0] {
            canvas.line(at(end - 22.0, side), at(end, 0.0), colour, width)?;
        }
        Ok(())
    }
}

/// Breaks a text into lines that fit.
fn lines(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let full = lines
            .last()
            .is_some_and(|line| line.len() + word.len() > 95);
        if full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
