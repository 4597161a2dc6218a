//! Why a job hangs, in words: what is the matter in the first line, then what each rank does, the
//! cycle, collectives that ranks do not agree on, and messages that nobody received.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};
use treepie_core::waits::{
    Activity, Collective, End, Envelope, Job, Key, Kind, Life, Mismatch, Motion, Operation,
    Partner, Seen, Side, Thread, Unreceived, Until, Verdict, communicator_key, verdict,
};

use super::units;
use super::words::pluralize;
use crate::picture::{Arrow, Graph, Node};

/// More lines than this of ranks that do the same help nobody.
const MOST_GROUPS: usize = 24;

/// The answer about a job.
pub struct Hang {
    /// What is known of its ranks.
    job: Job,
    /// What is the matter.
    pub verdict: Verdict,
    world: Key,
    /// Nanoseconds since 1970 when it was looked at last, or gave the last sign of life.
    now: u64,
}

impl Hang {
    /// The answer about this job.
    pub fn new(job: Job) -> Self {
        let everybody: Vec<u32> = (0..job.size as u32).collect();
        let ticks = job.ranks.values().map(|seen| seen.rank.tick);
        Hang {
            verdict: verdict(&job),
            world: communicator_key(&everybody, 1),
            now: ticks.max().unwrap_or(0),
            job,
        }
    }

    /// The first line: what is the matter.
    pub fn headline(&self) -> String {
        let verdict = &self.verdict;
        let stuck = ranks(&verdict.stuck);
        match verdict.kind {
            Kind::Deadlock => self.deadlock(),
            Kind::Gone => {
                let others: Vec<usize> = self.without(&verdict.roots);
                let waits = match others.is_empty() {
                    true => String::new(),
                    false => format!(" {} can't go on without it.", capital(&ranks(&others))),
                };
                format!("{}{waits}", self.gone())
            }
            Kind::Stopped => format!(
                "{} stopped (SIGSTOP or a debugger). Stuck with it: {stuck}.",
                capital(&is(&verdict.roots))
            ),
            Kind::Waits => self.waiting(),
            Kind::Moves => {
                let moves = |seen: &&Seen| seen.motions.contains(&Motion::Moves);
                let moving = self.job.ranks.values().filter(moves).count();
                let known = self.job.ranks.len();
                format!("No hang: {moving} of {known} ranks made calls between two looks.")
            }
        }
    }

    /// Stuck ranks but for these.
    fn without(&self, roots: &[usize]) -> Vec<usize> {
        let stuck = self.verdict.stuck.iter().copied();
        stuck.filter(|rank| !roots.contains(rank)).collect()
    }

    fn gone(&self) -> String {
        let mut text = String::new();
        for rank in &self.verdict.roots {
            let Some(seen) = self.job.ranks.get(rank) else {
                continue;
            };
            let (process, host) = (seen.rank.process, &seen.rank.host);
            let how = match seen.rank.end {
                Some(End::Aborts) => "called MPI_Abort",
                Some(End::Exits) => "exited without MPI_Finalize",
                _ => "was killed or crashed",
            };
            let _ = write!(
                text,
                "Rank {rank} is gone: process {process} on {host} {how}. "
            );
        }
        text.trim_end().to_owned()
    }

    fn deadlock(&self) -> String {
        let verdict = &self.verdict;
        let what = match verdict.certain {
            true => "Deadlock",
            false => "Probably a deadlock (who polls may still do something else)",
        };
        let differ = verdict
            .mismatches
            .iter()
            .find(|mismatch| mismatch.sides.len() > 1);
        if let Some(mismatch) = differ {
            let sides = mismatch.sides.iter().flat_map(|side| &side.ranks);
            let mut members: Vec<usize> = sides.copied().collect();
            members.sort_unstable();
            let (who, name) = (ranks(&members), self.name(mismatch.communicator));
            return format!(
                "{what}: {who} do not agree on collective {} on {name}.",
                mismatch.number + 1
            );
        }
        let finalizes = |rank: &&usize| self.job.ranks.get(rank).is_some_and(Seen::finalizes);
        let left: Vec<usize> = verdict.knot.iter().filter(finalizes).copied().collect();
        if !left.is_empty() {
            let others = verb(&self.without(&left), "waits", "wait");
            let them = if left.len() == 1 { "it" } else { "them" };
            let who = is(&left);
            return format!("{what}: {who} in MPI_Finalize, and {others} for {them}.");
        }
        let behind = self.without(&verdict.knot);
        let behind = match behind.is_empty() {
            true => String::new(),
            false => format!("; {} for them", verb(&behind, "waits", "wait")),
        };
        if let [one] = verdict.knot[..] {
            return format!("{what}: rank {one} waits for itself{behind}.");
        }
        let any = verdict
            .waits
            .iter()
            .all(|wait| wait.clauses.iter().all(|any| any.len() > 1));
        let how = if any {
            ", each for any of the others"
        } else {
            ""
        };
        format!(
            "{what}: {} wait for each other{how}{behind}.",
            ranks(&verdict.knot)
        )
    }

