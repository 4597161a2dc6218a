//! States of a cell, each with the data that are valid in it, and the transitions between them.
//!
//! ```text
//!             first exchange          faster
//! Measuring ────────────────> Trying ─────────> Watching
//!     │                         │                  │
//!     │ no candidates           │ none left, or    │ no longer faster,
//!     │                         │ only reported    │ or unable to serve
//!     └─────────────────────> Settled <────────────┘
//! ```

pub(crate) mod measuring;
mod pace;
pub(crate) mod settled;
pub(crate) mod trying;
pub(crate) mod watching;
