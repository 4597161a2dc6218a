//! What a user can name on the command line: a profile or a matrix, a
//! topology, where the processes of a profile ran on it, and a running job.

pub mod choice;
pub mod collective;
pub mod gates;
pub mod hwloc_file;
pub mod machine;
pub mod neighbours;
pub mod network;
pub mod numbers;
pub mod occupancy;
pub mod pages;
pub mod plan;
pub mod sizes;
pub mod topology;
pub mod traffic;
