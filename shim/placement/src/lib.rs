//! Placements of ranks on the leaves of a topology: TreeMatch, other mappings, and their cost.
//!
//! ```
//! use treepie_base::Leaf;
//! use treepie_traffic::Matrix;
//! use treepie_placement::{Options, Strategy, place};
//! use treepie_topology::Topology;
//!
//! // Two nodes of two cores; the pairs (0, 2) and (1, 3) communicate.
//! let topology = Topology::from_arities("2:2")?;
//! let matrix = Matrix::from_entries(4, [(0, 2, 100.0), (3, 1, 50.0), (0, 1, 1.0)])?;
//! let outcome = place(Strategy::Best, &matrix, &topology, &Options::default())?;
//! assert_eq!(outcome.placement.leaf_of_rank, Leaf::list([0, 2, 1, 3]));
//! assert!(outcome.cost < outcome.identity_cost);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```text
//! place        the entry point: ranks onto `Hardware`, a tree whose nodes may be on a network
//! search       the candidates of trees and of networks; the cheapest is chosen
//!   coarsen    smaller graphs of ranks, smaller trees of hardware
//!   initial    initial mappings: multisection, boxes, foldings, all placements of a few ranks
//!   refine     refiners: swaps, annealing, congestion
//!   treematch  the algorithms of the thesis
//! target       slots, cells and links of trees and networks: the input of the phases
//! objective    costs of a placement; bound: lower bounds of the cost
//! constraints  slots, and the ranks that may have them
//! balance      placements by loads
//! allocation   the hosts of a job; binding, seat, near, local_order: processes on their cores
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod allocation;
pub mod balance;
mod best_of_strategies;
pub mod binding;
pub mod bound;
mod check;
mod coarsen;
pub mod constraints;
mod effort;
mod error;
pub mod file;
mod hardware;
mod heap;
mod initial;
pub mod local_order;
pub mod near;
pub mod objective;
mod options;
mod progress;
mod random;
mod refine;
mod search;
pub mod seat;
mod strategy;
mod target;
pub mod treematch;
pub mod worth;

pub use best_of_strategies::place;
pub use check::{check, identity, permutation};
pub use constraints::{Constraints, Occupant, SlotTree};
pub use effort::Effort;
pub use error::PlacementError;
pub use hardware::Hardware;
pub use options::{Options, Outcome, Placement};
pub use progress::Progress;
pub use strategy::Strategy;
pub use target::nodes::NetworkNodes;
pub use treematch::{partition, place_top_down};
