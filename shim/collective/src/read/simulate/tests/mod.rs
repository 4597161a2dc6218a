//! Simulated plans against formulas, bounds, and a second engine.

mod outcomes;
mod ties;
