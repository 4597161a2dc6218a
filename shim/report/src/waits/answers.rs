//! The answer as JSON, and the wait-for graph.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use treepie_base::Rank;
use treepie_jobstate::waits::{Key, ObservedRank};

use crate::picture::waits::{Arrow, Graph, Node};
use crate::waits::hang::Hang;

impl Hang {
    /// Converts the answer to JSON.
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
        let keys = ranks.flat_map(|seen| seen.state.communicators.keys());
        keys.map(|&key| (key, self.name(key))).collect()
    }

    fn rank_json(&self, seen: &ObservedRank) -> Value {
        json!({
            "rank": seen.state.rank,
            "host": seen.state.host,
            "process": seen.state.process,
            "life": seen.state.life,
            "end": seen.state.end,
            "does": self.describe(seen),
            "threads": seen.state.threads,
            "motions": seen.motions,
            "channels": seen.state.channels,
        })
    }

    /// The wait-for graph: stuck ranks red, the cycle's arrows strong.
    pub fn graph(&self) -> Graph {
        let waits = &self.verdict.waits;
        let all = waits
            .iter()
            .flat_map(|wait| wait.clauses.iter().flatten().copied());
        let mut shown: Vec<Rank> = all.chain(waits.iter().map(|wait| wait.rank)).collect();
        shown.sort_unstable();
        shown.dedup();
        let place = |rank: Rank| shown.binary_search(&rank).ok();
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
        let node = |&rank: &Rank| Node {
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
