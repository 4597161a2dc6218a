//! The table of the MPI interface, and what is generated from it: for each procedure its entry
//! points under both names, and its row among the procedures that pages name.
//!
//! A line of `tables/interface.table` is all that is known of a procedure: its parameters, facts of
//! the MPI standard, and columns behind them, which say what Treepie does with it.
//! `tables/extensions.table` has lines of the same form for procedures beside the standard. Output
//! is data: bodies are in `preload/src/entry/roles`. Build scripts and tests use this crate;
//! nothing of it is linked into the library.

mod arguments;
mod entry_points;
mod pages;
mod role;
mod table;
#[cfg(test)]
mod tests;

pub use table::{Parameter, Procedure, procedures};

/// Data of the entry points of all procedures: one `procedure!` each, which
/// `preload/src/entry/procedure.rs` turns into functions.
pub fn entry_points() -> String {
    entry_points::generate(&table::procedures())
}

/// Source of a constant for each procedure, by which notes name it, and of `TABLE`, the names and
/// roles that pages hold.
pub fn page_procedures() -> String {
    pages::generate(&table::procedures())
}
