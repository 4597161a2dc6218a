//! Entry points. Every procedure of `interface.table` is defined twice, as `MPI_X` and as `PMPI_X`:
//! C and Python call the first; Open MPI's Fortran layers call the second, MPICH's either. So one
//! hook sees every language once, after the MPI's own Fortran layer has done its conversions.
//! `MPI_X` calls the next `MPI_X`, `PMPI_X` the next `PMPI_X`, so that other tools in the chain
//! keep working.
//!
//! ```text
//! linker      dlsym and dlopen, and symbols that are defined only if the MPI has them
//! next        the next function of a name
//! procedure   makes entry points of the rows of the table
//! arguments   the arguments of a call, by their meaning
//! role        a role, and its inputs
//! roles       work around calls: layers in their order, as Rust functions
//! ```
//!
//! The build script turns each line of the table into one `procedure!`: data, no code.
#![allow(
    clippy::too_many_arguments,
    clippy::needless_update,
    clippy::redundant_field_names,
    clippy::unnecessary_cast,
    non_snake_case
)]

mod arguments;
mod linker;
mod next;
mod procedure;
mod role;
mod roles;

use std::ffi::CStr;

use treepie_collective::Operation;
use treepie_mpi::{
    AppComm, Datatype, DatatypeArray, Errhandler, Group, IntArray, LargeArray, Op, StatusAddress,
    Win, Word, c_int, native,
};
use treepie_plans::Waits;
use treepie_process::features;
use treepie_process::{PanicBarrier, log};
use treepie_record::{self as record, procedures};
use treepie_traffic::windows::{EpochKind, WindowCall};

use crate::order::CallKind;
use crate::{reorder, session, world};
use arguments::Arguments;
use linker::optional_symbol;
use next::Next;
use procedure::{Argument, entry_point, entry_points, observed, procedure};
use role::{Changes, NativeCall, Properties, Rma, Role};

include!(concat!(env!("OUT_DIR"), "/entry_points.rs"));

/// Returns the error of a procedure that no loaded MPI has, instead of a jump to a null pointer.
#[cold]
fn missing(name: &CStr) -> c_int {
    log::error(&format!(
        "{} was called, but no MPI library in this process has it; the call returns an error",
        name.to_string_lossy()
    ));
    native::abi().map_or(1, |abi| abi.err_intern)
}
