//! Parts of ranks become one profile.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::file::RunDescription;
use super::part::{Part, Phase};
use super::wire::{decode_all, less};
use super::{Kind, Records};
use crate::affinity::collective::{Record, RecordError, Volume, size_class};
use crate::affinity::times::CallTime;
use crate::affinity::{Traffic, TrafficMatrix};
use crate::files::list;
use crate::files::profile::{self, Host, Profile, Times};

/// Why a part does not belong to the others.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PartError {
    /// Two parts are of the same rank.
    #[error("rank {rank} has left two parts; remove one of them")]
    Twice {
        /// The rank.
        rank: u32,
    },
    /// Two parts are of the same process.
    #[error("process {process} has left two parts; remove one of them")]
    ProcessTwice {
        /// The process of the launcher's world.
        process: u32,
    },
    /// A rank that the job did not have.
    #[error(
        "names rank {rank}, but the job had {ranks} ranks: they count from 0 to {}; remove it",
        ranks.saturating_sub(1)
    )]
    NoSuchRank {
        /// The rank.
        rank: u32,
        /// Number of ranks.
        ranks: usize,
    },
    /// A record of a collective that makes no sense.
    #[error("{0}; remove it")]
    Record(#[from] RecordError),
    /// Bytes that are no part.
    #[error("did not arrive as it was sent; take the profile again")]
    Unreadable,
}

/// A profile made of parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The profile; [`Profile::missing_ranks`] are those that left no part.
    pub profile: Profile,
}

/// Host name of the processes of which nothing is known.
const UNKNOWN_HOST: &str = "unknown";

/// Counts of one phase or of the whole run.
struct Layers {
    point_to_point: TrafficMatrix,
    one_sided: TrafficMatrix,
    neighbourhood: TrafficMatrix,
    collectives: Records,
}

/// A phase, put together from the ranks that were in it.
struct MergedPhase {
    start: u64,
    end: u64,
    longest: u64,
    layers: Layers,
}

/// Takes parts one by one.
pub struct Merger {
    run: RunDescription,
    layers: Layers,
    /// By name, with the order of first appearance.
    phases: BTreeMap<String, MergedPhase>,
    seen: BTreeSet<u32>,
    host_of_process: BTreeMap<u32, String>,
    process_of_rank: BTreeMap<u32, u32>,
    allowed_cores: BTreeMap<u32, String>,
    shared_memory: BTreeSet<Vec<usize>>,
    times: Option<Times>,
}

impl Layers {
    fn new(ranks: usize) -> Self {
        Layers {
            point_to_point: TrafficMatrix::new(ranks),
            one_sided: TrafficMatrix::new(ranks),
            neighbourhood: TrafficMatrix::new(ranks),
            collectives: Records::default(),
        }
    }

    /// Adds what `rank` counted. All ranks are below the order of the matrices.
    fn add(&mut self, rank: u32, counted: &BTreeMap<(Kind, u32), Traffic>, records: Records) {
        for (&(kind, partner), &traffic) in counted {
            let (own, partner) = (rank as usize, partner as usize);
            match kind {
                Kind::PointToPoint => self.point_to_point.add(own, partner, traffic),
                Kind::Neighbourhood => self.neighbourhood.add(own, partner, traffic),
                Kind::Put => self.one_sided.add(own, partner, traffic),
                Kind::Got => self.one_sided.add(partner, own, traffic),
            }
        }
        for record in records.into_vec() {
            self.collectives.add(record);
        }
    }
}

