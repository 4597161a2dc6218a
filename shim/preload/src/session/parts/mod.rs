//! Parts of Treepie's work in a job, in the order in which they begin. Each is active if the plan
//! has it, which is the same on all ranks.
//!
//! ```text
//! MPI_Init       begin                    first to last
//! MPI_Finalize   stop                     last to first: the application makes no more calls
//!                collect                  first to last, if all ranks have come
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
