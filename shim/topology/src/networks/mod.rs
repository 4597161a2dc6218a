//! Networks that are not trees: a distance, a stated routing, and the load of every link.
//!
//! ```text
//! lattice     tori and meshes of any number of dimensions
//! dragonfly   groups of routers, joined by global links
//! fat_tree    trees whose switches have several parents: XGFT
//! hyperx      a lattice whose rows are complete graphs
//! graph       any other network, link by link
//! tree        trees of switches
//! loads       loads of the links, and the lower bound for any routing
//! fabric      properties common to all families
//! network     a network of any family
//! site        a network and the hosts on it
//! ```
//!
//! Hosts are connected to *positions*: routers, switches, or the nodes of a lattice. Distances are
//! between positions and not between hosts, so that 100,000 hosts fit. Facts about the families are
//! from Dally and Towles 2004 (tori), Kim et al. 2008 and Hastings et al. 2015 (dragonflies),
//! Öhring et al. 1995 and Zahavi 2010 (XGFT, d-mod-k), and Ahn et al. 2009 (HyperX).

pub(crate) mod dragonfly;
pub(crate) mod error;
pub(crate) mod fabric;
pub(crate) mod fat_tree;
pub(crate) mod graph;
pub(crate) mod hyperx;
pub(crate) mod lattice;
pub(crate) mod loads;
pub(crate) mod network;
pub(crate) mod site;
#[cfg(test)]
mod tests;
mod text;
pub(crate) mod tree;

pub use dragonfly::{Arrangement, Dragonfly, Local, Paths};
pub use error::NetworkError;
pub use fat_tree::FatTree;
pub use graph::Edge;
pub use hyperx::HyperX;
pub use lattice::{DIMENSION_LIMIT, Lattice};
pub use loads::{Floor, Loads, Partition};
pub use network::Network;
pub use site::{Host, Site};
pub use tree::TreeNetwork;
