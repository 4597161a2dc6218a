//! The extent of a datatype.

/// Memory that the elements of a datatype take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// From one element to the next, in bytes.
    pub step: i64,
    /// Offset of an element's first byte from its address.
    pub first: i64,
    /// From an element's first byte to behind its last.
    pub span: i64,
}
