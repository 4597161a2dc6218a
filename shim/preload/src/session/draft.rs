//! Request that needs the locations of the processes, and the decision made from it.

use std::collections::HashMap;
use std::path::Path;

use treepie_base::{Leaf, List, Process, Rank, Slice};
use treepie_guard::learning::Candidate;
use treepie_placement::allocation::Allocation;
use treepie_placement::binding::LaunchedProcess;
use treepie_placement::seat::Seats;
use treepie_plans::platform::File;
use treepie_platform::file::PlatformFile;
use treepie_process::log;
use treepie_profile::settings::{LocalOrder, Stdin};
use treepie_topology::Topology;

use super::cluster_network::{ClusterNetwork, STORED};
use super::decision::{Decision, Plan};
use super::hosts::{HostFactKinds, HostFacts};
use super::input::{Input, Seated};
use super::learning::Learning;
use super::local_order;
use super::obstacle;
use super::replay::ReplayFile;
use super::request_error::RequestError;
use crate::binding;
use crate::one_sided::Gathering;
use crate::reorder::Places;

/// Request that process 0 has read, before it knows the hosts to which it applies.
pub struct Draft {
    /// Decisions made so far.
    pub(super) plan: Plan,
    /// Placement or profile to apply.
    pub(super) file: Option<ReplayFile>,
    /// Permutation that is given directly.
    pub(super) permutation: Option<List<Process, Rank>>,
    /// Setting for standard input: which processes keep their ranks.
    pub(super) stdin: Stdin,
    /// Setting for the order of ranks on each host.
    pub(super) local_order: LocalOrder,
    /// True if communicators are reordered.
    pub(super) reorders: bool,
    /// Clusters by which ranks are placed.
    pub(super) network: ClusterNetwork,
    /// Results of earlier runs, in `mode: auto`.
    pub(super) learning: Option<Box<Learning>>,
}

impl Draft {
    /// Returns the facts of these processes' hosts that must be known.
    pub fn wants(&self, processes: &Slice<Process, LaunchedProcess>) -> HostFactKinds {
        let file = self.file.as_ref();
        let learning = self.learning.as_ref();
        HostFactKinds {
            machines: self.reorders
                || learning.is_some_and(|learning| learning.needs_machines(processes))
                || file.is_some_and(|file| file.needs_machines(processes)),
            locations: self.network.wants_locations(),
        }
    }

    /// Returns the decision, for known locations of the processes. An unusable file is reported,
    /// and cancels the whole request.
    pub fn settle(
        self,
        processes: &Slice<Process, LaunchedProcess>,
        inputs: &Slice<Process, Input>,
        facts: &HostFacts,
    ) -> Decision {
        let strict = self.plan.strict;
        let seated = Seated::new(self.stdin, inputs);
        self.settled(processes, &seated, facts)
            .unwrap_or_else(|error| refuse(&error, strict))
    }

