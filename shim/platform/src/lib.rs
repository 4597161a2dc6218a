//! Platforms: logical clusters, pLogP parameters, models that predict collectives, and the orders
//! in which clusters send to each other.
//!
//! After Luiz Angelo Barchet-Estefanel, *LaPIe: Communications Collectives adaptées aux Grilles de
//! Calcul* (INPG, 2005); its chapters are cited where they are used.
//!
//! ```text
//!   latencies --clustering--> logical clusters --probe--> pLogP parameters
//!                                                             |
//!          orders between clusters <--- models inside <-------+
//!                     |
//!                     v
//!                predictions
//! ```
//!
//! All times in this crate are in seconds and all sizes in bytes.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

mod check;
pub mod clustering;
mod contention;
mod contents;
mod delayed;
mod description;
mod distances;
pub mod file;
mod for_job;
pub mod grid;
mod inside;
mod latency;
pub mod link;
mod numbers;
pub mod orders;
mod pairs;
mod partial;
pub mod probe;
pub mod processors;
mod scaled;
mod transfer_methods;

pub use clustering::{DEFAULT_TOLERANCE, Partition};
pub use contention::{Contention, TimedExchange};
pub use contents::{Contents, Host, Level, Parallel, PlatformCluster, PlatformError};
pub use description::{Mismatch, Platform};
pub use distances::with_measured_distances;
pub use inside::{Identity, Inside, LEVELS};
pub(crate) use latency::LatencyError;
pub use latency::LatencyMatrix;
pub use link::{Link, LinkError, Sample};
pub use pairs::Pairs;
pub use partial::{GivenPlatform, PartialPlatform};
pub use transfer_methods::{TransferMethod, WayCost, Ways};
