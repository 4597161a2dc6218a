//! The pure half of Treepie: matrices, trees, placements and files.
//!
//! ```
//! use treepie_core::affinity::Matrix;
//! use treepie_core::placement::{Options, Strategy, place};
//! use treepie_core::topology::Topology;
//!
//! // Four ranks: 0 talks to 2, and 1 to 3. Two nodes of two cores.
//! let matrix = Matrix::from_entries(4, [(0, 2, 8e6), (2, 0, 8e6), (1, 3, 8e6), (3, 1, 8e6)])?;
//! let machine = Topology::from_arities("2:2")?;
//!
//! let placed = place(Strategy::Best, &matrix, &machine, &Options::default())?;
//!
//! // Who talks shares a node: no byte crosses the network any more.
//! let node = |rank: usize| machine.ancestor(placed.placement.leaf_of_rank[rank], 1);
//! assert_eq!((node(0), node(1)), (node(2), node(3)));
//! assert_eq!((placed.identity_cost, placed.cost), (64e6, 32e6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing in this crate knows MPI, reads the environment, keeps global state
//! or contains unsafe code. A folder may import those below it, and none above it:
//!
//! ```text
//! files       what is read and written: profiles, placements, platforms, configurations
//! collective  one description of each algorithm, and its readings; the choice among them
//! placement   TreeMatch and other strategies, constraints, objectives, bounds
//! platform    pLogP parameters, logical clusters, probing
//! topology    where ranks can be: trees and networks
//! affinity    who sends how much to whom: the sparse matrix, measures, formats
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod affinity;
pub mod collective;
pub mod files;
pub mod placement;
pub mod platform;
pub mod topology;
