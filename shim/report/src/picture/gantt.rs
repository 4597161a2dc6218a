//! Steps of each rank in time: a Gantt chart of a plan.

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;

use super::canvas::{Canvas, Drawn, GREY, Lettering};
use super::write::Drawing;

/// Maximum number of rows that are drawn: the picture states the number of the others.
const MOST_ROWS: usize = 64;

const WIDTH: i32 = 1900;
const LEFT: i32 = 230;
const RIGHT: i32 = 60;
const TOP: i32 = 150;
const BOTTOM: i32 = 130;

const PALE: RGBColor = RGBColor(225, 225, 225);
const STRIPE: RGBColor = RGBColor(247, 247, 247);
/// Colours that most readers can distinguish (Okabe and Ito 2008).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(213, 94, 0),
];

const TITLE: Lettering = Lettering::strong(42.0);
const TEXT: Lettering = Lettering::plain(25.0);

/// An activity with a duration in a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The row, from the top.
    pub row: usize,
    /// Start in seconds.
    pub start: f64,
    /// End in seconds.
    pub end: f64,
    /// Kind: an index into [`Gantt::kinds`].
    pub kind: usize,
}

/// Rows of bars over time.
#[derive(Debug, Clone)]
pub struct Gantt {
    /// Title.
    pub title: String,
    /// The names of the rows, from the top.
    pub rows: Vec<String>,
    /// Names of the kinds of bars.
    pub kinds: Vec<&'static str>,
    /// The bars.
    pub bars: Vec<Bar>,
    /// Formats a time as text.
    pub mark: fn(f64) -> String,
}

impl Drawing for Gantt {
    fn size(&self) -> (u32, u32) {
        let rows = self.drawn() as i32 * self.row_height();
        (WIDTH as u32, (TOP + rows + BOTTOM) as u32)
    }

    fn draw_on<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        canvas.clear()?;
        canvas.text(&self.title, (WIDTH / 2, 48), TITLE)?;
        self.draw_kinds(canvas)?;
        self.draw_axis(canvas)?;
        let height = self.row_height();
        // A rank sends and receives at the same time: kinds alternate between the upper and the
        // lower half of its row.
        let thick = (height * 3 / 8).max(3);
        for bar in self.bars.iter().filter(|bar| bar.row < self.drawn()) {
            let (from, to) = (self.place(bar.start), self.place(bar.end));
            let lane = (bar.kind % 2) as i32;
            let y = TOP + bar.row as i32 * height + height / 8 + lane * thick;
            let colour = COLOURS[bar.kind % COLOURS.len()];
            canvas.rectangle((from, y), ((to - from).max(2), thick), colour)?;
        }
        Ok(())
    }
}

impl Gantt {
    /// Number of rows that are not drawn, because there are too many.
    fn hidden(&self) -> usize {
        self.rows.len() - self.drawn()
    }

    fn drawn(&self) -> usize {
        self.rows.len().min(MOST_ROWS)
    }

    fn row_height(&self) -> i32 {
        match self.drawn() {
            0..=16 => 44,
            17..=32 => 32,
            _ => 22,
        }
    }

    /// End of the last bar.
    fn end(&self) -> f64 {
        let end = self.bars.iter().fold(0.0, |end: f64, bar| end.max(bar.end));
        if end > 0.0 { end } else { 1.0 }
    }

    /// Position of a time.
    fn place(&self, seconds: f64) -> i32 {
        let width = f64::from(WIDTH - LEFT - RIGHT);
        LEFT + (width * seconds / self.end()).round() as i32
    }

    fn draw_kinds<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        let mut x = LEFT;
        for (kind, name) in self.kinds.iter().enumerate() {
            let colour = COLOURS[kind % COLOURS.len()];
            canvas.rectangle((x, 96), (40, 24), colour)?;
            let beside = Lettering {
                anchor: HPos::Left,
                ..TEXT
            };
            canvas.text(name, (x + 52, 108), beside)?;
            x += 100 + 14 * name.chars().count() as i32;
        }
        Ok(())
    }

    fn draw_axis<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        let height = self.row_height();
        let (right, bottom) = (WIDTH - RIGHT, TOP + self.drawn() as i32 * height);
        let at_left = Lettering {
            anchor: HPos::Right,
            ..TEXT
        };
        for (row, name) in self.rows.iter().take(self.drawn()).enumerate() {
            let top = TOP + row as i32 * height;
            if row % 2 == 0 {
                canvas.rectangle((LEFT, top), (right - LEFT, height), STRIPE)?;
            }
            canvas.text(name, (LEFT - 16, top + height / 2), at_left)?;
        }
        for mark in marks(self.end()) {
            let x = self.place(mark);
            canvas.line((x, TOP), (x, bottom), PALE, 1)?;
            canvas.text(&(self.mark)(mark), (x, bottom + 28), TEXT)?;
        }
        canvas.line((LEFT, bottom), (right, bottom), GREY, 2)?;
        canvas.line((LEFT, TOP), (LEFT, bottom), GREY, 2)?;
        let below = match self.hidden() {
            0 => "time".to_owned(),
            hidden => format!("time; {hidden} more are not drawn"),
        };
        canvas.text(&below, ((LEFT + right) / 2, bottom + 80), TEXT)
    }
}

/// About eight round times from 0.
fn marks(end: f64) -> Vec<f64> {
    let rough = end / 8.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    let count = (end / step + 1e-9).floor() as usize;
    (0..=count).map(|mark| mark as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units;

    #[test]
    fn marks_are_round_and_few() {
        assert_eq!(marks(4.0), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]);
        assert!(marks(0.0123).len() <= 9);
    }

    #[test]
    fn the_last_bar_ends_at_the_right_edge_and_rows_beyond_the_limit_are_told() {
        let gantt = Gantt {
            title: "bcast".into(),
            rows: (0..100).map(|rank| format!("rank {rank}")).collect(),
            kinds: vec!["send", "receive"],
            bars: vec![Bar {
                row: 0,
                start: 0.0,
                end: 0.25,
                kind: 0,
            }],
            mark: units::seconds,
        };
        assert_eq!(gantt.place(0.25), WIDTH - RIGHT);
        assert_eq!(gantt.hidden(), 100 - MOST_ROWS);
    }
}
