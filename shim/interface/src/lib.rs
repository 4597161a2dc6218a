//! Table of the MPI interface, and the code that is generated from it: for each procedure its entry
//! points under both names, and its row among the procedures that pages name.
//!
//! A line of `tables/interface.table` contains all facts about a procedure: its parameters, as in
//! the MPI standard, followed by columns that determine Treepie's work. `tables/extensions.table`
//! has lines of the same form for procedures outside of the standard. The output is data: bodies
//! are in `preload/src/entry/roles`. Build scripts and tests use this crate; it is not linked into
//! the library.

mod arguments;
mod entry_points;
mod pages;
mod role;
mod table;
#[cfg(test)]
mod tests;

pub use table::{Parameter, Procedure, procedures};

/// Returns the data of the entry points of all procedures: one `procedure!` each, which
/// `preload/src/entry/procedure.rs` expands to functions.
pub fn entry_points() -> String {
    entry_points::generate(&table::procedures())
}

/// Returns the source of a constant for each procedure, which notes use, and of `TABLE`, the names
/// and roles in pages.
pub fn page_procedures() -> String {
    pages::generate(&table::procedures())
}
