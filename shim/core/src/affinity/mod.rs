//! Which ranks communicate: sparse matrices of traffic between ranks, the metrics read from them,
//! and the formats they are kept in.

mod layer;
mod matrix;
pub(crate) mod names;
#[cfg(test)]
mod strategies;
mod traffic;

pub mod formats;
pub mod measures;
pub mod times;
pub mod windows;

pub use layer::Layer;
pub use matrix::{Matrix, MatrixError};
pub use names::UnknownName;
pub use traffic::{Metric, Traffic, TrafficMatrix};
