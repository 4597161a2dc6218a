//! Networks in the formats of sites.
//!
//! ```text
//! own            Treepie's YAML: family, parameters, hosts
//! topology_file  Treepie's topologies whose leaves are hosts
//! slurm          topology.conf and `scontrol show topology`: switches, blocks, rings, tori
//! slurm_yaml     topology.yaml
//! slurm_nodes    `scontrol show node`
//! cray           names of the nodes of a Cray XC, which encode their positions
//! ibnetdiscover  InfiniBand fabrics
//! xml            SimGrid's platforms or GraphML, by the first element
//! simgrid        SimGrid's platforms
//! graphml        a part of GraphML
//! scotch         Scotch's target files
//! json           Flux's R and JGF, pbsnodes, nodes of Slurm, topograph
//! pbs            output of `pbsnodes -av`
//! coordinates    a host and its coordinates per line, or coordinates in names
//! host_list      names such as tux[0-3]
//! locations      no file: coordinates reported by systems to the ranks of a job
//! ```
//!
//! Each format is one of these files and a row of the table in `read`.

mod coordinates;
mod cray;
mod error;
mod graph_builder;
mod graphml;
mod host_list;
mod ibnetdiscover;
mod json;
mod lines;
mod locations;
mod own;
mod pbs;
mod read;
mod scotch;
mod simgrid;
mod slurm;
mod slurm_nodes;
mod slurm_yaml;
mod topology_file;
mod tori;
mod trees;
mod xml;

pub use coordinates::from_names;
pub use host_list::{expand, expand_flux};
pub use locations::{HostLocation, by_cnames, by_coordinates};
pub use read::{from_text, is_network, named, read, split};
pub use slurm::is_of_slurm;
