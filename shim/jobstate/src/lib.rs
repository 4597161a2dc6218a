//! State of a running job: the pages that its ranks write, the wait-for graph, a quiet cut of all
//! ranks, and the order of receives, recorded and replayed.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod cut;
pub mod order;
pub mod pages;
pub mod waits;
