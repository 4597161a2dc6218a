//! Response of each cluster to a total exchange: timed with all its ranks and with some of them, in
//! several sizes (thesis item 47).
//!
//! ```text
//!   members:   meet --> exchange --> meet --> exchange ...      the slowest time counts
//!   rank 0:    times, and the bound of a free network --> signature, or why there is none
//! ```

use crate::probe::messenger::Messenger;

/// Seconds of `count` exchanges as measured by this member: from the time at which all have entered
/// to its own end.
pub(super) fn times(
    messenger: &mut impl Messenger,
    members: &[usize],
    bytes: u64,
    times: usize,
) -> Vec<f64> {
    let one = |_| {
        meet(messenger, members);
        let began = messenger.seconds();
        messenger.exchange(members, bytes);
        messenger.seconds() - began
    };
    (0..times).map(one).collect()
}

/// Synchronizes: no member returns before all have entered. Dissemination, in the order of
/// `members`.
fn meet(messenger: &mut impl Messenger, members: &[usize]) {
    let rank = messenger.rank();
    let count = members.len();
    let place = members.iter().position(|&member| member == rank);
    let place = place.unwrap_or(0);
    let mut distance = 1;
    while distance < count {
        messenger.send(members[(place + distance) % count], 0);
        messenger.receive(members[(place + count - distance) % count], 0);
        distance *= 2;
    }
}
