//! Text of the answer: causes, the cycle, and groups of ranks that do the same.

use std::collections::BTreeMap;
use std::fmt::Write;

use treepie_base::Rank;
use treepie_jobstate::waits::{
    Activity, Job, Key, Mismatch, Operation, Partner, Side, Unreceived, Verdict, VerdictKind,
    communicator_key, verdict,
};

use crate::waits::words::{is, ranks, verb};
use crate::words::pluralize;

/// Maximum number of lines with groups of ranks in the same state.
const MOST_GROUPS: usize = 24;

/// The answer on a job.
pub struct Hang {
    /// State of its ranks.
    pub(crate) job: Job,
    /// Verdict.
    pub verdict: Verdict,
    pub(crate) world: Key,
    /// Nanoseconds since 1970 at the last observation, or the last sign of life.
    pub(crate) now: u64,
}

impl Hang {
    /// Creates the answer on this job.
    pub fn new(job: Job) -> Self {
        let ticks = job.ranks.values().map(|seen| seen.state.tick);
        Hang {
            verdict: verdict(&job),
            world: communicator_key(&(0..job.size as u32).collect::<Vec<_>>(), 1),
            now: ticks.max().unwrap_or(0),
            job,
        }
    }

    /// Formats the whole answer.
    pub fn text(&self) -> String {
        let mut text = self.headline() + "\n";
        let unknown = &self.verdict.unknown;
        if !unknown.is_empty() {
            let _ = writeln!(
                text,
                "No page of {}: they have ended, or are on hosts that this one does not see \
                 (--hosts).",
                ranks(unknown)
            );
        }
        if self.verdict.kind != VerdictKind::Moves {
            for cause in self.causes() {
                let _ = writeln!(text, "  {cause}");
            }
            if self.verdict.cycle.len() > 1 {
                let mut way = self.verdict.cycle.clone();
                way.push(way[0]);
                let way: Vec<String> = way.iter().map(Rank::to_string).collect();
                let _ = writeln!(text, "  cycle: {}", way.join(" -> "));
            }
        }
        self.write_groups(&mut text);
        text
    }

    /// Causes of the hang, as far as visible.
    fn causes(&self) -> Vec<String> {
        let mismatches = self
            .verdict
            .mismatches
            .iter()
            .map(|found| self.mismatch(found));
        let unreceived = self
            .verdict
            .unreceived
            .iter()
            .map(|found| self.unreceived(found));
        let incomplete = self.incomplete().into_iter();
        mismatches
            .chain(unreceived)
            .chain(incomplete)
            .take(MOST_GROUPS)
            .collect()
    }

    /// Requests that ranks in `MPI_Finalize` never completed, by kind.
    fn incomplete(&self) -> Vec<String> {
        let mut groups: BTreeMap<String, Vec<Rank>> = BTreeMap::new();
        for (&rank, seen) in &self.job.ranks {
            for one in &seen.state.incomplete {
                let operation = self.operation(&one.operation);
                let members = groups.entry(format!("{} {operation}", one.procedure));
                let members = members.or_default();
                if members.last() != Some(&rank) {
                    members.push(rank);
                }
            }
        }
        let line = |(what, members): (String, Vec<Rank>)| {
            format!(
                "started and never completed: {what}, by {}",
                ranks(&members)
            )
        };
        groups.into_iter().map(line).collect()
    }

    fn mismatch(&self, mismatch: &Mismatch) -> String {
        let mut text = format!(
            "collective {} on {}: ",
            mismatch.number + 1,
            self.name(mismatch.communicator)
        );
        let side = |side: &Side| {
            let root = side.call.root;
            let root = root.map_or(String::new(), |root| format!(" with root {root}"));
            let who = if side.passed {
                verb(&side.ranks, "was", "were")
            } else {
                is(&side.ranks)
            };
            format!("{who} in {}{root}", side.call.operation)
        };
        let sides: Vec<String> = mismatch.sides.iter().map(side).collect();
        text += &sides.join(", ");
        if !mismatch.missing.is_empty() {
            text += &format!(
                "; {} not come there",
                verb(&mismatch.missing, "has", "have")
            );
        }
        text
    }

    fn unreceived(&self, found: &Unreceived) -> String {
        let messages = pluralize(found.messages as usize, "message");
        let mut tags: Vec<String> = found
            .last
            .iter()
            .filter_map(|sent| sent.tag)
            .map(|tag| tag.to_string())
            .collect();
        tags.dedup();
        let tags = match tags.len() {
            0 => String::new(),
            1 => format!(" (tag {})", tags[0]),
            _ => format!(" (tags {})", tags.join(", ")),
        };
        let (from, to) = (found.from, found.to);
        let wanted = self
            .wanted(from, to)
            .map(|tag| format!("; rank {to} waits for tag {tag}"));
        let wanted = wanted.unwrap_or_default();
        format!("sent and not received: {messages} from rank {from} to rank {to}{tags}{wanted}")
    }

    /// The tag of the message from a rank that another waits for.
    fn wanted(&self, from: Rank, to: Rank) -> Option<i32> {
        let threads = self.job.ranks.get(&to)?.state.threads.iter();
        let mut operations = threads.flat_map(|thread| match &thread.activity {
            Activity::Waits { operations, .. } if thread.inside => &operations[..],
            _ => &[],
        });
        operations.find_map(|operation| match operation {
            Operation::Receive(wanted) if wanted.partner == Partner::Rank(from) => wanted.tag,
            _ => None,
        })
    }

    /// Writes ranks in the same state in one line each.
    fn write_groups(&self, text: &mut String) {
        let mut groups: BTreeMap<String, Vec<Rank>> = BTreeMap::new();
        for (&rank, seen) in &self.job.ranks {
            groups
                .entry(self.describe(seen).join("; "))
                .or_default()
                .push(rank);
        }
        let mut groups: Vec<(String, Vec<Rank>)> = groups.into_iter().collect();
        groups.sort_by_key(|(_, ranks)| ranks[0]);
        let more = groups.len().saturating_sub(MOST_GROUPS);
        for (what, members) in groups.into_iter().take(MOST_GROUPS) {
            let _ = writeln!(text, "  {}: {what}", ranks(&members));
        }
        if more > 0 {
            let _ = writeln!(
                text,
                "  and {} more (--json has all)",
                pluralize(more, "group")
            );
        }
    }
}
