//! Arguments of the program.

use std::collections::BTreeSet;
use std::path::PathBuf;

use treepie_native::tuning::Cell;

/// Arguments of the program.
pub struct Request {
    pub output: PathBuf,
    pub seconds: f64,
    pub commutative: bool,
    pub cells: Vec<Cell>,
    /// Cells that cannot be measured here.
    pub left_out: Vec<Cell>,
}

impl Request {
    /// Reads the arguments behind the libraries, in a job of `world` ranks.
    pub fn parse(arguments: &[String], world: usize) -> Option<Request> {
        let [output, seconds, commutative, cells @ ..] = arguments else {
            return None;
        };
        let cell = |text: &String| {
            let mut words = text.split(':');
            let operation = words.next()?.parse().ok()?;
            let ranks = match words.next()?.parse().ok()? {
                0 => world,
                ranks => ranks,
            };
            let bytes = words.next()?.parse().ok()?;
            Some(Cell {
                operation,
                ranks,
                bytes,
            })
        };
        let cells: BTreeSet<Cell> = cells.iter().map(cell).collect::<Option<_>>()?;
        let can_be = |cell: &Cell| cell.ranks <= world && cell.fits();
        let (mut cells, left_out): (Vec<Cell>, Vec<Cell>) = cells.into_iter().partition(can_be);
        // Ranks that are in no further group wait at the end.
        cells.sort_by_key(|cell| (std::cmp::Reverse(cell.ranks), *cell));
        Some(Request {
            output: output.into(),
            seconds: seconds.parse().ok()?,
            commutative: commutative.parse().ok()?,
            cells,
            left_out,
        })
    }
}