    fn waiting(&self) -> String {
        let waiting: Vec<usize> = self.waiting_ranks();
        if waiting.is_empty() {
            return "No deadlock: no rank waits for another; all compute or are in calls of which \
                    nothing is known."
                .to_owned();
        }
        let roots = &self.verdict.roots;
        let does: Vec<String> = roots.iter().map(|&rank| self.what_does(rank)).collect();
        match roots.is_empty() {
            true => format!("No deadlock is proven: {} waiting.", is(&waiting)),
            false => format!(
                "No deadlock: {} for {}.",
                verb(&waiting, "waits", "wait"),
                does.join("; and for ")
            ),
        }
    }

    fn waiting_ranks(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> = self.verdict.waits.iter().map(|wait| wait.rank).collect();
        waiting.dedup();
        waiting
    }

    /// A rank that others wait for, and what it does.
    fn what_does(&self, rank: usize) -> String {
        let Some(seen) = self.job.ranks.get(&rank) else {
            return format!("rank {rank} (of which there is no page)");
        };
        let threads: Vec<String> = self.describe(seen);
        format!("rank {rank} ({})", threads.join("; "))
    }

    /// What the threads of a rank do, each as `waits in MPI_Recv ...`.
    fn describe(&self, seen: &Seen) -> Vec<String> {
        if !matches!(seen.rank.life, Life::Runs | Life::Sleeps) {
            let last = seen.rank.threads.first().map(|thread| &thread.procedure);
            let last = last.filter(|name| !name.is_empty());
            let state = match seen.rank.life {
                Life::Stopped => "stopped",
                _ => "gone",
            };
            return vec![last.map_or(state.to_owned(), |name| format!("{state}, in {name}"))];
        }
        if seen.rank.threads.is_empty() {
            return vec!["no call yet".to_owned()];
        }
        let threads = seen.threads();
        threads
            .map(|(thread, motion)| self.thread(seen, thread, motion))
            .collect()
    }

