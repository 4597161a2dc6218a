//! Messages that were sent and not received: by the counts of both sides, and by the last sends,
//! which have communicators and tags.

use serde::Serialize;

use super::job::Job;
use super::state::{Activity, Channel, Envelope, Operation, Partner, RankState};
use treepie_base::Rank;

/// Answer to a question, as far as pages allow one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    Unknown,
}

/// Messages from one rank to another that were not received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreceived {
    /// Rank of the sender.
    pub from: Rank,
    /// Rank of the receiver.
    pub to: Rank,
    /// Maximum number of messages: receives from any source may have taken some.
    pub messages: u64,
    /// Last ones of them that are remembered, the latest last.
    pub last: Vec<Envelope>,
}

impl Job {
    fn rank(&self, rank: Rank) -> Option<&RankState> {
        self.ranks.get(&rank).map(|seen| &seen.state)
    }

    /// Returns the messages from one rank to another in calls that have returned, and the receives
    /// posted for them.
    fn channel(&self, from: Rank, to: Rank) -> Option<Channel> {
        let sent = self.rank(from)?.channels.as_ref()?.with.get(&to);
        let posted = self.rank(to)?.channels.as_ref()?.with.get(&from);
        Some(Channel {
            sent: sent.map_or(0, |channel| channel.sent),
            posted: posted.map_or(0, |channel| channel.posted),
            ..Channel::default()
        })
    }

    /// Returns the number of messages to a rank from all others for which no receive of any kind
    /// was posted; `None` if some rank's counts are unknown.
    fn unreceived_in_all(&self, to: Rank) -> Option<u64> {
        let mut sent: u64 = 0;
        for rank in (0..self.size).map(Rank) {
            let channels = self.rank(rank)?.channels.as_ref()?;
            let channel = channels.with.get(&to);
            sent = sent.saturating_add(channel.map_or(0, |channel| channel.sent));
        }
        let own = self.rank(to)?.channels.as_ref()?;
        let posted = own.with.values().map(|channel| channel.posted);
        let posted = posted.fold(own.posted_any, u64::saturating_add);
        Some(sent.saturating_sub(posted))
    }

    /// Returns the maximum number of messages from one rank to another for which no receive was
    /// posted.
    fn unreceived(&self, from: Rank, to: Rank) -> Option<u64> {
        let channel = self.channel(from, to)?;
        let by_name = channel.sent.saturating_sub(channel.posted);
        let takes_any = self.rank(to)?.channels.as_ref()?.posted_any > 0;
        let most = match takes_any {
            true => self.unreceived_in_all(to).unwrap_or(u64::MAX),
            false => u64::MAX,
        };
        Some(by_name.min(most))
    }

    /// Returns the last sends from one rank to another, the latest last.
    fn last_sends(&self, from: Rank, to: Rank) -> Vec<&Envelope> {
        let threads = self.rank(from).map(|rank| &rank.threads[..]);
        let sends = threads
            .unwrap_or_default()
            .iter()
            .flat_map(|thread| &thread.last_sends);
        sends
            .filter(|sent| sent.partner == Partner::Rank(to))
            .collect()
    }

    /// Tests if a message from this rank that matches the receive has been sent, so that the
    /// receive will end.
    pub(super) fn is_on_the_way(&self, from: Rank, to: Rank, receive: &Envelope) -> Answer {
        if self.sends_now(from, to, receive) {
            return Answer::Yes;
        }
        let Some(left) = self.unreceived(from, to) else {
            return Answer::Unknown;
        };
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let sends = self.last_sends(from, to);
        let taken = left.min(sends.len());
        let fits = |sent: &&&Envelope| receive.takes(sent);
        match sends[sends.len() - taken..].iter().find(fits) {
            Some(_) => Answer::Yes,
            None if taken < left => Answer::Unknown,
            None => Answer::No,
        }
    }

    /// Tests if an active receive cannot have completed: fewer messages were sent than receives
    /// were posted, or none with its communicator and tag.
    pub(super) fn lacks_a_message(&self, from: Rank, to: Rank, receive: &Envelope) -> Answer {
        if self.sends_now(from, to, receive) {
            return Answer::No;
        }
        let Some(channel) = self.channel(from, to) else {
            return Answer::Unknown;
        };
        let takes_any = self.rank(to).and_then(|rank| rank.channels.as_ref());
        if channel.sent < channel.posted && takes_any.is_some_and(|own| own.posted_any == 0) {
            return Answer::Yes;
        }
        let sends = self.last_sends(from, to);
        let are_all = sends.len() as u64 == channel.sent;
        match sends.iter().any(|sent| receive.takes(sent)) {
            false if are_all => Answer::Yes,
            false => Answer::Unknown,
            true => Answer::No,
        }
    }

    /// True if a thread of this rank is in a send that matches the receive: then that one is in
    /// progress.
    pub(super) fn sends_now(&self, from: Rank, to: Rank, receive: &Envelope) -> bool {
        self.operations(from).any(|operation| match operation {
            Operation::Send(sent) => sent.partner == Partner::Rank(to) && receive.takes(sent),
            _ => false,
        })
    }

    /// True if a thread of this rank is in a receive that matches the message.
    pub(super) fn receives_now(&self, to: Rank, from: Rank, sent: &Envelope) -> bool {
        self.operations(to).any(|operation| match operation {
            Operation::Receive(receive) => {
                let named = receive.partner == Partner::Rank(from);
                (named || receive.partner == Partner::Any) && receive.takes(sent)
            }
            _ => false,
        })
    }

    /// True if at least as many receives were posted for this rank's messages as it sent.
    pub(super) fn all_are_received(&self, from: Rank, to: Rank) -> bool {
        self.unreceived(from, to) == Some(0)
    }

    /// Returns the operations that the threads of a rank wait for.
    fn operations(&self, rank: Rank) -> impl Iterator<Item = &Operation> {
        let threads = self.rank(rank).map(|rank| &rank.threads[..]);
        let threads = threads.unwrap_or_default().iter();
        threads.flat_map(|thread| match &thread.activity {
            Activity::Waits { operations, .. } => &operations[..],
            _ => &[],
        })
    }

    /// Returns all messages that were sent and not received, as far as counts are known.
    pub(super) fn all_unreceived(&self) -> Vec<Unreceived> {
        let mut found = Vec::new();
        for (&from, seen) in &self.ranks {
            let Some(channels) = &seen.state.channels else {
                continue;
            };
            for &to in channels.with.keys() {
                let messages = self.unreceived(from, to).unwrap_or(0);
                if messages == 0 {
                    continue;
                }
                let sends = self.last_sends(from, to);
                let left = usize::try_from(messages).unwrap_or(usize::MAX);
                let last = &sends[sends.len() - left.min(sends.len())..];
                found.push(Unreceived {
                    from,
                    to,
                    messages,
                    last: last.iter().map(|&sent| sent.clone()).collect(),
                });
            }
        }
        found
    }
}
