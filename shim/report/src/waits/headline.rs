//! The first line: the verdict in words.

use std::fmt::Write;

use treepie_base::Rank;
use treepie_jobstate::waits::{End, Motion, ObservedRank, VerdictKind};

use super::words::{capital, is, ranks, verb};
use crate::waits::hang::Hang;

impl Hang {
    /// Formats the first line: the verdict in words.
    pub(crate) fn headline(&self) -> String {
        let verdict = &self.verdict;
        let stuck = ranks(&verdict.stuck);
        match verdict.kind {
            VerdictKind::Deadlock => self.deadlock(),
            VerdictKind::Gone => {
                let others: Vec<Rank> = self.without(&verdict.roots);
                let waits = if others.is_empty() {
                    String::new()
                } else {
                    format!(" {} can't go on without it.", capital(&ranks(&others)))
                };
                format!("{}{waits}", self.gone())
            }
            VerdictKind::Stopped => format!(
                "{} stopped (SIGSTOP or a debugger). Stuck with it: {stuck}.",
                capital(&is(&verdict.roots))
            ),
            VerdictKind::Finalizing => {
                "All ranks are in MPI_Finalize, which does not return.".to_owned()
            }
            VerdictKind::Waits => self.waiting(),
            VerdictKind::Moves => {
                let moves = |seen: &&ObservedRank| seen.motions.contains(&Motion::Moves);
                let moving = self.job.ranks.values().filter(moves).count();
                let known = self.job.ranks.len();
                format!("No hang: {moving} of {known} ranks made calls between two looks.")
            }
        }
    }

    /// Stuck ranks except these.
    fn without(&self, roots: &[Rank]) -> Vec<Rank> {
        let stuck = self.verdict.stuck.iter().copied();
        stuck.filter(|rank| !roots.contains(rank)).collect()
    }

    fn gone(&self) -> String {
        let mut text = String::new();
        for rank in &self.verdict.roots {
            let Some(seen) = self.job.ranks.get(rank) else {
                continue;
            };
            let (process, host) = (seen.state.process, &seen.state.host);
            let how = match seen.state.end {
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
        let what = if verdict.certain {
            "Deadlock"
        } else {
            "Probably a deadlock (who polls may still do something else)"
        };
        let differ = verdict
            .mismatches
            .iter()
            .find(|mismatch| mismatch.sides.len() > 1);
        if let Some(mismatch) = differ {
            let who = match mismatch.ranks()[..] {
                [one] => format!("rank {one} is in different calls as"),
                ref several => format!("{} do not agree on", ranks(several)),
            };
            let name = self.name(mismatch.communicator);
            return format!(
                "{what}: {who} collective {} on {name}.",
                mismatch.number + 1
            );
        }
        let finalizes = |rank: &&Rank| {
            self.job
                .ranks
                .get(rank)
                .is_some_and(ObservedRank::finalizes)
        };
        let left: Vec<Rank> = verdict.knot.iter().filter(finalizes).copied().collect();
        if !left.is_empty() {
            let others = verb(&self.without(&left), "waits", "wait");
            let them = if left.len() == 1 { "it" } else { "them" };
            let who = is(&left);
            return format!("{what}: {who} in MPI_Finalize, and {others} for {them}.");
        }
        let behind = self.without(&verdict.knot);
        let behind = if behind.is_empty() {
            String::new()
        } else {
            format!("; {} for them", verb(&behind, "waits", "wait"))
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
        let waiting: Vec<Rank> = self.waiting_ranks();
        if waiting.is_empty() {
            return "No deadlock: no rank waits for another; all compute or are in calls of which \
                    nothing is known."
                .to_owned();
        }
        let roots = &self.verdict.roots;
        let does: Vec<String> = roots.iter().map(|&rank| self.what_does(rank)).collect();
        if roots.is_empty() {
            format!("No deadlock is proven: {} waiting.", is(&waiting))
        } else {
            format!(
                "No deadlock: {} for {}.",
                verb(&waiting, "waits", "wait"),
                does.join("; and for ")
            )
        }
    }

    fn waiting_ranks(&self) -> Vec<Rank> {
        let mut waiting: Vec<Rank> = self.verdict.waits.iter().map(|wait| wait.rank).collect();
        waiting.dedup();
        waiting
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use treepie_base::Rank;
    use treepie_jobstate::waits::{
        Activity, Collective, Communicator, Job, Life, Operation, RankState, Thread, Until,
        communicator_key,
    };

    use crate::waits::hang::Hang;

    /// A thread in the first collective on the world of two ranks.
    fn in_call(world: u64, operation: &str) -> Thread {
        let call = Collective {
            communicator: Some(world),
            number: 0,
            operation: operation.to_owned(),
            root: None,
        };
        Thread {
            area: 0,
            number: 1,
            polls: 0,
            procedure: operation.to_owned(),
            is_poll: false,
            inside: true,
            activity: Activity::Waits {
                operations: vec![Operation::Collective(call)],
                until: Until::All,
                begun: false,
            },
            since: 0,
            last_sends: Vec::new(),
            sends: 0,
        }
    }

    /// The first line for two ranks whose threads are in these collectives.
    fn headline(calls: [&[&str]; 2]) -> String {
        let world = communicator_key(&[0, 1], 1);
        let known = Communicator {
            members: Some([0, 1].map(Rank).into_iter().collect()),
            size: 2,
            inter: false,
            done: 0,
            last: Vec::new(),
        };
        let of_rank = |(rank, calls): (usize, &[&str])| RankState {
            rank: Rank(rank),
            host: "here".to_owned(),
            process: 100 + rank as u32,
            life: Life::Runs,
            end: None,
            tick: 1,
            threads: calls.iter().map(|call| in_call(world, call)).collect(),
            more_threads: 0,
            communicators: BTreeMap::from([(world, known.clone())]),
            incomplete: Vec::new(),
            channels: None,
            stop: None,
        };
        let ranks: Vec<RankState> = calls.into_iter().enumerate().map(of_rank).collect();
        Hang::new(Job::between(2, &ranks, ranks.clone())).headline()
    }

    #[test]
    fn a_rank_whose_threads_are_in_two_collectives_is_named_once() {
        let told = headline([&["MPI_Barrier"], &["MPI_Bcast", "MPI_Reduce"]]);
        let whole = "Deadlock: ranks 0 and 1 do not agree on collective 1 on MPI_COMM_WORLD.";
        assert_eq!(told, whole);
    }
}
