//! Criteria before and after.

use serde::Serialize;

/// The most loaded link of the nodes of one level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkChange {
    /// Level below the link: `node`, `socket`.
    pub name: String,
    /// Its load before, in the busier direction.
    pub before: f64,
    /// Load of the most loaded link after, in the busier direction.
    pub after: f64,
}

/// One objective before and after.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// With the launcher's order.
    pub identity: f64,
    /// With the placement.
    pub placement: f64,
}
