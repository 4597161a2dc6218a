//! Logarithms to the base 2 of numbers of processes.

/// The least q with 2^q >= n; 0 for 0 and 1.
pub fn ceil_log2(n: usize) -> u32 {
    n.max(1).next_power_of_two().trailing_zeros()
}

/// The greatest q with 2^q <= n; 0 for 0 and 1.
pub fn floor_log2(n: usize) -> u32 {
    n.max(1).ilog2()
}

/// What the sender or receiver of a doubling scheme moves in each round, in
/// blocks: 1, 2, 4, ... and in the last round what is left of `processes - 1`.
pub fn doubling_blocks(processes: usize) -> impl Iterator<Item = u64> {
    (0..ceil_log2(processes)).map(move |round| {
        let held = 1_u64 << round;
        held.min(processes as u64 - held)
    })
}
