//! The tree of a machine, a cluster or a grid: which processing units there
//! are, how many levels apart two of them lie, and which may be used.
//!
//! ```
//! use treepie_core::topology::Topology;
//!
//! // Four nodes of two sockets of two cores.
//! let topology = Topology::from_arities("4:2:2")?;
//! assert_eq!(topology.leaf_count(), 16);
//! assert_eq!(topology.levels()[1].name, "socket");
//! assert_eq!(topology.distance(0, 1), 2); // same socket: up one level, down one
//! assert_eq!(topology.distance(0, 4), 6); // another node: through the root
//! # Ok::<(), treepie_core::topology::TopologyError>(())
//! ```

mod allowed;
mod build;
mod device;
mod error;
mod join;
mod machine;
mod network;
pub mod networks;
mod numbering;
mod slots;
mod tree;

pub use build::Tree;
pub use device::{Device, DeviceKind, LocalDevice};
pub use error::TopologyError;
pub use machine::{Machine, MachineError};
pub use tree::{LEAF_LIMIT, LEVEL_LIMIT, Leaf, Level, Topology};
