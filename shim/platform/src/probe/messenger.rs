//! Transport of a probe's messages, and its options.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::probe::trial::Trial;

/// Carries messages between the ranks of a job. Contents matter only to
/// [`send_data`](Messenger::send_data) and [`receive_data`](Messenger::receive_data).
pub trait Messenger {
    /// This process's rank.
    fn rank(&self) -> usize;
    /// Number of ranks.
    fn ranks(&self) -> usize;
    /// Seconds on this process's clock, from any start.
    fn seconds(&mut self) -> f64;
    /// Does nothing for so many seconds.
    fn pause(&mut self, seconds: f64);
    /// Sends `bytes` bytes and returns when the buffer is free again.
    fn send(&mut self, to: usize, bytes: u64);
    /// Receives `bytes` bytes.
    fn receive(&mut self, from: usize, bytes: u64);
    /// Sends `count` messages of `bytes` bytes, all started before one is
    /// waited for.
    fn send_train(&mut self, to: usize, bytes: u64, count: usize);
    /// Receives `count` messages of `bytes` bytes, all expected at once.
    fn receive_train(&mut self, from: usize, bytes: u64, count: usize);
    /// Sends `bytes` bytes to each of the others of `members`, of which this process is one, and
    /// receives as much from each, all started before one is waited for.
    fn exchange(&mut self, members: &[usize], bytes: u64);
    /// Does a trial with a partner, which does it too: the seconds of each time, at the origin.
    /// Nothing where this messenger has no ways but its messages.
    fn try_way(&mut self, partner: usize, is_origin: bool, trial: &Trial) -> Vec<f64> {
        let _ = (partner, is_origin, trial);
        Vec::new()
    }
    /// Gives back what trials with this partner needed, which does so too.
    fn end_trials(&mut self, partner: usize) {
        let _ = partner;
    }
    /// Sends bytes that mean something.
    fn send_data(&mut self, to: usize, bytes: &[u8]);
    /// Waits for what [`send_data`](Messenger::send_data) sends, leaving the processor to others
    /// meanwhile.
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

/// Waits for a value; `None` where nothing came, or something else, which only another program
/// could have sent.
pub(super) fn receive_value<T: DeserializeOwned>(
    messenger: &mut impl Messenger,
    from: usize,
) -> Option<T> {
    postcard::from_bytes(&messenger.receive_data(from)).ok()
}
