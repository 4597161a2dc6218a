//! Entry points. Every procedure of `interface.table` is defined twice, as `MPI_X` and as `PMPI_X`:
//! C and Python call the first; Open MPI's Fortran layers call the second, MPICH's either. So one
//! hook sees every language once, after the MPI's own Fortran layer has done its conversions.
//! `MPI_X` calls the next `MPI_X`, `PMPI_X` the next `PMPI_X`, so that other tools in the chain
//! keep working.
//!
//! ```text
//! entry_points  the entry points, written by the build script
//! linker        dlsym and dlopen, and symbols that are defined only if the MPI has them
//! next          the next function of a name
//! procedure     makes entry points of the rows of the table
//! arguments     the arguments of a call, by their meaning
//! role          a role, and its inputs
//! roles         work around calls: layers in their order, as Rust functions
//! ```
//!
//! The build script turns each line of the table into one `procedure!`: data, no code.

mod arguments;
mod entry_points;
mod linker;
mod next;
mod procedure;
mod role;
mod roles;
