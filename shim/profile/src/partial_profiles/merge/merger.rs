//! Merging of partial profiles, one by one, into a profile.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::counts::{Layers, MergedPhase, named_phase, reported};
use super::open_phase::close_phases;
use super::windows::Windows;
use crate::locality::locality_from_text;
use crate::partial_profiles::partial_profile::{PartialProfile, Phase};
use crate::partial_profiles::run_description::RunDescription;
use crate::partial_profiles::wire::decode::decode_all;
use crate::profile::{Host, Profile};
use crate::times::Times;
use treepie_base::{FileError, Header, Process, Rank, list};
use treepie_collective::RecordError;
use treepie_traffic::times::CallTime;

/// Reason why a partial profile does not belong to the others.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PartialProfileError {
    /// Two partial profiles are of the same rank.
    #[error("rank {rank} has left two partial profiles; remove one of them")]
    Twice {
        /// Duplicate rank.
        rank: Rank,
    },
    /// Two partial profiles are of the same process.
    #[error("process {process} has left two partial profiles; remove one of them")]
    ProcessTwice {
        /// Process of the launcher's world.
        process: Process,
    },
    /// A rank that the job did not have.
    #[error(
        "names rank {rank}, but the job had {ranks} ranks: they count from 0 to {}; remove it",
        ranks.saturating_sub(1)
    )]
    NoSuchRank {
        /// Rank in the partial profile.
        rank: Rank,
        /// Number of ranks.
        ranks: usize,
    },
    /// An invalid record of a collective.
    #[error("{0}; remove it")]
    Record(#[from] RecordError),
    /// The locality of the ranks cannot be read.
    #[error(transparent)]
    Locality(#[from] FileError),
    /// Bytes that are not a partial profile.
    #[error("did not arrive as it was sent; take the profile again")]
    Unreadable,
}

/// Profile made from partial profiles.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// Profile; [`Profile::missing_ranks`] are those without a partial profile.
    pub profile: Profile,
}

/// Host name of unknown processes.
const UNKNOWN_HOST: &str = "unknown";

/// Merger that takes partial profiles one by one.
pub struct Merger {
    run: RunDescription,
    layers: Layers,
    /// Phases by name, with the order of first appearance.
    phases: BTreeMap<String, MergedPhase>,
    seen: BTreeSet<Rank>,
    host_of_process: BTreeMap<Process, String>,
    process_of_rank: BTreeMap<Rank, Process>,
    allowed_cores: BTreeMap<Process, String>,
    shared_memory: BTreeSet<Vec<Rank>>,
    times: Option<Times>,
    windows: Windows,
}

impl Merger {
    /// Creates a merger for the partial profiles of one run.
    pub fn new(run: RunDescription) -> Self {
        let ranks = run.ranks;
        Merger {
            run,
            layers: Layers::new(ranks),
            phases: BTreeMap::new(),
            seen: BTreeSet::new(),
            host_of_process: BTreeMap::new(),
            process_of_rank: BTreeMap::new(),
            allowed_cores: BTreeMap::new(),
            shared_memory: BTreeSet::new(),
            times: None,
            windows: Windows::default(),
        }
    }

    /// Returns the run whose partial profiles these are.
    pub fn run(&self) -> &RunDescription {
        &self.run
    }

    /// Adds one rank's partial profile.
    ///
    /// # Errors
    /// A rank that was added already or that the job does not have, an invalid record. In this case
    /// nothing is added.
    pub fn add(&mut self, mut partial: PartialProfile) -> Result<(), PartialProfileError> {
        self.check(&partial)?;
        close_phases(&mut partial);
        let rank = partial.rank;
        self.seen.insert(rank);
        self.windows.add(&partial);
        self.process_of_rank.insert(rank, partial.process);
        self.host_of_process.insert(partial.process, partial.host);
        self.allowed_cores
            .insert(partial.process, partial.allowed_cores);
        self.layers.add(rank, &partial.counted, partial.collectives);
        let timed = !partial.times.is_empty();
        for phase in partial.phases.into_iter().filter(|phase| !phase.left_out) {
            self.add_phase(rank, phase, timed);
        }
        for mut group in partial.shared_memory {
            group.sort_unstable();
            self.shared_memory.insert(group);
        }
        if timed {
            let times = self.times.get_or_insert_with(|| Times::new(self.run.ranks));
            times.add(rank, partial.elapsed, partial.times);
        }
        Ok(())
    }

    /// Merges the partial profiles of all ranks of a run, concatenated in `bytes`, as they arrive
    /// at process 0 at the end of a job.
    ///
    /// # Errors
    /// Bytes that are not partial profiles, and partial profiles that [`Merger::add`] rejects.
    pub fn merge_all(run: &RunDescription, bytes: &[u8]) -> Result<Merged, PartialProfileError> {
        let mut merger = Merger::new(run.clone());
        for partial in decode_all(bytes) {
            merger.add(partial.ok_or(PartialProfileError::Unreadable)?)?;
        }
        merger.finish()
    }

    /// Returns the bytes of memory for each rank of the run that the new phases of a partial
    /// profile take.
    pub(crate) fn bytes_of_a_rank(&self, partial: &PartialProfile) -> usize {
        let is_new = |phase: &&Phase| !self.phases.contains_key(&phase.name);
        let new = partial.phases.iter().filter(is_new);
        let times = |phase: &Phase| size_of::<u64>() + phase.times.len() * size_of::<CallTime>();
        new.map(times).sum()
    }

