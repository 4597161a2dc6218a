//! Probes over a simulated network.
#![allow(clippy::unwrap_used)]

mod contention;
mod equations;
mod known;
mod measured;
mod simulated;