impl Merger {
    /// A merger for the parts of one run.
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
        }
    }

    /// The run whose parts these are.
    pub fn run(&self) -> &RunDescription {
        &self.run
    }

    /// Adds one rank's part.
    ///
    /// # Errors
    /// A rank that was there already or that the job does not have, a record
    /// that makes no sense. Nothing was added then.
    pub fn add(&mut self, mut part: Part) -> Result<(), PartError> {
        self.check(&part)?;
        close_phases(&mut part);
        let rank = part.rank;
        self.seen.insert(rank);
        self.process_of_rank.insert(rank, part.process);
        self.host_of_process.insert(part.process, part.host);
        self.allowed_cores.insert(part.process, part.allowed_cores);
        self.layers.add(rank, &part.counted, part.collectives);
        for phase in part.phases.into_iter().filter(|phase| !phase.left_out) {
            self.add_phase(rank, phase);
        }
        for group in part.shared_memory {
            let mut group: Vec<usize> = group.into_iter().map(|rank| rank as usize).collect();
            group.sort_unstable();
            self.shared_memory.insert(group);
        }
        if !part.times.is_empty() {
            let ranks = self.run.ranks;
            let times = self.times.get_or_insert_with(|| Times {
                elapsed: vec![0; ranks],
                classes: BTreeMap::new(),
            });
            times.elapsed[rank as usize] = part.elapsed;
            for (class, time) in part.times {
                let of_class = times
                    .classes
                    .entry(class)
                    .or_insert_with(|| vec![CallTime::default(); ranks]);
                of_class[rank as usize] += time;
            }
        }
        Ok(())
    }

    /// Merges the parts of all ranks of a run, one after the other in `bytes`, as they
    /// arrive at process 0 at the end of a job.
    ///
    /// # Errors
    /// Bytes that are no parts, and parts that [`Merger::add`] refuses.
    pub fn merge_all(run: &RunDescription, bytes: &[u8]) -> Result<Merged, PartError> {
        let mut merger = Merger::new(run.clone());
        for part in decode_all(bytes) {
            merger.add(part.ok_or(PartError::Unreadable)?)?;
        }
        Ok(merger.finish())
    }

    fn check(&self, part: &Part) -> Result<(), PartError> {
        let ranks = self.run.ranks;
        let counted = part
            .phases
            .iter()
            .map(|phase| &phase.counted)
            .chain([&part.counted])
            .flat_map(|counted| counted.keys())
            .map(|&(_, partner)| partner);
        let shared = part.shared_memory.iter().flatten().copied();
        for rank in [part.rank, part.process]
            .into_iter()
            .chain(counted)
            .chain(shared)
        {
            if rank as usize >= ranks {
                return Err(PartError::NoSuchRank { rank, ranks });
            }
        }
        let records = part
            .phases
            .iter()
            .map(|phase| &phase.collectives)
            .chain([&part.collectives]);
        for record in records.flat_map(|records| records.clone().into_vec()) {
            record.validate(ranks)?;
        }
        if self.seen.contains(&part.rank) {
            return Err(PartError::Twice { rank: part.rank });
        }
        if self.host_of_process.contains_key(&part.process) {
            return Err(PartError::ProcessTwice {
                process: part.process,
            });
        }
        Ok(())
    }

    fn add_phase(&mut self, rank: u32, phase: Phase) {
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
            });
        merged.start = merged.start.min(span.start);
        merged.end = merged.end.max(span.end);
        merged.longest = merged.longest.max(span.length);
        merged.layers.add(rank, &phase.counted, phase.collectives);
    }

    /// The profile.
    pub fn finish(self) -> Merged {
        let ranks = self.run.ranks;
        let missing: Vec<usize> = (0..ranks)
            .filter(|&rank| !self.seen.contains(&(rank as u32)))
            .collect();
        let mut notes = self.run.notes;
        if !missing.is_empty() {
            notes.push(format!(
                "put together from what {} of {ranks} ranks left; what the ranks {} sent is missing",
                ranks - missing.len(),
                list::to_text(&missing)
            ));
        }
        // Ranks that left nothing get the processes that are left over, in order.
        let mut free = (0..ranks as u32).filter(|p| !self.host_of_process.contains_key(p));
        let process_of_rank = (0..ranks as u32)
            .map(|rank| {
                let process = self.process_of_rank.get(&rank).copied();
                process.or_else(|| free.next()).unwrap_or(rank) as usize
            })
            .collect();
        let mut phases: Vec<profile::Phase> = self.phases.into_iter().map(named_phase).collect();
        phases.sort_by(|a, b| a.start_seconds.total_cmp(&b.start_seconds));
        let profile = Profile {
            producer: self.run.producer,
            date: self.run.date,
            mpi: self.run.mpi,
            command: self.run.command,
            notes,
            hosts: hosts(ranks, &self.host_of_process),
            process_of_rank,
            missing_ranks: missing,
            allowed_cores: (0..ranks as u32)
                .map(|process| {
                    self.allowed_cores
                        .get(&process)
                        .cloned()
                        .unwrap_or_default()
                })
                .collect(),
            point_to_point: self.layers.point_to_point,
            one_sided: self.layers.one_sided,
            neighbourhood: self.layers.neighbourhood,
            collectives: reported(self.layers.collectives),
            phases,
            shared_memory: self.shared_memory.into_iter().collect(),
            times: self.times,
            ..Profile::new(ranks)
        };
        Merged { profile }
    }
}

