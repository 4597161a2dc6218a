//! The tree of a machine, a cluster or a grid: its processing units, the distances between them,
//! and those that may be used.
//!
//! ```
//! use treepie_base::Leaf;
//! use treepie_topology::Topology;
//!
//! // Four nodes of two sockets of two cores.
//! let topology = Topology::from_arities("4:2:2")?;
//! assert_eq!(topology.leaf_count(), 16);
//! assert_eq!(topology.levels()[1].name, "socket");
//! assert_eq!(topology.distance(Leaf(0), Leaf(1)), 2); // same socket: up one level, down one
//! assert_eq!(topology.distance(Leaf(0), Leaf(4)), 6); // another node: through the root
//! # Ok::<(), treepie_topology::TopologyError>(())
//! ```
//!
//! Networks that are not trees are in [`networks`], the formats of sites in [`formats`], Treepie's
//! own file in [`mod@file`], and launchers' rank files in [`rank_files`].
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

mod allowed;
mod build;
mod device;
mod error;
pub mod file;
pub mod formats;
mod join;
mod limits;
mod machine;
mod network;
pub mod networks;
mod numbering;
pub mod rank_files;
mod slots;
mod tree;

pub use build::Tree;
pub use device::{Device, DeviceKind, LocalDevice};
pub use error::TopologyError;
pub use limits::LEAF_LIMIT;
pub use machine::{Machine, MachineError};
pub use tree::{Level, ProcessingUnit, Topology};
