//! Plans in time: what formulas and bounds say of them, and a second engine.

mod agreement;
mod outcomes;
mod plain;
mod ties;
