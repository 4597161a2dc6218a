//! `treepie show`: the contents of a file, as text or picture.

mod arguments;
mod draw;
mod files;
mod job;
mod run;

pub use arguments::Arguments;
pub use run::run;
