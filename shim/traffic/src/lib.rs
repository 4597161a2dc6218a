//! Which ranks communicate: sparse matrices of traffic between ranks, the metrics read from them,
//! and the formats they are kept in.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

mod layer;
mod matrix;
mod pattern;
#[cfg(any(test, feature = "fixtures"))]
pub mod strategies;
mod traffic;

pub mod formats;
pub mod measures;
pub mod times;
pub mod windows;

pub use layer::Layer;
pub use matrix::{Matrix, MatrixError};
pub use pattern::{Pattern, PatternError};

pub use traffic::{Metric, Traffic, TrafficMatrix};
