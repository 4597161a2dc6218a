//! Sizes of blocks as users give them: a matrix of bytes from each rank to each.

use std::path::Path;

use treepie_collective::{Amount, Operation, Uniform};

use super::traffic::Input;
use crate::input::choice::MatrixChoice;
use crate::words::pluralize;
use treepie_launch::error::CommandError;

/// The blocks of a call of `ranks` ranks: the matrix of an exchange, the column of the root where
/// it gathers, and its row where it scatters.
///
/// # Errors
/// A file that cannot be read, or of another number of ranks; a collective whose blocks have one
/// size: usage.
pub fn read(path: &Path, call: &Uniform, ranks: usize) -> Result<Amount, CommandError> {
    let choice = MatrixChoice::default();
    let matrix = Input::read(path, &choice)?.bytes(&choice)?;
    let file = path.display();
    if matrix.order() != ranks {
        return Err(CommandError::usage(format!(
            "--sizes {file}: has {}, the platform {ranks}; name as many, or set --ranks",
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
            "--sizes {file}: {other} has blocks of one size; give it as --bytes, or take gatherv, \
             scatterv, alltoallv or alltoallw"
        ))),
    }
}
