//! Reading of all counts at a moment.

use std::collections::BTreeMap;

use treepie_base::Rank;
use treepie_profile::partial_profiles::{self, Encoder, MessageKind, Records, Sink};
use treepie_traffic::Traffic;
use treepie_traffic::times::{CallClass, CallTime};

use super::patience::{Patience, Unlimited};
use super::{cancelled, communicators, counters};

/// Counts until a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Messages by kind and partner.
    pub counted: BTreeMap<(MessageKind, Rank), Traffic>,
    /// Collectives.
    pub collectives: Records,
    /// Calls and the time in them, if it is measured.
    pub times: BTreeMap<CallClass, CallTime>,
}

impl Reading {
    pub fn is_empty(&self) -> bool {
        self.counted.is_empty() && self.collectives.is_empty()
    }

    /// Returns the counts after `earlier`.
    pub fn since(&self, earlier: &Reading) -> Reading {
        let less = |(key, traffic): (&(MessageKind, Rank), &Traffic)| {
            let before = earlier.counted.get(key).copied().unwrap_or_default();
            let traffic = Traffic {
                messages: traffic.messages.saturating_sub(before.messages),
                bytes: traffic.bytes.saturating_sub(before.bytes),
            };
            (!traffic.is_none()).then_some((*key, traffic))
        };
        Reading {
            counted: self.counted.iter().filter_map(less).collect(),
            collectives: self.collectives.since(&earlier.collectives),
            times: self
                .times
                .iter()
                .map(|(&class, time)| {
                    let before = earlier.times.get(&class).copied().unwrap_or_default();
                    (class, time.less(before))
                })
                .collect(),
        }
    }

    pub fn add(&mut self, other: Reading) {
        for (key, traffic) in other.counted {
            *self.counted.entry(key).or_default() += traffic;
        }
        for record in other.collectives.into_vec() {
            self.collectives.add(record);
        }
        for (class, time) in other.times {
            *self.times.entry(class).or_default() += time;
        }
    }
}

/// Writes the counts from the start until now.
pub fn encode_counts<S: Sink>(patience: impl Patience, encoder: &mut Encoder<'_, S>) {
    counters::read_all(|kind, partner, traffic| {
        encoder.counted(kind, Rank(partner as usize), traffic);
    });
    cancelled::each_taken_back(patience, |kind, partner, traffic| {
        encoder.taken_back(kind, Rank(partner as usize), traffic);
    });
    communicators::encode_collectives(patience, encoder);
    counters::read_times(|class, time| encoder.time(class, time));
}

/// Returns the counts from the start until now.
pub fn reading() -> Reading {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    encode_counts(Unlimited, &mut encoder);
    encoder.end();
    let partial = partial_profiles::decode_all(&bytes)
        .next()
        .flatten()
        .unwrap_or_default();
    Reading {
        counted: partial.counted,
        collectives: partial.collectives,
        times: partial.times,
    }
}
