//! Refinement of mappings.
//!
//! ```text
//! refiner          the interface of a refinement
//! pairwise         swaps of any two ranks in a tree, as long as one lowers the cost
//! swap_annealing   swaps between nodes on a network with true distances, from hot to cold
//! congestion       swaps that lower the maximum link load, in trees and networks
//!
//! cell_annealing   moves and swaps between the cells of a block, within multisection
//!   mapping        their table of savings
//! schedule         length and temperatures of annealing
//! ```

pub(crate) mod cell_annealing;
pub(crate) mod congestion;
pub(crate) mod mapping;
pub(crate) mod pairwise;
pub(crate) mod refiner;
pub(crate) mod schedule;
pub(crate) mod swap_annealing;