    fn settled(
        self,
        processes: &Slice<Process, LaunchedProcess>,
        seated: &Seated,
        facts: &HostFacts,
    ) -> Result<Decision, RequestError> {
        let mut plan = self.plan;
        let name = Path::new(if self.reorders { "reorder" } else { "auto" });
        let name = self.file.as_ref().map_or(name, ReplayFile::path);
        let stored = self.learning.as_ref();
        let stored = stored.and_then(|learning| learning.platform(processes));
        let network = self.network.or(stored.as_ref());
        let allocation = network.allocation(name, processes, facts, plan.strict)?;
        let mut binding = None;
        if let Some(file) = self.file {
            let settled = file.settle(&allocation, &network, seated)?;
            plan.permutation = settled.new_rank;
            binding = settled.binding;
            if let Some(recording) = &mut plan.recording {
                let note = format!("replayed with {}", settled.source);
                recording.run.notes.push(note);
            }
        }
        if let Some(new_rank) = self.permutation {
            plan.permutation = Some(with_seats_on_hosts(new_rank, seated, processes));
        }
        if let Some(learning) = self.learning {
            if let Some(wanted) = &mut plan.collectives
                && wanted.platform.probe
                && wanted.platform.file.is_none()
            {
                let text = |file: PlatformFile| file.to_text(Path::new(STORED)).ok();
                wanted.platform.file = stored.and_then(text).map(|text| File {
                    name: STORED.to_owned(),
                    text: Some(text),
                });
            }
            let lessons = learning.settle(processes, &allocation);
            match lessons.candidate {
                Some(Candidate::Permute(new_rank)) => {
                    plan.permutation = Some(with_seats(new_rank, seated, &allocation));
                }
                Some(Candidate::Bind(cores)) => {
                    plan.cores = Some(cores.into_iter().map(|core| core as u32).collect());
                }
                None => (),
            }
            if let Some(wanted) = &mut plan.collectives {
                let tuned = std::mem::replace(&mut wanted.known, lessons.guard);
                wanted.known.extend(tuned);
                wanted.proven = lessons.proven;
            }
            if let Some(Gathering::Guarded { known, .. }) = &mut plan.gathers {
                *known = lessons.epochs;
            }
            match (lessons.profile, &mut plan.recording) {
                (Some(output), Some(recording)) => recording.output = output,
                _ => plan.recording = None,
            }
        }
        if let Some(new_rank) = &mut plan.permutation {
            local_order::keep(self.local_order, new_rank, processes, seated);
        }
        if self.reorders {
            plan.places = Some(Places::of(&allocation)?);
        }
        match binding.map(|target| binding::cores(&target, processes)) {
            None => (),
            Some(Ok(cores)) => plan.cores = Some(cores.into()),
            Some(Err(refusal)) => {
                log::error(&format!("apply: {refusal}; {}", outcome(plan.strict)));
                if plan.strict {
                    return Ok(Decision::Abort);
                }
                // Binding and ranks belong together: a placement is not applied in part.
                plan.permutation = None;
            }
        }
        Ok(decided(plan))
    }
}

/// Returns the new ranks of a placement, with processes that are seated keeping theirs.
fn with_seats(
    mut new_rank: List<Process, Rank>,
    seated: &Seated,
    allocation: &Allocation,
) -> List<Process, Rank> {
    let seats = Seats {
        topology: allocation.topology(),
        leaf_of_process: allocation.leaf_of_process(),
        depth: allocation.alike_below(),
    };
    if let Some(kept) = seated.keep(&mut new_rank, Some(seats)) {
        kept.tell();
    }
    new_rank
}

/// Returns the new ranks of a permutation that the user gave. Its objective is unknown, so that
/// only whole hosts may be exchanged.
fn with_seats_on_hosts<'a>(
    mut new_rank: List<Process, Rank>,
    seated: &Seated,
    processes: &'a Slice<Process, LaunchedProcess>,
) -> List<Process, Rank> {
    let mut known: HashMap<&'a str, usize> = HashMap::new();
    let leaf_of = |process: &'a LaunchedProcess| {
        let next = known.len();
        *known.entry(process.host.as_str()).or_insert(next)
    };
    let leaf_of_process: List<Process, Leaf> = processes.iter().map(leaf_of).map(Leaf).collect();
    let hosts = Topology::from_arities(&known.len().to_string()).ok();
    let seats = hosts.as_ref().map(|topology| Seats {
        topology,
        leaf_of_process: &leaf_of_process,
        depth: 0,
    });
    if let Some(kept) = seated.keep(&mut new_rank, seats) {
        kept.tell_of_asked();
    }
    new_rank
}

/// Returns the decision for the plan, unless it permutes ranks that cannot be permuted.
pub(super) fn decided(plan: Plan) -> Decision {
    let permutation = plan.permutation.as_ref();
    match permutation.and_then(|_| obstacle::to_permutation()) {
        None => Decision::Do(Box::new(plan)),
        Some(obstacle) => refuse(&obstacle, plan.strict),
    }
}

/// Returns the text about the job's continuation after a request that cannot be carried out.
fn outcome(strict: bool) -> &'static str {
    match strict {
        true => "the job is ended, because strict is set",
        false => "the job runs as it would without treepie",
    }
}

/// Reports that a request cannot be carried out; returns the decision that follows.
pub(super) fn refuse(error: &RequestError, strict: bool) -> Decision {
    log::error(&format!("{error}; {}", outcome(strict)));
    match strict {
        true => Decision::Abort,
        false => Decision::Plain,
    }
}
