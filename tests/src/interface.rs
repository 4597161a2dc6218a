//! The tables from which the library's entry points are generated.

pub use treepie_interface::{Parameter, Procedure, procedures};
