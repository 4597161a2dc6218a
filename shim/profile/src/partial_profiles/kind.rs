//! Kinds of messages.

use serde::{Deserialize, Serialize};

/// Kind that a message is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MessageKind {
    /// Point-to-point, to the partner.
    PointToPoint,
    /// A neighbourhood collective's, to the partner.
    Neighbourhood,
    /// One-sided, to the partner.
    Put,
    /// One-sided, from the partner.
    Got,
}

impl MessageKind {
    /// All kinds; a kind's number is its place here.
    pub const ALL: [MessageKind; 4] = [
        MessageKind::PointToPoint,
        MessageKind::Neighbourhood,
        MessageKind::Put,
        MessageKind::Got,
    ];

    /// The kind with this number.
    pub fn from_number(number: u64) -> Option<MessageKind> {
        MessageKind::ALL
            .into_iter()
            .find(|&kind| kind as u64 == number)
    }
}
