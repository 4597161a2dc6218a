//! Messages sent to and received from each partner, in the page of this rank.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use treepie_jobstate::pages::layout::{
    CHANNEL, CHANNELS, CHANNELS_AT, CHANNELS_HEAD, NUMBER_SHIFT, THREADS, UNKNOWN, area,
};
use treepie_jobstate::waits::Channel;

use super::words::PageWords;
use crate::counters::{self, ANY_SOURCE, MessageKind};

/// Returns the number of calls of all threads.
pub fn calls(words: PageWords) -> u64 {
    let call = |number| words.area(number)[area::CALL].load(Ordering::Acquire) >> NUMBER_SHIFT;
    (0..THREADS).map(call).sum()
}

/// Lock of the channels, which one thread at a time writes.
static WRITER: Mutex<()> = Mutex::new(());

/// Writes the messages sent to each partner, and received from it, until now, while this process
/// makes no call. A call is counted after it got its number: counts written during the last one may
/// lack it.
pub fn write_all_channels(words: PageWords) {
    write_channels(words, calls(words), Renewal::Always);
}

/// Handling of channels that have been written after the same number of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// They are written again.
    Always,
    /// They are not written again.
    AfterCalls,
}

/// Writes the messages sent to each partner, and received from it, until the number of calls was
/// `calls_before`.
pub fn write_channels(words: PageWords, calls_before: u64, renewal: Renewal) {
    let _alone = WRITER.lock();
    if words.get(CHANNELS_AT) == calls_before && renewal == Renewal::AfterCalls {
        return;
    }
    let mut channels: BTreeMap<u32, Channel> = BTreeMap::new();
    counters::read_all(|kind, partner, traffic| {
        if kind == MessageKind::PointToPoint {
            let channel = channels.entry(partner).or_default();
            channel.sent += traffic.messages;
            channel.sent_bytes += traffic.bytes;
        }
    });
    counters::read_posted(|partner, messages| {
        channels.entry(partner).or_default().posted += messages;
    });
    counters::read_received(|partner, traffic| {
        let channel = channels.entry(partner).or_default();
        channel.received += traffic.messages;
        channel.received_bytes += traffic.bytes;
    });
    let any = channels.remove(&ANY_SOURCE).map_or(0, |any| any.posted);
    let count = match channels.len() <= CHANNELS {
        true => channels.len() as u64,
        false => UNKNOWN,
    };
    words.set(CHANNELS_AT, UNKNOWN);
    words.set(CHANNELS_AT + 1, count);
    words.set(CHANNELS_AT + 2, any);
    for (place, (partner, channel)) in channels.into_iter().take(CHANNELS).enumerate() {
        let at = CHANNELS_AT + CHANNELS_HEAD + place * CHANNEL;
        words.set(at, partner.into());
        words.set(at + 1, channel.sent);
        words.set(at + 2, channel.posted);
        words.set(at + 3, channel.sent_bytes);
        words.set(at + 4, channel.received);
        words.set(at + 5, channel.received_bytes);
    }
    if calls(words) == calls_before {
        words.0[CHANNELS_AT].store(calls_before, Ordering::Release);
    }
}
