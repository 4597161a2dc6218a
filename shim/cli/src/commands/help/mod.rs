//! `treepie help`: the help of a subcommand, or a page of the book formatted for a terminal.

mod page;
mod render;
mod run;
mod table;

pub use page::{PAGES, Page};
pub use run::{Arguments, run};
