//! Private communicator with the processes of one of the application's, on which plans run: its
//! processes and their locality, the choice of plans, and the cached ones. The objects attached to
//! it (guard, records of uneven sizes) belong to `communicator`.

mod calls;
mod choice;
mod communicator_parts;
mod state;

pub use communicator_parts::CommunicatorParts;
pub use state::Ground;
