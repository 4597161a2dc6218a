//! Neighbours of a process in a communicator's topology.

use treepie_collective::{Layout, Neighbours};

use super::calls::integer;
use super::error::NativeError;
use super::mpi::Native;
use crate::{Comm, c_int};

/// Topologies: Cartesian, graph, and distributed graph.
impl Native {
    /// Returns the ranks that this process sends to in neighbourhood collectives, in the order of
    /// their arguments (MPI-4.1, section 8.6); none if `comm` has no topology.
    pub fn neighbours(&self, comm: Comm) -> Result<Vec<c_int>, NativeError> {
        let topology = integer(|topology| self.functions.topo_test(comm, topology))?;
        match topology {
            kind if kind == self.abi.cart => self.cartesian_neighbours(comm),
            kind if kind == self.abi.graph => self.graph_neighbours(comm),
            kind if kind == self.abi.dist_graph => Ok(self.dist_graph_neighbours(comm)?.1),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the kind of topology that `comm` has, and the sources and destinations of this
    /// process's blocks in its neighbourhood collectives; `None` if it has none.
    pub fn neighbourhood(&self, comm: Comm) -> Result<Option<(Layout, Neighbours)>, NativeError> {
        let topology = integer(|topology| self.functions.topo_test(comm, topology))?;
        let (layout, sources, destinations) = match topology {
            kind if kind == self.abi.cart => {
                let beside = self.cartesian_neighbours(comm)?;
                (Layout::Cartesian, beside.clone(), beside)
            }
            kind if kind == self.abi.graph => {
                let beside = self.graph_neighbours(comm)?;
                (Layout::Graph, beside.clone(), beside)
            }
            kind if kind == self.abi.dist_graph => {
                let (sources, destinations) = self.dist_graph_neighbours(comm)?;
                (Layout::Graph, sources, destinations)
            }
            _ => return Ok(None),
        };
        // Missing neighbours (`MPI_PROC_NULL`) are negative.
        let ranks = |all: Vec<c_int>| all.into_iter().map(|one| u32::try_from(one).ok());
        let neighbours = Neighbours {
            sources: ranks(sources).collect(),
            destinations: ranks(destinations).collect(),
        };
        Ok(Some((layout, neighbours)))
    }

    /// True if `comm` has a topology.
    pub fn has_topology(&self, comm: Comm) -> bool {
        let kinds = [self.abi.cart, self.abi.graph, self.abi.dist_graph];
        let topology = integer(|topology| self.functions.topo_test(comm, topology));
        topology.is_ok_and(|topology| kinds.contains(&topology))
    }

    fn cartesian_neighbours(&self, comm: Comm) -> Result<Vec<c_int>, NativeError> {
        let dimensions = integer(|count| self.functions.cartdim_get(comm, count))?;
        let mut neighbours = Vec::new();
        for dimension in 0..dimensions {
            let (mut before, mut after) = (0, 0);
            self.functions
                .cart_shift(comm, dimension, 1, &mut before, &mut after)?;
            neighbours.extend([before, after]);
        }
        Ok(neighbours)
    }

    fn graph_neighbours(&self, comm: Comm) -> Result<Vec<c_int>, NativeError> {
        let rank = self.rank(comm)? as c_int;
        let count = integer(|count| self.functions.graph_neighbors_count(comm, rank, count))?;
        let mut neighbours = vec![0; count as usize];
        let address = neighbours.as_mut_ptr();
        // SAFETY: the array has space for the `count` neighbours of this rank.
        unsafe { self.functions.graph_neighbors(comm, rank, count, address)? };
        Ok(neighbours)
    }

    /// Returns sources and destinations.
    fn dist_graph_neighbours(&self, comm: Comm) -> Result<(Vec<c_int>, Vec<c_int>), NativeError> {
        let (mut incoming, mut outgoing, mut weighted) = (0, 0, 0);
        self.functions.dist_graph_neighbors_count(
            comm,
            &mut incoming,
            &mut outgoing,
            &mut weighted,
        )?;
        // Space for weights, which are written if the graph has them.
        let mut sources = vec![0; 2 * incoming as usize];
        let mut destinations = vec![0; 2 * outgoing as usize];
        let (sources, source_weights) = sources.split_at_mut(incoming as usize);
        let (destinations, weights) = destinations.split_at_mut(outgoing as usize);
        // SAFETY: all four have space for the numbers that the MPI has just returned.
        unsafe {
            self.functions.dist_graph_neighbors(
                comm,
                incoming,
                sources.as_mut_ptr(),
                source_weights.as_mut_ptr(),
                outgoing,
                destinations.as_mut_ptr(),
                weights.as_mut_ptr(),
            )?;
        }
        Ok((sources.to_vec(), destinations.to_vec()))
    }
}
