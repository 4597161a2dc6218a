//! Timeline of the ranks: the bars of a Gantt chart.

/// Activity of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Doing {
    /// Sends a message: from its start until its last byte has left.
    Send,
    /// Receives a message: from its first byte to its last.
    Receive,
    /// Reduces.
    Reduce,
    /// Copies.
    Copy,
}

/// Bar of a rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Rank.
    pub rank: usize,
    /// Start in seconds.
    pub start: f64,
    /// End in seconds.
    pub end: f64,
    /// Activity.
    pub doing: Doing,
    /// The other rank of a message.
    pub peer: Option<usize>,
    /// Bytes of the activity.
    pub bytes: u64,
}
