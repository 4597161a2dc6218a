//! Plans in time: what formulas and bounds say of them, and a second engine.

mod outcomes;
mod ties;
