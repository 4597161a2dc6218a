//! Kinds of messages.

use serde::{Deserialize, Serialize};

/// Kind that a message is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Point-to-point, to the partner.
    PointToPoint,
    /// A neighbourhood collective's, to the partner.
    Neighbourhood,
    /// One-sided, to the partner.
    Put,
    /// One-sided, from the partner.
    Got,
}

impl Kind {
    /// All kinds; a kind's number is its place here.
    pub const ALL: [Kind; 4] = [
        Kind::PointToPoint,
        Kind::Neighbourhood,
        Kind::Put,
        Kind::Got,
    ];

    /// The kind with this number.
    pub fn from_number(number: u64) -> Option<Kind> {
        Kind::ALL.into_iter().find(|&kind| kind as u64 == number)
    }
}