    fn thread(&self, seen: &Seen, thread: &Thread, motion: Motion) -> String {
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
            let what = match seen.rank.life {
                Life::Sleeps => "sleeping",
                _ => "computing",
            };
            let last = match name.is_empty() {
                true => String::new(),
                false => format!(" since {name}"),
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

    fn operation(&self, operation: &Operation) -> String {
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

    /// What a communicator is called.
    fn name(&self, key: Key) -> String {
        if key == self.world {
            return "MPI_COMM_WORLD".to_owned();
        }
        let mut ranks_that_know = self.job.ranks.values();
        let known = ranks_that_know.find_map(|seen| seen.rank.communicators.get(&key));
        match known.and_then(|known| known.members.as_ref()) {
            Some(members) if members.len() == self.job.size => {
                "a communicator of all ranks".to_owned()
            }
            Some(members) => format!("the communicator of {}", ranks(members)),
            None => "a communicator".to_owned(),
        }
    }

    /// The whole answer.
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
        if self.verdict.kind != Kind::Moves {
            for cause in self.causes() {
                let _ = writeln!(text, "  {cause}");
            }
            if self.verdict.cycle.len() > 1 {
                let mut way = self.verdict.cycle.clone();
                way.push(way[0]);
                let way: Vec<String> = way.iter().map(usize::to_string).collect();
                let _ = writeln!(text, "  cycle: {}", way.join(" -> "));
            }
        }
        self.write_groups(&mut text);
        text
    }

    /// What shows the mistake, where something does.
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
        mismatches.chain(unreceived).take(MOST_GROUPS).collect()
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
            let who = match side.passed {
                true => verb(&side.ranks, "was", "were"),
                false => is(&side.ranks),
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
    fn wanted(&self, from: usize, to: usize) -> Option<i32> {
        let threads = self.job.ranks.get(&to)?.rank.threads.iter();
        let mut operations = threads.flat_map(|thread| match &thread.activity {
            Activity::Waits { operations, .. } if thread.inside => &operations[..],
            _ => &[],
        });
        operations.find_map(|operation| match operation {
            Operation::Receive(wanted) if wanted.partner == Partner::Rank(from) => wanted.tag,
            _ => None,
        })
    }

    /// Ranks that do the same, in one line each.
    fn write_groups(&self, text: &mut String) {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (&rank, seen) in &self.job.ranks {
            groups
                .entry(self.describe(seen).join("; "))
                .or_default()
                .push(rank);
        }
        let mut groups: Vec<(String, Vec<usize>)> = groups.into_iter().collect();
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

    /// The answer for programs.
    pub fn json(&self) -> Value {
        let ranks: Vec<Value> = self
            .job
            .ranks
            .values()
            .map(|seen| self.rank_json(seen))
            .collect();
        json!({
            "headline": self.headline(),
            "size": self.job.size,
            "verdict": self.verdict,
            "communicators": self.communicators(),
            "ranks": ranks,
        })
    }

    fn communicators(&self) -> BTreeMap<Key, String> {
        let ranks = self.job.ranks.values();
        let keys = ranks.flat_map(|seen| seen.rank.communicators.keys());
        keys.map(|&key| (key, self.name(key))).collect()
    }

    fn rank_json(&self, seen: &Seen) -> Value {
        json!({
            "rank": seen.rank.rank,
            "host": seen.rank.host,
            "process": seen.rank.process,
            "life": seen.rank.life,
            "end": seen.rank.end,
            "does": self.describe(seen),
            "threads": seen.rank.threads,
            "motions": seen.motions,
            "channels": seen.rank.channels,
        })
    }

    /// The wait-for graph: stuck ranks red, the cycle's arrows strong.
    pub fn graph(&self) -> Graph {
        let waits = &self.verdict.waits;
        let all = waits
            .iter()
            .flat_map(|wait| wait.clauses.iter().flatten().copied());
        let mut shown: Vec<usize> = all.chain(waits.iter().map(|wait| wait.rank)).collect();
        shown.sort_unstable();
        shown.dedup();
        let place = |rank: usize| shown.binary_search(&rank).ok();
        let mut arrows = Vec::new();
        let cycle = &self.verdict.cycle;
        for wait in waits {
            for clause in &wait.clauses {
                for &target in clause {
                    let step = cycle.iter().position(|&rank| rank == wait.rank);
                    let next = step.map(|at| cycle[(at + 1) % cycle.len()]);
                    let ends = place(wait.rank).zip(place(target));
                    arrows.extend(ends.map(|(from, to)| Arrow {
                        from,
                        to,
                        dashed: clause.len() > 1,
                        strong: next == Some(target),
                    }));
                }
            }
        }
        let node = |&rank: &usize| Node {
            label: rank.to_string(),
            marked: self.verdict.stuck.contains(&rank),
        };
        Graph {
            title: self.headline(),
            nodes: shown.iter().map(node).collect(),
            arrows,
            legend:
                "an arrow goes from a rank to one that it waits for; dashed: any one of several \
                     is enough"
                    .to_owned(),
        }
    }
}

/// `rank 3`, `ranks 0, 1 and 2`, `ranks 0-7 and 9`.
fn ranks(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let mut parts = Vec::new();
    for (first, last) in runs {
        match last - first {
            0 => parts.push(first.to_string()),
            1 => parts.extend([first.to_string(), last.to_string()]),
            _ => parts.push(format!("{first}-{last}")),
        }
    }
    let word = if numbers.len() == 1 { "rank" } else { "ranks" };
    match &parts[..] {
        [] => "no rank".to_owned(),
        [one] => format!("{word} {one}"),
        [first @ .., last] => format!("{word} {} and {last}", first.join(", ")),
    }
}

/// `rank 3 is`, `ranks 0 and 1 are`.
fn is(numbers: &[usize]) -> String {
    verb(numbers, "is", "are")
}

fn verb(numbers: &[usize], one: &str, several: &str) -> String {
    let verb = if numbers.len() == 1 { one } else { several };
    format!("{} {verb}", ranks(numbers))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::ranks;

    #[test]
    fn ranks_in_a_row_are_written_as_a_range() {
        for (numbers, text) in [
            (&[3][..], "rank 3"),
            (&[0, 1], "ranks 0 and 1"),
            (&[0, 1, 2, 3], "ranks 0-3"),
            (&[0, 2, 4, 5, 6], "ranks 0, 2 and 4-6"),
        ] {
            assert_eq!(ranks(numbers), text);
        }
    }
}
