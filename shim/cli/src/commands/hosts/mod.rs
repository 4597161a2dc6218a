//! `treepie hosts`: hosts in a good order, without a run.

mod arguments;
mod files;
mod names;
mod run;

pub use arguments::Arguments;
pub(crate) use names::are_sorted_as_text;
pub use run::run;
