//! Kinds of messages.

use serde::{Deserialize, Serialize};

/// Kind under which a message is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MessageKind {
    /// Point-to-point, to the partner.
    PointToPoint,
    /// Neighbourhood collective, to the partner.
    Neighbourhood,
    /// One-sided, to the partner.
    Put,
    /// One-sided, from the partner.
    Got,
}

impl MessageKind {
    /// All kinds; a kind's number is its index here.
    pub const ALL: [MessageKind; 4] = [
        MessageKind::PointToPoint,
        MessageKind::Neighbourhood,
        MessageKind::Put,
        MessageKind::Got,
    ];

    /// Returns the kind with this number.
    pub fn from_number(number: u64) -> Option<MessageKind> {
        MessageKind::ALL
            .into_iter()
            .find(|&kind| kind as u64 == number)
    }
}
