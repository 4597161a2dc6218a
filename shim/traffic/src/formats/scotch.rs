//! Graphs in the format of Scotch (`.grf`): version 0; the numbers of vertices and arcs; the number
//! of the first vertex and a flag of three digits; then for each vertex its degree and its arcs,
//! each with its load before its end if the second digit of the flag is 1.
//!
//! ```text
//! 0
//! 3   4
//! 0   010
//! 1   4096 1
//! 2   4096 0   17 2
//! 1   17 1
//! ```
//!
//! Loads are the traffic of a pair in both directions, rounded to whole numbers of at least 1; the
//! reader assigns half to each direction. Labels and loads of vertices are refused: ranks have
//! none. Source: Scotch user's guide, "Graph files".

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};

use treepie_base::FileError;

use super::graph::{Arcs, neighbours};
use super::lines::{Line, Lines, shown};
use crate::matrix::Matrix;

/// The words of a file: in Scotch's files, line ends have no meaning.
struct Tokens<'a, R> {
    lines: Lines<'a, R>,
    waiting: VecDeque<(Line<'a>, String)>,
}

impl<'a, R: BufRead> Tokens<'a, R> {
    /// Reads the next word and its line; `None` after the last.
    fn next(&mut self) -> Result<Option<(Line<'a>, String)>, FileError> {
        while self.waiting.is_empty() {
            let Some(mut line) = self.lines.next()? else {
                return Ok(None);
            };
            let text = std::mem::take(&mut line.text);
            let words = text.split_whitespace().map(str::to_owned);
            self.waiting.extend(words.map(|word| (line.clone(), word)));
        }
        Ok(self.waiting.pop_front())
    }

    /// Reads the next word, which should be `expected`.
    fn take(&mut self, expected: &str) -> Result<(Line<'a>, String), FileError> {
        match self.next()? {
            Some(found) => Ok(found),
            None => Err(self.lines.ended(expected)),
        }
    }

    fn count(&mut self, what: &str) -> Result<u64, FileError> {
        let (line, word) = self.take(what)?;
        line.count(&word, what)
    }
}

struct Header {
    vertices: usize,
    arcs: u64,
    base: usize,
    weighted: bool,
}

/// Reads a matrix; `file` is its name for messages.
///
/// # Errors
/// The input is malformed; the error has the position in the file.
pub fn read(reader: impl BufRead, file: &str) -> Result<Matrix, FileError> {
    let mut words = Tokens {
        lines: Lines::new(reader, file),
        waiting: VecDeque::new(),
    };
    let header = read_header(&mut words)?;
    let mut arcs = Arcs::new(header.vertices);
    for vertex in 0..header.vertices {
        read_vertex(&mut words, vertex, &header, &mut arcs)?;
    }
    if let Some((line, word)) = words.next()? {
        return Err(line.error(
            format!("the end after {} vertices", header.vertices),
            shown(&word),
            "correct the number of vertices in the header, or remove the rest",
        ));
    }
    if arcs.len() as u64 != header.arcs {
        return Err(words.lines.end().error(
            format!("{} arcs, as in the header", header.arcs),
            arcs.len().to_string(),
            "correct the number of arcs in the header: twice that of edges",
        ));
    }
    arcs.into_matrix(header.base)
}

fn read_header<R: BufRead>(words: &mut Tokens<'_, R>) -> Result<Header, FileError> {
    let (line, version) = words.take("the version of the format, `0`")?;
    if version != "0" {
        return Err(line.error(
            "the version of the format, `0`",
            shown(&version),
            "give a graph file of Scotch 4.0 or newer, not a distributed one",
        ));
    }
    let (line, order) = words.take("the number of vertices")?;
    let vertices = line.order(&order)?;
    let arcs = words.count("the number of arcs")?;
    let (line, base) = words.take("the number of the first vertex")?;
    let base = match base.as_str() {
        "0" => 0,
        "1" => 1,
        _ => {
            let remedy = "number the vertices from 0 or from 1";
            return Err(line.error(
                "0 or 1, the number of the first vertex",
                shown(&base),
                remedy,
            ));
        }
    };
    let (line, flag) = words.take("a flag of three digits")?;
    let weighted = match flag.as_str() {
        "000" | "00" | "0" => false,
        "010" | "10" => true,
        _ => {
            return Err(line.error(
                "the flag `000`, or `010` for edges with loads",
                shown(&flag),
                "write the graph without labels and loads of vertices",
            ));
        }
    };
    Ok(Header {
        vertices,
        arcs,
        base,
        weighted,
    })
}

fn read_vertex<'a, R: BufRead>(
    words: &mut Tokens<'a, R>,
    vertex: usize,
    header: &Header,
    arcs: &mut Arcs<'a>,
) -> Result<(), FileError> {
    let degree = words.count("the degree of a vertex")?;
    for _ in 0..degree {
        let weight = if header.weighted {
            let (line, load) = words.take("the load of an arc")?;
            line.weight(&load, "the load of an arc")?
        } else {
            1
        };
        let (line, end) = words.take("the end of an arc")?;
        let neighbour = line.index(&end, "the end of an arc", header.base, header.vertices)?;
        arcs.add(&line, vertex, neighbour, weight)?;
    }
    Ok(())
}

/// Writes the symmetrised matrix as a graph with loads, numbered from 0.
///
/// # Errors
/// Errors of `out`.
pub fn write(matrix: &Matrix, mut out: impl Write) -> io::Result<()> {
    let both = matrix.symmetrised();
    writeln!(out, "0\n{}\t{}\n0\t010", both.order(), both.non_zeros())?;
    for vertex in 0..both.order() {
        write!(out, "{}", both.row(vertex).count())?;
        for (neighbour, weight) in neighbours(&both, vertex) {
            write!(out, "\t{weight} {neighbour}")?;
        }
        writeln!(out)?;
    }
    out.flush()
}
