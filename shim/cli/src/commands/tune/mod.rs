//! `treepie tune`: the MPI's own algorithms and plans measured on an allocation, and the MPI's
//! tuning files.

mod files;
mod run;

pub use run::{Arguments, run};
