//! What a rank did when: the bars of a Gantt chart.

/// What a rank does for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Doing {
    /// A message of its leaves: from its start until its last byte is on the way.
    Send,
    /// A message comes in: from its first byte to its last.
    Receive,
    /// It reduces.
    Reduce,
    /// It copies.
    Copy,
}

/// A bar of a rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The rank.
    pub rank: usize,
    /// When it starts, in seconds.
    pub start: f64,
    /// When it ends, in seconds.
    pub end: f64,
    /// What it is.
    pub doing: Doing,
    /// The other rank of a message.
    pub peer: Option<usize>,
    /// How much, in bytes.
    pub bytes: u64,
}
