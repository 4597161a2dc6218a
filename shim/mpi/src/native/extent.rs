//! Extent of a datatype.

/// Memory layout of the elements of a datatype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Distance between elements in bytes.
    pub step: i64,
    /// Offset of an element's first byte from its address.
    pub first: i64,
    /// Number of bytes from an element's first to its last, inclusive.
    pub span: i64,
}
