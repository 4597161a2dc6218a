//! The parts of what Treepie does in a job, in the order in which they begin. Each is there where
//! the plan has it, which is the same on all ranks.
//!
//! ```text
//! MPI_Init       begin                    first to last
//! MPI_Finalize   stop                     last to first: the application makes no call any more
//!                collect                  first to last, where all ranks have come
//!                end                      last to first
//! ```

mod all;
mod collectives;
mod counting;
mod learning;
mod order;
mod pages;
mod part;
mod ranks;

pub use all::PARTS;
pub use part::{End, Start, abort};
