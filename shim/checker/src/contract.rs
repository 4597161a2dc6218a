//! Buffers of a rank as a collective defines them.

/// Buffers of a rank.
pub(super) struct Contract {
    /// Units of the input.
    pub(super) input: u64,
    /// Units of the output.
    pub(super) output: u64,
    /// True if the output holds the rank's contribution from the start: the message at the root of
    /// a broadcast.
    pub(super) output_given: bool,
}
