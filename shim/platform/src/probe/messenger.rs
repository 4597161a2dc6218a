//! Transport of a probe's messages, and its options.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::probe::trial::Trial;

/// Carries messages between the ranks of a job. Contents are only used by
/// [`send_data`](Messenger::send_data) and [`receive_data`](Messenger::receive_data).
pub trait Messenger {
    /// This process's rank.
    fn rank(&self) -> usize;
    /// Number of ranks.
    fn ranks(&self) -> usize;
    /// Seconds on this process's clock, from an arbitrary start.
    fn seconds(&mut self) -> f64;
    /// Does nothing for this number of seconds.
    fn pause(&mut self, seconds: f64);
    /// Sends `bytes` bytes and returns when the buffer is free again.
    fn send(&mut self, to: usize, bytes: u64);
    /// Receives `bytes` bytes.
    fn receive(&mut self, from: usize, bytes: u64);
    /// Sends `count` messages of `bytes` bytes, all started before the first wait.
    fn send_train(&mut self, to: usize, bytes: u64, count: usize);
    /// Receives `count` messages of `bytes` bytes, all posted together.
    fn receive_train(&mut self, from: usize, bytes: u64, count: usize);
    /// Sends `bytes` bytes to each of the other `members`, of which this process is one, and
    /// receives the same number from each, all started before the first wait.
    fn exchange(&mut self, members: &[usize], bytes: u64);
    /// Performs a trial with a partner, which calls this, too: returns the seconds of each
    /// repetition at the origin. Empty if this messenger only has messages.
    fn try_way(&mut self, partner: usize, is_origin: bool, trial: &Trial) -> Vec<f64> {
        let _ = (partner, is_origin, trial);
        Vec::new()
    }
    /// Releases the resources of trials with this partner, which calls this, too.
    fn end_trials(&mut self, partner: usize) {
        let _ = partner;
    }
    /// Sends bytes with contents.
    fn send_data(&mut self, to: usize, bytes: &[u8]);
    /// Waits for the data of [`send_data`](Messenger::send_data), yielding the processor meanwhile.
    fn receive_data(&mut self, from: usize) -> Vec<u8>;
}

/// The others of `members` in the order in which `rank` serves them in an exchange: those behind it
/// first, so that not all begin with the same one (optimised direct exchange, thesis item 44).
pub fn others_behind(members: &[usize], rank: usize) -> impl Iterator<Item = usize> {
    let place = members.iter().position(|&member| member == rank);
    let behind = place.map_or(0, |place| place + 1);
    let all = members[behind..].iter().chain(&members[..behind]);
    all.copied().filter(move |&member| member != rank)
}

/// Sends a value.
pub(super) fn send_value(messenger: &mut impl Messenger, to: usize, value: &impl Serialize) {
    messenger.send_data(to, &postcard::to_allocvec(value).unwrap_or_default());
}

/// Waits for a value; `None` if nothing arrived, or data that only another program could have sent.
pub(super) fn receive_value<T: DeserializeOwned>(
    messenger: &mut impl Messenger,
    from: usize,
) -> Option<T> {
    postcard::from_bytes(&messenger.receive_data(from)).ok()
}
