//! Costs of placements, independent of the strategy.
//!
//! The four objectives of the thesis (1.4.1): [`dist_comm`], `temps_comm`, `makespan_comm` and
//! [`coupe_min`]; the load of the links of the tree ([`link_loads`]); and the pairs of ranks that
//! cross a level ([`pairs_across`]).

pub(crate) mod choice;
pub(crate) mod hop_bytes;
pub(crate) mod links;
pub(crate) mod network;
mod pairs;
pub(crate) mod sums;
pub(crate) mod thesis;

pub use choice::Objective;
pub use hop_bytes::{dist_comm, mean_of_directions, traffic_by_level};
pub use links::{LinkLoad, all_link_loads, link_loads};
pub use network::{Measures, hop_bytes, link_traffic};
pub use pairs::{Crossing, PairsAcross, pairs_across};
pub use thesis::coupe_min;
