//! Topologies read through hwloc: of this machine, of an hwloc XML file, and of a synthetic
//! description.
//!
//! ```
//! use treepie_hwloc::Source;
//!
//! let machine = Source::Synthetic("pack:2 core:4 pu:2".into()).read()?;
//! let topology = machine.topology();
//! assert_eq!(topology.arities(), Some(vec![2, 4]));
//! assert_eq!(topology.levels()[0].name, "socket");
//! assert_eq!(machine.leaf_of_pu(9), Some(treepie_base::Leaf(4))); // second thread of the fifth core
//! # Ok::<(), treepie_hwloc::HwlocError>(())
//! ```
//!
//! The result is a [`Machine`]: a tree whose leaves are cores, in hwloc's logical order, and the
//! hardware threads of each core. Levels without structure are left out, and memory never changes
//! the tree: see [`Source`]. Only processing units allowed by the process's cpuset are included.
//! Network interfaces and accelerators are read on request: see [`Source::read_with_devices`].
//!
//! The preloaded library does not link to this crate, since an MPI may bring its own libhwloc: it
//! opens the companion library, which does.

mod devices;
mod error;
mod library;
mod source;
mod synthetic;
mod walk;
mod xml;

pub use error::HwlocError;
pub use source::Source;
pub use treepie_topology::Machine;
