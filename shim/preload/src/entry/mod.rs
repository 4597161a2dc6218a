//! The entry points. Every procedure of `interface.table` is defined twice, as
//! `MPI_X` and as `PMPI_X`: C and Python call the first; Open MPI's Fortran
//! layers call the second, MPICH's either. So one hook sees every language once,
//! after the MPI's own Fortran layer has done its conversions. `MPI_X` goes on
//! to the next `MPI_X`, `PMPI_X` to the next `PMPI_X`, so that other tools in
//! the chain keep working.
#![allow(
    clippy::too_many_arguments,
    clippy::redundant_field_names,
    clippy::identity_op,
    non_snake_case
)]

#[cfg(target_arch = "x86_64")]
mod by_handle;
#[cfg(target_arch = "x86_64")]
mod linker;
mod next;
mod rare;

use std::ffi::c_void;

use treepie_core::collective::Operation;

use crate::collectives::{self, Call, Side};
use crate::log;
use crate::mpi::{Word, c_int, native};
use crate::record::{self, Access, Arguments, CallClass, Completion, Message, Object};
use crate::world;
use next::Next;
use rare::rare_entry_point;

include!(concat!(env!("OUT_DIR"), "/entry_points.rs"));

/// What a procedure returns that no loaded MPI has: never a jump to nothing.
#[cold]
fn missing(next: &Next) -> c_int {
    log::error(&format!(
        "{} was called, but no MPI library in this process has it; the call returns an error",
        next.name().to_string_lossy()
    ));
    native::abi().map_or(1, |abi| abi.err_intern)
}
