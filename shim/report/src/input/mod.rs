//! Inputs that a user can name on the command line: a profile or a matrix, a topology, the location
//! of the processes of a profile on it, and a running job.

pub mod choice;
pub mod collective;
mod distances;
pub mod gates;
pub mod hwloc_file;
pub mod machine;
mod machines;
pub mod neighbours;
pub mod network;
pub mod numbers;
pub mod occupancy;
pub mod page_files;
pub mod pages;
pub mod plan;
mod processes;
pub mod ranks;
pub mod sizes;
pub mod topology;
pub mod traffic;
