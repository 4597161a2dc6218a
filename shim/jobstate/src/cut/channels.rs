//! Messages that were sent and not received, by the counts of both sides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::waits::{Channel, RankState};
use treepie_base::Rank;

/// Messages from one rank to another that it has not received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flight {
    /// Rank of the sender.
    pub from: Rank,
    /// Rank of the receiver.
    pub to: Rank,
    /// Number of messages.
    pub messages: u64,
    /// Their total bytes.
    pub bytes: u64,
}

/// Counts of all ranks.
pub(super) struct Counts<'a>(BTreeMap<Rank, &'a RankState>);

impl<'a> Counts<'a> {
    /// Collects the counts; `None` if those of a rank are unknown at the moment.
    pub fn new(ranks: &'a [RankState]) -> Option<Counts<'a>> {
        let known = |rank: &'a RankState| rank.channels.is_some().then_some((rank.rank, rank));
        ranks.iter().map(known).collect::<Option<_>>().map(Counts)
    }

    fn channel(&self, of: Rank, with: Rank) -> Channel {
        let rank = self.0.get(&of).and_then(|rank| rank.channels.as_ref());
        let channel = rank.and_then(|channels| channels.with.get(&with));
        channel.copied().unwrap_or_default()
    }

    /// Returns the number of messages that were sent and not received: negative during a send whose
    /// message has been received.
    pub fn left(&self, from: Rank, to: Rank) -> i64 {
        let (sent, received) = (self.channel(from, to).sent, self.channel(to, from).received);
        (sent as i64).saturating_sub(received as i64)
    }

    /// Returns the number of messages to a rank, from all ranks, that it has not received.
    pub(crate) fn left_in_all(&self, to: Rank) -> i64 {
        let from = self.0.keys().map(|&from| self.left(from, to).max(0));
        from.sum()
    }

    /// True if all messages of all ranks have been received.
    pub(crate) fn are_equal(&self) -> bool {
        let pairs = |(&one, rank): (&Rank, &&RankState)| -> bool {
            let partners = rank
                .channels
                .iter()
                .flat_map(|channels| channels.with.keys());
            let mut partners = partners.copied();
            partners.all(|other| self.left(one, other) == 0 && self.left(other, one) == 0)
        };
        self.0.iter().all(pairs)
    }

    fn flight(&self, from: Rank, to: Rank) -> Option<Flight> {
        let messages = u64::try_from(self.left(from, to))
            .ok()
            .filter(|&left| left > 0)?;
        let (sent, received) = (self.channel(from, to), self.channel(to, from));
        let bytes = sent.sent_bytes.saturating_sub(received.received_bytes);
        Some(Flight {
            from,
            to,
            messages,
            bytes,
        })
    }
}

/// Returns the messages that were sent and not received; `None` if the counts of a rank are unknown
/// at the moment.
pub fn in_flight(ranks: &[RankState]) -> Option<Vec<Flight>> {
    let counts = Counts::new(ranks)?;
    let mut flights = Vec::new();
    for rank in ranks {
        let partners = rank
            .channels
            .iter()
            .flat_map(|channels| channels.with.keys());
        flights.extend(partners.filter_map(|&to| counts.flight(rank.rank, to)));
    }
    Some(flights)
}
