//! Waves of checkpoints in simulation: closed forms, and the figures of Coti's study by shape.
#![allow(clippy::unwrap_used)]

mod closed_forms;
mod figures;
mod platforms;
