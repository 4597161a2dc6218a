//! Buffers that a collective defines for a rank.

/// The buffers of a rank.
pub(super) struct Contract {
    /// Units of the input.
    pub(super) input: u64,
    /// Units of the output.
    pub(super) output: u64,
    /// The output holds what the rank gives from the start: the message at the
    /// root of a broadcast.
    pub(super) output_given: bool,
}
