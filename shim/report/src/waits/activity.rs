//! Activity of a rank, and its partners.

use treepie_base::Rank;
use treepie_jobstate::waits::{
    Activity, Collective, Envelope, Key, Life, Members, Motion, ObservedRank, Operation, Partner,
    Thread, Until,
};

use super::words::ranks;
use crate::units;
use crate::waits::hang::Hang;
use crate::words::pluralize;

/// Maximum number of members that are named one by one.
const MOST_NAMED: usize = 1024;

impl Hang {
    /// Describes the activity of a rank for which others wait.
    pub(super) fn what_does(&self, rank: Rank) -> String {
        let Some(seen) = self.job.ranks.get(&rank) else {
            return format!("rank {rank} (of which there is no page)");
        };
        let threads: Vec<String> = self.describe(seen);
        format!("rank {rank} ({})", threads.join("; "))
    }

    /// Describes the activities of the threads of a rank, each like `waits in MPI_Recv ...`.
    pub(super) fn describe(&self, seen: &ObservedRank) -> Vec<String> {
        if !seen.lives() {
            let last = seen.state.threads.first().map(|thread| &thread.procedure);
            let last = last.filter(|name| !name.is_empty());
            let state = match seen.state.life {
                Life::Stopped => "stopped",
                _ => "gone",
            };
            return vec![last.map_or(state.to_owned(), |name| format!("{state}, in {name}"))];
        }
        if seen.state.threads.is_empty() {
            return vec!["no call yet".to_owned()];
        }
        let threads = seen.threads();
        threads
            .map(|(thread, motion)| self.thread(seen, thread, motion))
            .collect()
    }

    fn thread(&self, seen: &ObservedRank, thread: &Thread, motion: Motion) -> String {
        let time = match thread.since {
            0 => String::new(),
            since => {
                let seconds = self.now.saturating_sub(since) as f64 / 1e9;
                format!(", {}", units::span(seconds.round()))
            }
        };
        let name = &thread.procedure;
        if motion == Motion::Moves {
            return "making calls".to_owned();
        }
        if !thread.inside && motion != Motion::Polls {
            let what = match seen.state.life {
                Life::ReadsInput => "waiting for standard input (read on descriptor 0)",
                Life::Sleeps => "sleeping",
                _ => "computing",
            };
            let last = if name.is_empty() {
                String::new()
            } else {
                format!(" since {name}")
            };
            return format!("{what} outside MPI{last}{time}");
        }
        let does = match motion {
            Motion::Polls => "polling with",
            _ => "in",
        };
        let what = self.activity(&thread.activity);
        format!("{does} {name}{what}{time}")
    }

    fn activity(&self, activity: &Activity) -> String {
        match activity {
            Activity::Outside | Activity::InCall => String::new(),
            Activity::Finalizes => String::new(),
            Activity::Waits {
                operations, until, ..
            } => {
                let parts: Vec<String> = operations.iter().map(|one| self.operation(one)).collect();
                let joined = match until {
                    Until::All => parts.join(" and "),
                    Until::Any => parts.join(" or "),
                };
                match parts.len() {
                    0 => String::new(),
                    1..=4 => format!(" {joined}"),
                    more => format!(" {} and {} more", parts[..3].join(", "), more - 3),
                }
            }
        }
    }

    pub(super) fn operation(&self, operation: &Operation) -> String {
        match operation {
            Operation::Receive(receive) => format!("from {}", self.envelope(receive)),
            Operation::Send(sent) => {
                let elements = match sent.elements {
                    0 => String::new(),
                    elements => format!("{} ", pluralize(elements as usize, "element")),
                };
                format!("{elements}to {}", self.envelope(sent))
            }
            Operation::Collective(call) => self.collective(call),
            Operation::Unknown => "a request that is not known".to_owned(),
        }
    }

    fn envelope(&self, envelope: &Envelope) -> String {
        let partner = match envelope.partner {
            Partner::Rank(rank) => format!("rank {rank}"),
            Partner::Any => "any rank".to_owned(),
            Partner::Nobody => "nobody".to_owned(),
            Partner::Unknown => "a rank that is not known".to_owned(),
        };
        let tag = match envelope.tag {
            Some(tag) => format!("tag {tag}"),
            None => "any tag".to_owned(),
        };
        let name = envelope
            .communicator
            .map(|key| format!(", {}", self.name(key)));
        format!("{partner} ({tag}{})", name.unwrap_or_default())
    }

    fn collective(&self, call: &Collective) -> String {
        let root = call
            .root
            .map_or(String::new(), |root| format!(", root {root}"));
        let on = match call.communicator {
            Some(key) => self.name(key),
            None => "a communicator that is not known".to_owned(),
        };
        format!("on {on} (collective {}{root})", call.number + 1)
    }

    /// Name of a communicator.
    pub(super) fn name(&self, key: Key) -> String {
        if key == self.world {
            return "MPI_COMM_WORLD".to_owned();
        }
        let mut ranks_that_know = self.job.ranks.values();
        let known = ranks_that_know.find_map(|seen| seen.state.communicators.get(&key));
        match known.and_then(|known| known.members.as_ref()) {
            Some(members) if members.len() == self.job.size => {
                "a communicator of all ranks".to_owned()
            }
            Some(Members::Row {
                first,
                stride: 1,
                size: size @ 3..,
            }) => format!(
                "the communicator of ranks {first}-{}",
                first.saturating_add(size - 1)
            ),
            Some(members) if members.len() > MOST_NAMED => {
                format!("a communicator of {} ranks", members.len())
            }
            Some(members) => {
                let members: Vec<Rank> = members.iter().collect();
                format!("the communicator of {}", ranks(&members))
            }
            None => "a communicator".to_owned(),
        }
    }
}
