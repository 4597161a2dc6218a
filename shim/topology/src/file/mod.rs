//! Topologies as YAML.
//!
//! A tree whose nodes are alike at every level is written by its arities, any other as nested
//! lists, in which a number stands for a node with that number of cores:
//!
//! ```yaml
//! treepie: topology                     treepie: topology
//! version: 1                            version: 1
//! levels: [node, socket, core]          levels: [node, socket, core]
//! arities: 4:2:2                        tree: [[4, 4], [8]]
//! ```
//!
//! `machines` adds the names of hosts, the physical numbers of cores and the devices next to them,
//! `forbidden` the cores that no rank may use, `distances` the cost of a path through each level.

mod description;
mod machines;
#[cfg(test)]
mod tests;

pub use description::{deserialize, from_text, read, serialize, to_text, write};
