//! Output of Open MPI's monitoring component (`NAME.RANK.prof`): one file for each rank, or all of
//! them concatenated.
//!
//! ```text
//! # POINT TO POINT
//! E    0    1    108 bytes    27 msgs sent    0,0,0,27,0,...
//! I    0    1    12 bytes     6 msgs sent     0,0,6,0,0,...
//! # OSC
//! S    0    1    8 bytes      1 msgs sent
//! # COLLECTIVES
//! D    MPI_COMM_WORLD    procs: 0,1,2,3
//! ```
//!
//! `E` are sends of the application, `I` those of the MPI's collectives (part of `E` with
//! `pml_monitoring_enable 1`; 4.1.4 also counts its linear alltoall of large blocks there), `S`
//! puts into windows and `R` gets from them. Lines on the arguments of collectives (`C`, `D`,
//! `O2A`, ...) are ignored except for the ranks that they name. Source: `common_monitoring.c` of
//! Open MPI 4.1.

use std::io::BufRead;

use treepie_base::FileError;

use super::lines::{LARGEST_ORDER, Line, Lines, RANK, shown};
use crate::layer::Layer;
use crate::traffic::{Traffic, TrafficMatrix};

/// Counts by layer; all matrices have the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Monitoring {
    /// Sends of the application.
    pub point_to_point: TrafficMatrix,
    /// Sends of the MPI's collectives.
    pub collectives: TrafficMatrix,
    /// Puts and gets.
    pub one_sided: TrafficMatrix,
}

impl Monitoring {
    /// Sum of the given layers.
    pub fn traffic(&self, layers: &[Layer]) -> TrafficMatrix {
        let mut sum = TrafficMatrix::new(self.point_to_point.order());
        for (layer, counted) in [
            (Layer::PointToPoint, &self.point_to_point),
            (Layer::Collectives, &self.collectives),
            (Layer::OneSided, &self.one_sided),
        ] {
            if layers.contains(&layer) {
                for (from, to, traffic) in counted.entries() {
                    sum.add(from, to, traffic);
                }
            }
        }
        sum
    }
}

type LayerEntry = (Layer, usize, usize, Traffic);

/// Reads the concatenated files of one job; `file` is a name for messages. The number of ranks is
/// the largest rank named, plus one.
///
/// # Errors
/// The input is malformed; the error has the position in the file.
pub fn read(reader: impl BufRead, file: &str) -> Result<Monitoring, FileError> {
    let mut lines = Lines::new(reader, file);
    let mut rows: Vec<LayerEntry> = Vec::new();
    let mut order = 0;
    while let Some(line) = lines.next_filled('#')? {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        match words[0] {
            "E" => rows.push(read_row(&line, &words, Layer::PointToPoint)?),
            "I" => rows.push(read_row(&line, &words, Layer::Collectives)?),
            "S" => rows.push(read_row(&line, &words, Layer::OneSided)?),
            "R" => {
                let (layer, to, from, traffic) = read_row(&line, &words, Layer::OneSided)?;
                rows.push((layer, from, to, traffic));
            }
            "D" => order = order.max(largest_member(&line)? + 1),
            "C" | "O2A" | "A2O" | "A2A" => {}
            _ => {
                return Err(line.error(
                    "a line that begins with E, I, S, R, C, D, O2A, A2O or A2A",
                    shown(&line.text),
                    "give the .prof files of Open MPI's monitoring component, put together",
                ));
            }
        }
    }
    let named = rows.iter().map(|&(_, from, to, _)| from.max(to) + 1);
    let order = named.max().unwrap_or(0).max(order);
    if order == 0 {
        return Err(lines.ended("what ranks sent to each other"));
    }
    lines.last().take("ranks", order, 3 * RANK)?;
    let of_layer = |layer| {
        let mut matrix = TrafficMatrix::new(order);
        for &(of, from, to, traffic) in &rows {
            if of == layer {
                matrix.add(from, to, traffic);
            }
        }
        matrix
    };
    Ok(Monitoring {
        point_to_point: of_layer(Layer::PointToPoint),
        collectives: of_layer(Layer::Collectives),
        one_sided: of_layer(Layer::OneSided),
    })
}

fn read_row(line: &Line<'_>, words: &[&str], layer: Layer) -> Result<LayerEntry, FileError> {
    let [_, from, to, bytes, "bytes", messages, "msgs", "sent", ..] = words else {
        return Err(line.error(
            "sender, receiver, bytes and messages, like `0 1 108 bytes 27 msgs sent`",
            shown(&line.text),
            "the file is cut off or was edited: let the job write it again",
        ));
    };
    let rank = |word: &str, what: &str| line.index(word, what, 0, LARGEST_ORDER);
    let traffic = Traffic {
        messages: line.count(messages, "a number of messages")?,
        bytes: line.count(bytes, "a number of bytes")?,
    };
    let (from, to) = (rank(from, "a sender")?, rank(to, "a receiver")?);
    Ok((layer, from, to, traffic))
}

/// The largest rank in `D <communicator> procs: 0,1,2`; names may contain blanks.
fn largest_member(line: &Line<'_>) -> Result<usize, FileError> {
    let Some((_, members)) = line.text.rsplit_once("procs:") else {
        return Err(line.error(
            "the ranks of a communicator, like `procs: 0,1,2`",
            shown(&line.text),
            "the file is cut off or was edited: let the job write it again",
        ));
    };
    members.split(',').try_fold(0, |largest, member| {
        let rank = line.index(member.trim(), "a rank", 0, LARGEST_ORDER)?;
        Ok(largest.max(rank))
    })
}
