//! The algorithms that a native MPI lets its users choose, and how they are chosen: what an MPI's
//! own tuning is made of.
//!
//! ```text
//! library        whose, and which version: from what the MPI calls itself
//! open_mpi       the table of Open MPI's component `tuned`
//! mpich          the table of MPICH's MPIR_CVAR_..._INTRA_ALGORITHM
//! intel          the table of Intel MPI's I_MPI_ADJUST_...
//! often_quicker  those that beat the MPI's own choice often
//! variables      the names of the variables that set an algorithm, and who has set them already
//! ```

mod intel;
pub(crate) mod knob;
pub(crate) mod library;
pub(crate) mod lookup;
mod mpich;
mod often_quicker;
mod open_mpi;
pub(crate) mod variables;

pub use knob::{Knob, Target};
pub use library::{Library, Maker, Version};
pub use lookup::UnknownKnob;
pub use variables::{Component, Control, OWN_CHOICE, Setting, WITHOUT_HAN};
