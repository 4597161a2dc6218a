//! The neighbours of each rank: a grid, or a matrix whose entries are edges.

use std::path::Path;

use treepie_collective::Neighbourhoods;
use treepie_topology::networks::{Network, Site};

use super::traffic::Input;
use crate::input::choice::MatrixChoice;
use crate::words::pluralize;
use treepie_launch::error::CommandError;

/// Reads the neighbours of `ranks` ranks: `torus:4x4` and `mesh:2x8` like `MPI_Cart_create`, or a
/// file, in which every entry of the matrix is an edge from its row to its column.
///
/// # Errors
/// The file cannot be read, or has neighbours of another number of ranks: usage.
pub fn read(text: &str, ranks: usize) -> Result<Neighbourhoods, CommandError> {
    let all = if Site::is_described(text) {
        grid(text)?
    } else {
        from_file(Path::new(text))?
    };
    if all.ranks() == ranks {
        Ok(all)
    } else {
        Err(CommandError::usage(format!(
            "--neighbours {text}: has {}, the platform {ranks}; name as many, or set --ranks",
            pluralize(all.ranks(), "rank"),
        )))
    }
}

fn grid(text: &str) -> Result<Neighbourhoods, CommandError> {
    let site = Site::from_description(text)?;
    let Network::Lattice(lattice) = site.network() else {
        return Err(CommandError::usage(format!(
            "--neighbours {text}: is no grid; write torus:4x4, mesh:2x8, or a file"
        )));
    };
    // A ring of two ranks is a ring in MPI, although one link joins them.
    let is_ring = text.starts_with("torus:");
    let sizes = lattice.sizes().iter();
    let dimensions: Vec<(usize, bool)> = sizes.map(|&size| (size, is_ring)).collect();
    Ok(Neighbourhoods::grid(&dimensions))
}

fn from_file(path: &Path) -> Result<Neighbourhoods, CommandError> {
    let choice = MatrixChoice::default();
    let matrix = Input::read(path, &choice)?.matrix(&choice)?;
    let edges: Vec<(u32, u32)> = matrix
        .entries()
        .map(|(from, to, _)| (from as u32, to as u32))
        .collect();
    Neighbourhoods::graph(matrix.order(), &edges).ok_or_else(|| {
        CommandError::failed(format!(
            "{}: its entries are no edges; check the matrix with `treepie show`",
            path.display()
        ))
    })
}
