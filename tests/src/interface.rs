//! The tables that the library's entry points are made from.

pub use treepie_interface::{Parameter, Procedure, procedures};
