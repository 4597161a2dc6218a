//! Parts shared by the programs that measure under an MPI: a clock that all ranks have in common,
//! and timed transfers between two of them. The programs are linked to no MPI: each opens that of
//! the job (`treepie_mpi::program`), whose constants are in the library's own ABI descriptors.
#![forbid(unsafe_code)]

pub mod clocks;
pub mod transfers;
