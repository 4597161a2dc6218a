//! A communicator of our own with the processes of one of the application's, on which plans run:
//! its processes and their places, the choice of plans, and those that were used. What is attached
//! to it (guard, uneven sizes) is `communicator`'s.

mod calls;
mod choice;
mod kept;
mod state;

pub use kept::Kept;
pub use state::Ground;
