//! Properties that each MPI's `mpi.h` fixes and no symbol reveals: handle width, constants,
//! predefined handles. One descriptor for each family, chosen at run time.
//!
//! Nothing here calls MPI. The program `abi_check` of `tests/programs` includes this file and
//! compares every constant with those that `mpi-sys` generates from the headers of the MPI that it
//! was built with.

mod descriptor;
mod mpich;
mod open_mpi;
mod standard;

pub use descriptor::{Abi, ERR_BUFFER, ERR_COUNT, Family, Handle, Predefined, SizedTypes};
pub use mpich::MPICH;
pub use open_mpi::OPEN_MPI;
pub use standard::STANDARD;