fn named_phase((name, phase): (String, MergedPhase)) -> profile::Phase {
    let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
    profile::Phase {
        name,
        start_seconds: seconds(phase.start),
        end_seconds: seconds(phase.end),
        seconds: seconds(phase.longest),
        point_to_point: phase.layers.point_to_point,
        one_sided: phase.layers.one_sided,
        neighbourhood: phase.layers.neighbourhood,
        collectives: reported(phase.layers.collectives),
    }
}

/// The records, when those of all ranks are together. Of an `MPI_Alltoallv` each
/// rank tells what it sends: the class of the call's size is only known now. Where
/// the rank that counts the calls left no part, there was one at least.
fn reported(records: Records) -> Vec<Record> {
    let mut records = records.into_vec();
    for record in &mut records {
        record.calls = record.calls.max(1);
        if let Volume::Pairs(pairs) = &record.volume {
            let total = pairs
                .iter()
                .fold(0u64, |sum, pair| sum.saturating_add(pair.2));
            let ranks = record.group.len() as u64;
            let blocks = record.calls.saturating_mul(ranks * ranks);
            record.size_class = size_class(total / blocks.max(1));
        }
    }
    records
}

/// The machines, in the order of their first process.
fn hosts(ranks: usize, host_of_process: &BTreeMap<u32, String>) -> Vec<Host> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut known = BTreeMap::new();
    for process in 0..ranks {
        let name = host_of_process
            .get(&(process as u32))
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

/// Gives the phase that went on what is in no other, and takes what is left out
/// of the whole.
fn close_phases(part: &mut Part) {
    let Some(mut open) = part.open_phase.take() else {
        return;
    };
    open.counted = part.counted.clone();
    open.collectives = part.collectives.clone();
    for phase in &part.phases {
        subtract(&mut open.counted, &phase.counted);
        open.collectives = open.collectives.since(&phase.collectives);
    }
    let same = |phase: &&mut Phase| phase.name == open.name && phase.left_out == open.left_out;
    match part.phases.iter_mut().find(same) {
        Some(phase) => {
            phase.span.extend(open.span);
            for (key, traffic) in open.counted {
                *phase.counted.entry(key).or_default() += traffic;
            }
            for record in open.collectives.into_vec() {
                phase.collectives.add(record);
            }
        }
        None => part.phases.push(open),
    }
    for phase in part.phases.iter().filter(|phase| phase.left_out) {
        subtract(&mut part.counted, &phase.counted);
        part.collectives = part.collectives.since(&phase.collectives);
    }
}

fn subtract(from: &mut BTreeMap<(Kind, u32), Traffic>, what: &BTreeMap<(Kind, u32), Traffic>) {
    for (key, traffic) in what {
        if let Some(there) = from.get_mut(key) {
            *there = less(*there, *traffic);
        }
    }
    from.retain(|_, traffic| !traffic.is_none());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::affinity::collective::Operation;
    use crate::files::parts::Span;

    fn part(rank: u32, counted: &[(u32, u64)]) -> Part {
        Part {
            process: 1 - rank,
            rank,
            host: format!("node{rank}"),
            counted: messages(counted),
            ..Part::default()
        }
    }

    fn messages(counted: &[(u32, u64)]) -> BTreeMap<(Kind, u32), Traffic> {
        let key = |&(partner, bytes): &(u32, u64)| {
            ((Kind::PointToPoint, partner), Traffic::new(1, bytes))
        };
        counted.iter().map(key).collect()
    }

    fn phase(name: &str, left_out: bool, counted: &[(u32, u64)]) -> Phase {
        Phase {
            name: name.into(),
            span: Span {
                start: 1_000_000_000,
                end: 3_000_000_000,
                length: 500_000_000,
            },
            left_out,
            counted: messages(counted),
            ..Phase::default()
        }
    }

    fn two_ranks() -> Merger {
        Merger::new(RunDescription {
            ranks: 2,
            ..RunDescription::default()
        })
    }

    #[test]
    fn ranks_and_processes_are_told_apart() {
        let mut merger = two_ranks();
        merger.add(part(0, &[(1, 10)])).unwrap();
        merger.add(part(1, &[])).unwrap();
        let profile = merger.finish().profile;
        assert_eq!(profile.process_of_rank, [1, 0]);
        assert_eq!(profile.hosts[0].name, "node1");
        assert_eq!(profile.point_to_point.get(0, 1), Traffic::new(1, 10));
        assert!(profile.missing_ranks.is_empty() && profile.phases.is_empty());
    }

    #[test]
    fn the_phase_that_goes_on_has_what_no_other_has() {
        let mut merger = two_ranks();
        let mut whole = part(0, &[(0, 5), (1, 30)]);
        whole.phases = vec![phase("1", false, &[(0, 5)])];
        whole.open_phase = Some(phase("2", false, &[]));
        merger.add(whole).unwrap();
        let profile = merger.finish().profile;
        let of_phase: Vec<_> = profile
            .phases
            .iter()
            .map(|phase| (&*phase.name, phase.point_to_point.total().bytes))
            .collect();
        assert_eq!(of_phase, [("1", 5), ("2", 30)]);
        assert_eq!(profile.phases[0].seconds, 0.5);
        assert_eq!(profile.phases[0].end_seconds, 3.0);
    }

    #[test]
    fn a_phase_that_comes_back_at_the_end_is_one_phase() {
        let mut merger = two_ranks();
        let mut whole = part(0, &[(0, 5), (1, 30)]);
        whole.phases = vec![phase("1", false, &[(0, 5)])];
        whole.open_phase = Some(phase("1", false, &[]));
        merger.add(whole).unwrap();
        let phases = merger.finish().profile.phases;
        assert_eq!(phases.len(), 1);
        assert_eq!(phases[0].point_to_point.total().bytes, 35);
        assert_eq!(phases[0].seconds, 1.0);
    }

    #[test]
    fn what_is_left_out_is_in_no_matrix() {
        let mut merger = two_ranks();
        let record = |calls| Record {
            operation: Operation::Bcast,
            group: vec![0, 1],
            root: Some(0),
            size_class: 3,
            calls,
            volume: Volume::Uniform(4 * calls),
        };
        let mut whole = part(0, &[(0, 5), (1, 30)]);
        whole.collectives.add(record(3));
        whole.phases = vec![phase("0", true, &[(1, 30)])];
        whole.phases[0].collectives.add(record(1));
        whole.open_phase = Some(phase("1", false, &[]));
        merger.add(whole).unwrap();
        let profile = merger.finish().profile;
        assert_eq!(profile.point_to_point.total().bytes, 5);
        assert_eq!(profile.collectives, [record(2)]);
        assert_eq!(profile.phases.len(), 1);
        assert_eq!(profile.phases[0].collectives, [record(2)]);
    }
}
