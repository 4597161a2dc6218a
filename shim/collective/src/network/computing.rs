//! The time that a reduction computes.

/// `gamma(m)`, taken as proportional to the size: seconds to combine one byte
/// with another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Computing {
    /// Seconds for each byte of one operand.
    pub per_byte: f64,
}

impl Default for Computing {
    /// 4 GB/s: a sum of doubles that do not fit the caches.
    fn default() -> Self {
        Computing { per_byte: 0.25e-9 }
    }
}

impl Computing {
    /// Seconds to combine two operands of `bytes`.
    pub fn seconds(&self, bytes: u64) -> f64 {
        self.per_byte * bytes as f64
    }
}
