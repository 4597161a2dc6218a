//! `treepie help`: the help of a subcommand, or a page of the book formatted for a terminal.

mod run;
mod subjects;

pub use run::{Arguments, run};
pub use subjects::hint;
