//! Costs of collectives between equal processes (thesis chapter 6): every strategy as a formula of
//! the pLogP parameters, the number of processes and the size.
//!
//! If a printed formula is ambiguous or optimistic, the corrected form is the default and the
//! printed one is kept as [`Form::Thesis`].

pub mod chapter_5;
pub mod chapter_7;
mod formula;
mod group;
pub mod section_6_4;
pub mod segment;
pub mod table_6_3;
pub mod tables_6_1_and_6_2;

pub use formula::{Reading, formula, makespan};
pub use group::{Form, Group};
