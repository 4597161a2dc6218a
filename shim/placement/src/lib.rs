//! Placements of ranks on the leaves of a topology: TreeMatch, other mappings, and their cost.
//!
//! ```
//! use treepie_traffic::Matrix;
//! use treepie_placement::{Options, Strategy, place};
//! use treepie_topology::Topology;
//!
//! // Two nodes of two cores; the pairs (0, 2) and (1, 3) communicate.
//! let topology = Topology::from_arities("2:2")?;
//! let matrix = Matrix::from_entries(4, [(0, 2, 100.0), (3, 1, 50.0), (0, 1, 1.0)])?;
//! let outcome = place(Strategy::Best, &matrix, &topology, &Options::default())?;
//! assert_eq!(outcome.placement.leaf_of_rank, [0, 2, 1, 3]);
//! assert!(outcome.cost < outcome.identity_cost);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod allocation;
pub mod balance;
mod baselines;
pub mod bound;
mod candidates;
mod check;
mod congestion;
mod error;
pub mod file;
mod multilevel;
mod partition;
mod place;
mod progress;
mod random;
mod strategy;
mod top_down;

pub mod binding;
pub mod constraints;
pub mod near;
pub mod networks;
pub mod objective;
pub mod seat;
pub mod treematch;
pub mod worth;

pub use check::{check, permutation};
pub(crate) use constraints::ConstraintError;
pub use constraints::{Constraints, SlotTree};
pub use error::PlacementError;
pub use multilevel::Effort;
pub use partition::partition;
pub use place::{Options, Outcome, Placement, place};
pub use progress::Progress;
pub use strategy::Strategy;
pub use top_down::place_top_down;
