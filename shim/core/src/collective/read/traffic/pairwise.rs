//! Every rank to every other, directly.

use crate::collective::read::traffic::messages::Messages;

/// One message for each ordered pair, of `bytes(from, to)` bytes.
pub(super) fn exchange(messages: &mut Messages, bytes: impl Fn(usize, usize) -> u64) {
    let size = messages.size();
    for from in 0..size {
        for to in 0..size {
            messages.send(from, to, bytes(from, to));
        }
    }
}
