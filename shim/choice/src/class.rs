//! Classes of calls that get the same choice.

use crate::choice::Unpredicted;
use crate::form::Form;
use treepie_collective::Operation;

/// Stands for bytes that not all ranks know.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// Calls that get the same choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Class {
    pub(crate) operation: Operation,
    /// The size of the class, which the choice is made for.
    pub(crate) bytes: u64,
    pub(crate) root: usize,
    pub(crate) ordered: bool,
    pub(crate) form: Form,
}

impl Class {
    /// Why no time is known, where none is.
    pub(crate) fn unpredicted(&self) -> Unpredicted {
        match self.bytes {
            UNKNOWN => Unpredicted::UnknownSizes,
            _ => Unpredicted::NoPlatform,
        }
    }
}

/// Bytes as the sizes of calls that are chosen for alike: four to a power of two.
pub fn class_bytes(bytes: u64) -> u64 {
    match bytes {
        0..=8 => bytes,
        _ => {
            let step = 1u64 << (bytes.ilog2() - 2);
            bytes.div_ceil(step).saturating_mul(step)
        }
    }
}
