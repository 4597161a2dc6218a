//! How each cluster responds to a total exchange: timed with all its ranks and with some of them,
//! in several sizes (thesis item 47).
//!
//! ```text
//!   members:   meet --> exchange --> meet --> exchange ...        each times its own, the slowest counts
//!   rank 0:    times, and the bound of a free network --> signature, or a line that says why not
//! ```

use crate::probe::messenger::Messenger;

/// The seconds of so many exchanges, as this member sees them: from when all have met to its own
/// end.
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

/// No member returns before all have come: dissemination, in the order of `members`.
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
