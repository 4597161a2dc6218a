//! Networks in Slurm's formats: the output of `scontrol show topology`, or the lines of
//! `topology.conf`.
//!
//! ```text
//! SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]        BlockName=b1 Nodes=tux[0-3]
//! SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-7]        BlockName=b2 Nodes=tux[4-7]
//! SwitchName=s2 Level=1 Nodes=tux[0-7] Switches=s[0-1]    BlockSizes=4,8
//!
//! RingName=r0 Nodes=tux[0-7]                              TorusName=pod Dims=4x4x2 Nodes=tux[0-31]
//! ```
//!
//! Keys are accepted in any case, a `\` at the end continues a line, and two lines may describe one
//! switch. Switches that no other one lists are joined by the root; several switches above the same
//! ones become one with as many links. If switches are below several switches with different
//! children, the network is a graph.

pub(super) mod records;
pub(super) mod switches;
#[cfg(test)]
mod tests;

pub use records::is_of_slurm;
