//! Algorithms that a native MPI lets its users select, and the settings that select them: the basis
//! of an MPI's own tuning.
//!
//! ```text
//! library        maker and version, from the MPI's version text
//! open_mpi       the table of Open MPI's component `tuned`
//! mpich          the table of MPICH's MPIR_CVAR_..._INTRA_ALGORITHM
//! intel          the table of Intel MPI's I_MPI_ADJUST_...
//! often_faster  algorithms that are often faster than the MPI's own choice
//! variables      variables that select an algorithm, and a test if the user has set them
//! ```

mod intel;
pub(crate) mod knob;
pub(crate) mod library;
pub(crate) mod lookup;
mod mpich;
mod often_faster;
mod open_mpi;
pub(crate) mod variables;

pub use knob::{Knob, Target};
pub use library::{Library, Maker, Version};
pub use lookup::UnknownKnob;
pub use variables::{Component, Control, OWN_CHOICE, Setting, WITHOUT_HAN};
