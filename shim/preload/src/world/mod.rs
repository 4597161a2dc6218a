//! Substitution of `MPI_COMM_WORLD`: in a replay, every procedure that takes a communicator gets
//! W', the same processes in the placement's order, if the application wrote `MPI_COMM_WORLD`.
//!
//! Handles are mapped only in arguments, and the application never sees W'. Cases that a mere
//! replacement of handles would miss are in the files beside this one.

pub mod attributes;
pub mod error_handlers;
mod fortran;
pub mod keyvals;
pub mod process_set;
mod substitution;

pub use substitution::{
    install, is_replacement, is_substituted, of_application, remove, substitute,
};
