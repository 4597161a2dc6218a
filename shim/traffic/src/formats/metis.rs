//! Graphs in the format of METIS and KaHIP: a header with the numbers of vertices and edges, and a
//! line for each vertex with its neighbours, counted from 1, each followed by the weight of the
//! edge if the header ends in `1` or `001`.
//!
//! ```text
//! % three ranks in a row
//! 3 2 001
//! 2 4096
//! 1 4096 3 17
//! 2 17
//! ```
//!
//! The writer uses `001`, METIS's full form, which KaHIP accepts as its `1`. Weights are the
//! traffic of a pair in both directions, rounded to whole numbers of at least 1; the reader assigns
//! half to each direction. Vertices with weights are refused: ranks have none. Source: METIS 5
//! manual, 4.1.1.

use std::io::{self, BufRead, Write};

use treepie_base::FileError;

use super::graph::{Arcs, neighbours};
use super::lines::{Line, Lines, shown};
use crate::matrix::Matrix;

struct Header {
    vertices: usize,
    edges: u64,
    weighted: bool,
}

/// Reads a matrix; `file` is its name for messages.
///
/// # Errors
/// The input is malformed; the error has the position in the file.
pub fn read(reader: impl BufRead, file: &str) -> Result<Matrix, FileError> {
    let mut lines = Lines::new(reader, file);
    let Some(first) = lines.next_filled('%')? else {
        return Err(lines.ended("the numbers of vertices and edges"));
    };
    let header = read_header(&first)?;
    let mut arcs = Arcs::new(header.vertices);
    for vertex in 0..header.vertices {
        let Some(line) = next_vertex(&mut lines)? else {
            return Err(lines.ended(format!(
                "a line for each of {} vertices after {vertex}",
                header.vertices
            )));
        };
        read_vertex(&line, vertex, &header, &mut arcs)?;
    }
    if let Some(line) = lines.next_filled('%')? {
        return Err(line.error(
            format!("the end after {} vertices", header.vertices),
            shown(&line.text),
            "correct the number of vertices in the header, or remove this line",
        ));
    }
    if arcs.len() as u64 != header.edges.saturating_mul(2) {
        return Err(first.error(
            format!("{} edges, each listed at both its ends", header.edges),
            format!("{} ends", arcs.len()),
            "correct the number of edges in the header, or the lists",
        ));
    }
    arcs.into_matrix(1)
}

/// Reads the next line that is not a comment; it may be blank.
fn next_vertex<'a, R: BufRead>(lines: &mut Lines<'a, R>) -> Result<Option<Line<'a>>, FileError> {
    while let Some(line) = lines.next()? {
        if !line.text.trim_start().starts_with('%') {
            return Ok(Some(line));
        }
    }
    Ok(None)
}

fn read_header(line: &Line<'_>) -> Result<Header, FileError> {
    let words: Vec<&str> = line.text.split_whitespace().collect();
    let weighted = match words[..] {
        [_, _] | [_, _, "0" | "00" | "000"] => false,
        [_, _, "1" | "01" | "001"] => true,
        _ => {
            return Err(line.error(
                "the numbers of vertices and edges, and `1` if edges have weights",
                shown(&line.text),
                "write the graph without sizes and weights of vertices",
            ));
        }
    };
    Ok(Header {
        vertices: line.order(words[0])?,
        edges: line.count(words[1], "the number of edges")?,
        weighted,
    })
}

fn read_vertex<'a>(
    line: &Line<'a>,
    vertex: usize,
    header: &Header,
    arcs: &mut Arcs<'a>,
) -> Result<(), FileError> {
    let mut words = line.text.split_whitespace();
    while let Some(word) = words.next() {
        let neighbour = line.index(word, "a neighbour", 1, header.vertices)?;
        let weight = if header.weighted {
            let weight = words.next().ok_or_else(|| {
                line.error(
                    "a weight after each neighbour",
                    "the end of the line",
                    "write the weight, or a header without `1` at its end",
                )
            })?;
            line.weight(weight, "the weight of an edge")?
        } else {
            1
        };
        arcs.add(line, vertex, neighbour, weight)?;
    }
    Ok(())
}

/// Writes the symmetrised matrix as a graph with weights.
///
/// # Errors
/// Errors of `out`.
pub fn write(matrix: &Matrix, mut out: impl Write) -> io::Result<()> {
    let both = matrix.symmetrised();
    writeln!(out, "{} {} 001", both.order(), both.non_zeros() / 2)?;
    for vertex in 0..both.order() {
        let listed: Vec<String> = neighbours(&both, vertex)
            .map(|(neighbour, weight)| format!("{} {weight}", neighbour + 1))
            .collect();
        writeln!(out, "{}", listed.join(" "))?;
    }
    out.flush()
}
