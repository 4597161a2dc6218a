//! Computing time of a reduction.

/// `gamma(m)`, assumed to be proportional to the size: seconds to combine one byte with another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Computing {
    /// Seconds for each byte of one operand.
    pub per_byte: f64,
}

impl Default for Computing {
    /// 4 GB/s: a sum of doubles that exceed the caches.
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
