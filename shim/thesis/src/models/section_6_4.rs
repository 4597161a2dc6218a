//! Total exchanges (thesis section 6.4, items 44 to 47). The size is that of ONE message, from each
//! process to each other.

use crate::models::group::Group;
use treepie_platform::Contention;

/// `(P - 1) g(m) + L`: lower bound of a total exchange if each process sends one message at a time.
pub fn lower_bound(group: Group<'_>, bytes: u64) -> f64 {
    match group.processes {
        1 => 0.0,
        _ => group.others() * group.timing.gap(bytes) + group.timing.latency(),
    }
}

/// Every process sends to all others together; contention decides: `gamma ((P - 1) g(m) + L)`, and
/// `(P - 1) delta` above the threshold.
pub fn direct(group: Group<'_>, contention: Contention, bytes: u64) -> f64 {
    if group.processes == 1 {
        return 0.0;
    }
    let over = match bytes > contention.threshold {
        true => group.others() * contention.delta,
        false => 0.0,
    };
    lower_bound(group, bytes) * contention.gamma + over + group.timing.handshake(bytes)
}

/// In step k with rank xor k, or to rank + k and from rank - k.
pub fn pairwise(group: Group<'_>, bytes: u64) -> f64 {
    group.others() * (group.timing.gap(bytes) + group.latency(bytes))
}

/// In round k half of all blocks to rank + 2^k: for small messages.
pub fn bruck(group: Group<'_>, bytes: u64) -> f64 {
    let half = bytes.saturating_mul(group.processes as u64 / 2).max(bytes);
    group.rounds() * (group.timing.gap(half) + group.latency(half))
}
