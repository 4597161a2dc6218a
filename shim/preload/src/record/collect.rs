//! At the end of a job: every rank's part of the record, brought to process 0
//! along a binomial tree over a communicator of our own.

use std::collections::BTreeMap;

use treepie_core::affinity::TrafficMatrix;
use treepie_core::affinity::collective::Record;
use treepie_core::files::profile::Host as Machine;

use super::collectives::{self, Records};
use super::communicators;
use super::counters::{self, Kind};
use super::wire::Part;
use crate::api::Word;
use crate::api::host::{Host, HostError};
use crate::session::place::allowed_cores;

/// The whole record.
pub struct Collected {
    /// Point-to-point traffic, in the application's ranks.
    pub point_to_point: TrafficMatrix,
    /// One-sided traffic, in the application's ranks.
    pub one_sided: TrafficMatrix,
    /// Neighbourhood collectives, in the application's ranks.
    pub neighbourhood: TrafficMatrix,
    /// Collectives, their groups in the application's ranks.
    pub collectives: Vec<Record>,
    /// Host name of each process of the launcher's world.
    pub hosts: Vec<String>,
    /// The cores that each process of the launcher's world may run on.
    pub allowed_cores: Vec<String>,
    /// The process of the launcher's world that each application rank ran on.
    pub process_of_rank: Vec<usize>,
}

/// Fixes the world in whose ranks everything is counted, before counting begins.
///
/// # Errors
/// A call of the host's that failed.
pub fn prepare(host: &Host, world: Word) -> Result<(), HostError> {
    communicators::set_world(host, world)
}

/// The record, on process 0; nothing on the others. Collective.
///
/// # Errors
/// A call of the host's that failed.
pub fn collect(host: &Host, application_world: Word) -> Result<Option<Collected>, HostError> {
    let process = host.rank(host.world)?;
    communicators::put_all_away();
    let part = Part {
        process: process as u32,
        rank: host.rank(application_world)? as u32,
        host: host.processor_name(),
        allowed_cores: allowed_cores(),
        counted: counters::totals(),
        collectives: collectives::take_records().into_vec(),
    };
    let private = host.split(host.world, process)?;
    let bytes = host
        .return_errors(private)
        .and_then(|()| gather(host, private, part.encode()));
    host.free_communicator(private);
    let bytes = bytes?;
    if process != 0 {
        return Ok(None);
    }
    Ok(Part::decode_all(&bytes).map(|parts| Collected::from_parts(&parts)))
}

/// Sends what this rank and those below it in the tree have towards rank 0.
/// Round r joins ranks that differ in bit r: ceil(log2 ranks) rounds.
fn gather(host: &Host, comm: Word, mut bytes: Vec<u8>) -> Result<Vec<u8>, HostError> {
    let (rank, size) = (host.rank(comm)?, host.size(comm)?);
    let mut bit = 1;
    while bit < size {
        if rank & bit != 0 {
            host.send(comm, rank - bit, &(bytes.len() as u64).to_le_bytes())?;
            host.send(comm, rank - bit, &bytes)?;
            return Ok(Vec::new());
        }
        if rank + bit < size {
            let mut length = [0; 8];
            host.receive(comm, rank + bit, &mut length)?;
            let start = bytes.len();
            bytes.resize(start + u64::from_le_bytes(length) as usize, 0);
            host.receive(comm, rank + bit, &mut bytes[start..])?;
        }
        bit <<= 1;
    }
    Ok(bytes)
}

impl Collected {
    /// The machines, in the order of their first process.
    pub fn machines(&self) -> Vec<Machine> {
        let mut machines: Vec<Machine> = Vec::new();
        let mut known = BTreeMap::new();
        for (process, name) in self.hosts.iter().enumerate() {
            let at = *known.entry(name).or_insert(machines.len());
            if at == machines.len() {
                machines.push(Machine {
                    name: name.clone(),
                    processes: Vec::new(),
                });
            }
            machines[at].processes.push(process);
        }
        machines
    }

    fn from_parts(parts: &[Part]) -> Collected {
        let ranks = parts.len();
        let mut collected = Collected {
            point_to_point: TrafficMatrix::new(ranks),
            one_sided: TrafficMatrix::new(ranks),
            neighbourhood: TrafficMatrix::new(ranks),
            collectives: Vec::new(),
            hosts: vec![String::new(); ranks],
            allowed_cores: vec![String::new(); ranks],
            process_of_rank: vec![0; ranks],
        };
        let mut records = Records::default();
        let by_process: BTreeMap<u32, &Part> =
            parts.iter().map(|part| (part.process, part)).collect();
        for (process, part) in by_process.into_values().enumerate() {
            collected.hosts[process].clone_from(&part.host);
            collected.allowed_cores[process].clone_from(&part.allowed_cores);
            collected.process_of_rank[part.rank as usize] = process;
            for &(kind, partner, traffic) in &part.counted {
                let (own, partner) = (part.rank as usize, partner as usize);
                match kind {
                    Kind::PointToPoint => collected.point_to_point.add(own, partner, traffic),
                    Kind::Neighbourhood => collected.neighbourhood.add(own, partner, traffic),
                    Kind::Put => collected.one_sided.add(own, partner, traffic),
                    Kind::Got => collected.one_sided.add(partner, own, traffic),
                }
            }
            for record in &part.collectives {
                records.add(record.clone());
            }
        }
        collected.collectives = records.of_all_ranks();
        collected
    }
}
