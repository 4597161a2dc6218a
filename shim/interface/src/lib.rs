//! The table of the MPI interface, and what is generated from it: for each procedure its entry
//! points under both names, and its row among the procedures that pages name.
//!
//! `interface.table` holds facts of the MPI standard, `extensions.table` procedures beside it,
//! `roles.table` what Treepie does with them. Build scripts and tests use this crate; nothing of it
//! is linked into the library.

mod calls;
mod entry_points;
mod notes;
mod order;
mod started;
mod table;
#[cfg(test)]
mod tests;
mod windows;

/// Source of the entry points of all procedures: one `procedure!` each, which
/// `preload/src/entry/procedure.rs` turns into functions.
pub fn entry_points() -> String {
    entry_points::generate(&table::procedures())
}

/// Source of a constant for each procedure, by which notes name it, and of `TABLE`, the names and
/// roles that pages hold.
pub fn page_procedures() -> String {
    notes::procedures(&table::procedures())
}
