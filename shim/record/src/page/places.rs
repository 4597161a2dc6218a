//! Communicators in the page: the name of each, its members, and its number of collectives.
//!
//! All members derive the same name of a communicator without messages: from its members in their
//! order, and its index among those with these members. Its creation is collective over its
//! members, so that all count alike.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_jobstate::pages::layout::{
    COMMUNICATORS, MEMBERS, MEMBERS_AT, UNKNOWN, communicator, header, pack,
};
use treepie_jobstate::waits::communicator_key;
use treepie_mpi::{Comm, Handle};

use super::words::{self, PageWords};

/// Communicator's entry in the page.
#[derive(Clone, Copy)]
pub struct CommunicatorEntry(&'static [AtomicU64; communicator::LENGTH]);

/// State that all threads share.
#[derive(Default)]
struct Made {
    /// Number of communicators so far, by the key of their members.
    alike: HashMap<u64, u64>,
    /// Number of member words in use.
    members: usize,
}

static MADE: Lazy<Mutex<Made>> = Lazy::new(Mutex::default);

impl CommunicatorEntry {
    /// Returns an entry for a communicator of these world ranks, in which `rank` is this process;
    /// `None` without a page, or if no entry is free.
    pub fn claim(comm: Comm, partners: &[u32], inter: bool) -> Option<CommunicatorEntry> {
        let words = words::of_process()?;
        let mut made = MADE.lock();
        let which = made.alike.entry(communicator_key(partners, 0)).or_default();
        *which += 1;
        let key = communicator_key(partners, *which);
        let free = (0..COMMUNICATORS)
            .map(|number| words.communicator(number))
            .find(|place| place[communicator::HANDLE].load(Ordering::Relaxed) == 0);
        let Some(place) = free else {
            words.0[header::MORE_COMMUNICATORS].fetch_add(1, Ordering::Relaxed);
            return None;
        };
        let set = |at: usize, value: u64| place[at].store(value, Ordering::Relaxed);
        set(communicator::KEY, key);
        set(communicator::SIZE, partners.len() as u64);
        set(communicator::DONE, 0);
        set(communicator::INTER, u64::from(inter));
        match row(partners) {
            Some((first, stride)) => {
                set(communicator::MEMBERS, 0);
                set(communicator::FIRST, first);
                set(communicator::STRIDE, stride);
            }
            None => set(communicator::MEMBERS, made.write_members(words, partners)),
        }
        place[communicator::HANDLE].store(comm.word() as u64, Ordering::Release);
        Some(CommunicatorEntry(place))
    }

    /// Releases the entry of a freed communicator.
    pub fn release(self) {
        self.0[communicator::HANDLE].store(0, Ordering::Release);
    }

    /// Counts one more collective that has returned, or started, with this word of the page
    /// (`Note::as_done`).
    #[inline(always)]
    pub fn count_done(self, call: u64) {
        let done = self.done();
        let last = communicator::LAST + done as usize % communicator::MOST_LAST;
        self.0[last].store(call, Ordering::Relaxed);
        self.0[communicator::DONE].store(done + 1, Ordering::Relaxed);
    }

    /// Returns the number of collectives that have returned.
    pub fn done(self) -> u64 {
        self.0[communicator::DONE].load(Ordering::Relaxed)
    }
}

impl Made {
    /// Writes members that do not form an arithmetic sequence; returns their position, and 1.
    fn write_members(&mut self, words: PageWords, partners: &[u32]) -> u64 {
        let needed = partners.len().div_ceil(2);
        if self.members + needed > MEMBERS {
            return UNKNOWN;
        }
        let start = self.members;
        for (place, two) in partners.chunks(2).enumerate() {
            let second = two.get(1).copied().unwrap_or(0);
            let word = pack(two[0] as i32, second as i32);
            words.set(MEMBERS_AT + start + place, word);
        }
        self.members += needed;
        start as u64 + 1
    }
}

/// Returns the first rank and the stride of ranks that form an arithmetic sequence.
fn row(partners: &[u32]) -> Option<(u64, u64)> {
    let first = *partners.first()?;
    let stride = partners
        .get(1)
        .map_or(1, |&second| second.wrapping_sub(first));
    let in_row = |(place, &rank): (usize, &u32)| {
        u64::from(rank) == u64::from(first) + place as u64 * u64::from(stride)
    };
    let is_row = partners.iter().enumerate().all(in_row);
    is_row.then_some((first.into(), stride.into()))
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn rows_and_columns_are_rows_and_what_has_a_stranger_is_none() {
        assert_eq!(row(&[0, 1, 2]), Some((0, 1)));
        assert_eq!(row(&[3, 7, 11]), Some((3, 4)));
        assert_eq!(row(&[5]), Some((5, 1)));
        assert_eq!(row(&[2, 1, 0]), None);
        assert_eq!(row(&[1, u32::MAX]), Some((1, u32::MAX as u64 - 1)));
        assert_eq!(row(&[0, 1, u32::MAX]), None);
    }
}
