//! Platforms as YAML: logical clusters, their hosts and ranks, and pLogP
//! parameters inside and between them.
//!
//! ```yaml
//! treepie: platform
//! version: 1
//! columns: bytes gap_us handshake_us send_us receive_us confidence_us
//! hosts:
//! - {name: a1, ranks: 0-3}
//! - {name: b1, ranks: 4-7}
//! clusters:
//! - {name: a, hosts: [a1], leader: 0}
//! - {name: b, hosts: [b1], leader: 4}
//! links:
//! - from: a
//!   to: b
//!   latency_us: 10000
//!   samples:
//!   - 0 5
//!   - 1048576 90000
//! ```
//!
//! If ranks are bound to parts of their hosts, `inside` has the group of each rank, a number, on
//! each level, the widest first: `- {level: socket, groups: "0,0,1,1"}`. The links are in `levels`
//! of the clusters, by the name of the closest level that two ranks share: `node`, `socket`,
//! `numa`, `l3`, `l2`, `core`.
//!
//! A sample is one line of the `columns`; the last ones may be left out. The defaults are no
//! handshake, and overheads equal to those of the smallest message (LogGP's `o`), in memory equal
//! to the gap. If `treepie probe --ways` measured them, a link has `ways`: for each method a line
//! for each size of pieces, `bytes one_us further_us`, and `epochs_us`. With `--together`,
//! `parallel` has the bandwidth of several simultaneous pairs, between clusters, hosts of one
//! (`from` and `to` are the same), or ranks of a host (of this `level`): `- {from: a, to: a, level:
//! node, pairs: 2, megabytes_per_second: 9000}`. Files of other tools can be read, too: [`magpie`]
//! clusters, [`logp_mpi`] tables, [`latencies`] as CSV.

mod cluster;
pub mod latencies;
mod link;
pub mod logp_mpi;
pub mod magpie;
mod platform_file;
mod platform_text;
#[cfg(test)]
mod tests;
mod transfer_methods;

pub use platform_file::{PlatformFile, deserialize, serialize};
