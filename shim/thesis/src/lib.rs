//! Definitions of the theses that the product does not need: they remain computable, and tests
//! compare the product with them. Only tests, benchmarks and examples depend on this crate.
//!
//! | module | LaPIe (Barchet-Estefanel, INPG, 2005) |
//! |---|---|
//! | [`links`] | models of messages: Hockney, LogGP, pLogP (4.1) |
//! | [`models`] | closed formulas of collectives (chapter 5, tables 6.1 to 6.3, section 6.4, chapter 7) |
//! | [`orders`] | the best order between clusters, and the study on random grids (7.1.4, table 7.2) |
//! | [`lapie`] | the grids of its experiments (7.1.5, 7.2) |
//! | [`experiments`] | its comparisons on them, and its statements on the times |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod experiments;
pub mod lapie;
pub mod links;
pub mod models;
pub mod orders;
