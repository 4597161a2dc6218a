//! Traffic between ranks: sparse matrices, the metrics derived from them, and their file formats.
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
