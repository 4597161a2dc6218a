//! Classes of calls that share a choice.

use crate::choice::Unpredicted;
use crate::form::Form;
use treepie_collective::Operation;

/// Placeholder for bytes that not all ranks know.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// Calls that share a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Class {
    pub(crate) operation: Operation,
    /// Size of the class in bytes, for which the choice is made.
    pub(crate) bytes: u64,
    pub(crate) root: usize,
    pub(crate) ordered: bool,
    pub(crate) form: Form,
}

impl Class {
    /// Reason why no time is known.
    pub(crate) fn unpredicted(&self) -> Unpredicted {
        match self.bytes {
            UNKNOWN => Unpredicted::UnknownSizes,
            _ => Unpredicted::NoPlatform,
        }
    }
}

/// Representative size in bytes of the class of sizes that share a choice: four classes to a power
/// of two.
pub fn class_bytes(bytes: u64) -> u64 {
    match bytes {
        0..=8 => bytes,
        _ => {
            let step = 1u64 << (bytes.ilog2() - 2);
            bytes.div_ceil(step).saturating_mul(step)
        }
    }
}
