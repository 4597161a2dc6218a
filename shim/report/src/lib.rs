//! Answers of the command: tables with readable units, pictures, the HTML page, and the inputs that
//! a user can name.
//!
//! ```text
//! (root)    a module for each table, all based on `table`, `units` and `words`
//! picture   heat maps, trees, networks, charts and bars in time, as SVG and PNG
//! html      the report of a job on one page
//! exchange  a profile in files for other tools: tables, graphs, traces, metrics
//! input     a profile or a matrix, a machine, a network, sizes, pages of a running job
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod before_after;
pub mod change;
pub mod checkpoints;
pub mod clusters;
pub mod collectives;
pub mod containment;
pub mod cut;
pub mod devices;
pub mod exchange;
pub mod experience;
pub mod gain;
pub mod grid;
pub mod guard;
pub mod html;
pub mod input;
pub mod layers;
pub mod levels;
pub mod locations;
pub mod matrix;
pub mod near;
pub mod network;
pub mod network_picture;
pub mod order;
pub mod phases;
pub mod picture;
pub mod placement;
pub mod plan;
pub mod platform;
pub mod platform_picture;
pub mod proof;
pub mod redundancy;
pub mod summary;
pub mod supervised;
pub mod table;
pub mod times;
mod trace_events;
pub mod transfer_methods;
pub mod tuning;
pub mod units;
pub mod verdict;
pub mod waits;
pub mod windows;
pub mod words;