    fn check(&self, partial: &PartialProfile) -> Result<(), PartialProfileError> {
        let ranks = self.run.ranks;
        let counted = partial
            .phases
            .iter()
            .map(|phase| &phase.counted)
            .chain([&partial.counted])
            .flat_map(|counted| counted.keys())
            .map(|&(_, partner)| partner);
        let shared = partial.shared_memory.iter().flatten().copied();
        let windows = partial
            .windows
            .iter()
            .flat_map(|(_, group)| group.iter().copied());
        let targets = partial
            .accesses
            .keys()
            .map(|(_, access)| Rank(access.target as usize));
        // Processes have the same numbers as ranks.
        for rank in [partial.rank, Rank(partial.process.0)]
            .into_iter()
            .chain(counted)
            .chain(shared)
            .chain(windows)
            .chain(targets)
        {
            if rank.0 >= ranks {
                return Err(PartialProfileError::NoSuchRank { rank, ranks });
            }
        }
        let records = partial
            .phases
            .iter()
            .map(|phase| &phase.collectives)
            .chain([&partial.collectives]);
        for record in records.flat_map(|records| records.clone().into_vec()) {
            record.validate(ranks)?;
        }
        if self.seen.contains(&partial.rank) {
            return Err(PartialProfileError::Twice { rank: partial.rank });
        }
        if self.host_of_process.contains_key(&partial.process) {
            return Err(PartialProfileError::ProcessTwice {
                process: partial.process,
            });
        }
        Ok(())
    }

    fn add_phase(&mut self, rank: Rank, phase: Phase, timed: bool) {
        let ranks = self.run.ranks;
        let span = phase.span;
        let merged = self
            .phases
            .entry(phase.name)
            .or_insert_with(|| MergedPhase {
                start: span.start,
                end: span.end,
                longest: 0,
                layers: Layers::new(ranks),
                times: None,
            });
        if timed {
            let times = merged.times.get_or_insert_with(|| Times::new(ranks));
            times.add(rank, span.length, phase.times);
        }
        merged.start = merged.start.min(span.start);
        merged.end = merged.end.max(span.end);
        merged.longest = merged.longest.max(span.length);
        merged.layers.add(rank, &phase.counted, phase.collectives);
    }

    /// Returns the profile.
    ///
    /// # Errors
    /// A run whose text of the locality is invalid.
    pub fn finish(self) -> Result<Merged, PartialProfileError> {
        let ranks = self.run.ranks;
        let locality = self.run.locality.as_deref();
        let locality = locality
            .map(|text| locality_from_text(text, ranks))
            .transpose()?;
        let missing: Vec<Rank> = (0..ranks)
            .map(Rank)
            .filter(|rank| !self.seen.contains(rank))
            .collect();
        let mut notes = self.run.notes;
        if !missing.is_empty() {
            notes.push(format!(
                "put together from what {} of {ranks} ranks left; what the ranks {} sent is missing",
                ranks - missing.len(),
                list::to_text(&missing)
            ));
        }
        // Missing ranks get the remaining processes, in order.
        let processes = || (0..ranks).map(Process);
        let mut free = processes().filter(|process| !self.host_of_process.contains_key(process));
        let process_of_rank = (0..ranks)
            .map(|rank| {
                let process = self.process_of_rank.get(&Rank(rank)).copied();
                process.or_else(|| free.next()).unwrap_or(Process(rank))
            })
            .collect();
        let mut phases: Vec<crate::Phase> = self.phases.into_iter().map(named_phase).collect();
        phases.sort_by(|a, b| a.start_seconds.total_cmp(&b.start_seconds));
        let profile = Profile {
            header: Header {
                producer: self.run.producer,
                date: self.run.date,
            },
            mpi: self.run.mpi,
            command: self.run.command,
            notes,
            hosts: hosts(ranks, &self.host_of_process),
            process_of_rank,
            missing_ranks: missing,
            allowed_cores: processes()
                .map(|process| self.allowed_cores.get(&process).cloned())
                .map(Option::unwrap_or_default)
                .collect(),
            point_to_point: self.layers.point_to_point,
            one_sided: self.layers.one_sided,
            neighbourhood: self.layers.neighbourhood,
            collectives: reported(self.layers.collectives),
            locality,
            phases,
            shared_memory: self.shared_memory.into_iter().collect(),
            times: self.times,
            windows: self.windows.into_vec(),
            ..Profile::new(ranks)
        };
        Ok(Merged { profile })
    }
}

/// Returns the machines, in the order of their first process.
fn hosts(ranks: usize, host_of_process: &BTreeMap<Process, String>) -> Vec<Host> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut known = BTreeMap::new();
    for process in (0..ranks).map(Process) {
        let name = host_of_process
            .get(&process)
            .map_or(UNKNOWN_HOST, String::as_str);
        let at = *known.entry(name).or_insert(hosts.len());
        if at == hosts.len() {
            hosts.push(Host {
                name: name.to_owned(),
                processes: Vec::new(),
            });
        }
        hosts[at].processes.push(process);
    }
    hosts
}
