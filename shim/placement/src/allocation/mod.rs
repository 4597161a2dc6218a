//! A job just after its launch: its hosts and the core of each process. An earlier placement is
//! remapped to it if the shapes agree, and a new one is computed if a profile has the traffic
//! between ranks.
//!
//! ```text
//!   processes, machines, clusters --> Allocation --+--> remapped(recorded placement)
//!                       network ---^               +--> placed(matrix)
//! ```

mod clusters;
mod compute;
mod distances;
mod error;
mod job;
mod occupied;
mod remap;
mod similar;
mod sparsify;
#[cfg(test)]
mod tests;

pub use clusters::network_of;
pub use compute::{Movement, Placed, reordered};
pub use error::AllocationError;
pub use job::Allocation;
pub use occupied::occupy;
pub use remap::{Recorded, needs_machines};
