//! Sizes of blocks, given by users as a matrix of bytes from each rank to each.

use std::path::Path;

use treepie_collective::{Amount, Operation, Uniform};

use super::traffic::Input;
use crate::input::choice::MatrixChoice;
use crate::words::pluralize;
use treepie_launch::error::CommandError;

/// Reads the blocks of a call of `ranks` ranks: the matrix of an exchange, the column of the root
/// for a gather, and its row for a scatter.
///
/// # Errors
/// The file cannot be read, or has another number of ranks, or the blocks of the collective have
/// one size: usage.
pub fn read(path: &Path, call: &Uniform, ranks: usize) -> Result<Amount, CommandError> {
    let choice = MatrixChoice::default();
    let matrix = Input::read(path, &choice)?.bytes(&choice)?;
    let file = path.display();
    if matrix.order() != ranks {
        return Err(CommandError::usage(format!(
            "--block-sizes {file}: has {}, the platform {ranks}; name as many, or set --ranks",
            pluralize(matrix.order(), "rank"),
        )));
    }
    let bytes = |from: usize, to: usize| matrix.get(from, to) as u64;
    match call.operation {
        Operation::Gatherv => Ok(Amount::KnownBlocks(
            (0..ranks).map(|from| bytes(from, call.root)).collect(),
        )),
        Operation::Scatterv => Ok(Amount::KnownBlocks(
            (0..ranks).map(|to| bytes(call.root, to)).collect(),
        )),
        Operation::Alltoallv | Operation::Alltoallw => {
            let row = |from: usize| (0..ranks).map(move |to| bytes(from, to));
            Ok(Amount::Table((0..ranks).flat_map(row).collect()))
        }
        other => Err(CommandError::usage(format!(
            "--block-sizes {file}: {other} has blocks of one size; give it as --bytes, or take gatherv, \
             scatterv, alltoallv or alltoallw"
        ))),
    }
}
