//! The order of receives of a job as a file: what ran, and the log of each rank.
//!
//! ```text
//! treepie order 1                     frames: kind, length, CRC-32, bytes
//! run, program                        descriptions of the run and of its program
//! rank, block ..., end                for each rank; no end where it ended early
//! ```
//!
//! While the job runs, each host has such a file in `X.parts` beside the order `X`, to which its
//! ranks append blocks as they get full, each behind its rank; and a file of `tails`, of entries
//! that are in no block yet: memory of the system's, which outlives the processes. An order is put
//! together of them when the job has ended, however it ended.

mod directory;
mod error;
mod frame;
mod program;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use crate::order::{Damaged, Ended, Log, Totals};
pub use directory::{
    TAIL, TAIL_HEAD, block_file, bodies_of_host, directory_of, is_directory, read_directory,
    remove_directory, tail_file,
};
pub use error::OrderError;
use frame::{Frame, Frames, Kind, MAGIC, frame};
pub use program::Program;
use treepie_base::{FileError, input, write_atomically};
use treepie_profile::partial_profiles::RunDescription;

/// The order of receives of a job.
#[derive(Debug, Clone)]
pub struct Order {
    /// The run.
    pub run: RunDescription,
    /// Its program.
    pub program: Program,
    /// The log of each rank of the application's world. One that left none has an empty one.
    pub logs: Vec<Log>,
}

/// The first bytes of a file of a run.
pub fn start_of_file(run: &RunDescription, program: &Program) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let described = postcard::to_allocvec(run).unwrap_or_default();
    frame(&mut bytes, Kind::Run, &described);
    let described = postcard::to_allocvec(program).unwrap_or_default();
    frame(&mut bytes, Kind::Program, &described);
    bytes
}

/// What stands before the blocks of a rank.
pub fn start_of_rank(rank: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame(&mut bytes, Kind::Rank, &(rank as u64).to_le_bytes());
    bytes
}

/// A block of entries, which is compressed.
pub fn block(entries: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame(&mut bytes, Kind::Block, &crate::order::compress(entries));
    bytes
}

/// What stands behind the blocks of a rank that reached `MPI_Finalize`.
pub fn end_of_rank(totals: &Totals) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoded = postcard::to_allocvec(totals).unwrap_or_default();
    frame(&mut bytes, Kind::End, &encoded);
    bytes
}

/// A log as bytes, for another process.
pub fn encode_log(rank: usize, log: &Log) -> Vec<u8> {
    let mut bytes = start_of_rank(rank);
    for block in log.blocks() {
        frame(&mut bytes, Kind::Block, block);
    }
    if let Ended::Well(totals) = log.ended() {
        bytes.extend(end_of_rank(&totals));
    }
    bytes
}

/// The log that [`encode_log`] made bytes of; `None` for others.
pub fn decode_log(bytes: &[u8]) -> Option<Log> {
    let mut logs = Logs::default();
    for frame in Frames::new(bytes) {
        logs.add(frame.ok()?)?;
    }
    let (_, parts) = logs.ranks.pop_first()?;
    parts.log().ok()
}

/// The blocks of a rank and how it ended.
#[derive(Debug, Default)]
struct Parts {
    blocks: Vec<Vec<u8>>,
    totals: Option<Totals>,
}

impl Parts {
    fn log(self) -> Result<Log, Damaged> {
        let ended = self.totals.map_or(Ended::Early, Ended::Well);
        Log::new(self.blocks, ended)
    }
}

/// What frames say.
#[derive(Debug, Default)]
struct Logs {
    run: Option<RunDescription>,
    program: Option<Program>,
    ranks: BTreeMap<usize, Parts>,
    /// The rank that what follows is of.
    rank: Option<usize>,
}

impl Logs {
    /// Adds a frame; `None` where it does not belong there.
    fn add(&mut self, frame: Frame<'_>) -> Option<()> {
        match frame.kind {
            Kind::Run => self.run = Some(postcard::from_bytes(frame.bytes).ok()?),
            Kind::Program => self.program = Some(postcard::from_bytes(frame.bytes).ok()?),
            Kind::Rank => {
                let rank = u64::from_le_bytes(*frame.bytes.first_chunk()?);
                let rank = usize::try_from(rank).ok()?;
                self.ranks.entry(rank).or_default();
                self.rank = Some(rank);
            }
            Kind::Block => self.parts()?.blocks.push(frame.bytes.to_vec()),
            Kind::End => self.parts()?.totals = Some(postcard::from_bytes(frame.bytes).ok()?),
        }
        Some(())
    }

    /// What is known of the rank whose frames come now.
    fn parts(&mut self) -> Option<&mut Parts> {
        self.ranks.get_mut(&self.rank?)
    }

    fn order(self, path: &Path) -> Result<Order, OrderError> {
        let strange = || OrderError::Strange {
            path: path.to_owned(),
        };
        let run = self.run.ok_or_else(strange)?;
        let mut logs: Vec<Option<Log>> = Vec::new();
        if run.ranks > MOST_RANKS {
            return Err(strange());
        }
        logs.resize_with(run.ranks, || None);
        for (rank, parts) in self.ranks {
            let slot = logs.get_mut(rank).ok_or_else(strange)?;
            let log = parts.log().map_err(|problem| OrderError::Log {
                path: path.to_owned(),
                rank,
                problem,
            })?;
            *slot = Some(log);
        }
        let logs = logs.into_iter().map(|log| match log {
            Some(log) => Ok(log),
            None => Log::new(Vec::new(), Ended::Early),
        });
        let logs: Result<Vec<Log>, Damaged> = logs.collect();
        // An order of the version before has none.
        let program = self.program.unwrap_or_else(|| Program {
            name: file_name(&run.command),
            build: None,
        });
        Ok(Order {
            run,
            program,
            logs: logs.map_err(|_| strange())?,
        })
    }
}

/// No job has more ranks.
const MOST_RANKS: usize = 1 << 26;

/// Bytes of the largest order.
const LARGEST: u64 = 1 << 34;

/// Whether the file begins as an order does.
pub fn is_order(path: &Path) -> bool {
    input::starts_with(path, MAGIC)
}

impl Order {
    /// Reads an order, or the logs that a job has left in a directory.
    ///
    /// # Errors
    /// A file that can't be read, or is none; logs of several runs.
    pub fn read(path: &Path) -> Result<Order, OrderError> {
        if path.is_dir() {
            return read_directory(path);
        }
        let bytes = input::bytes(path, LARGEST);
        let bytes = bytes.map_err(|error| FileError::reading(path, &error))?;
        let mut logs = Logs::default();
        let damaged = |at| OrderError::Damaged {
            path: path.to_owned(),
            at,
            length: bytes.len(),
        };
        let Some(body) = bytes.strip_prefix(MAGIC) else {
            return Err(OrderError::Strange {
                path: path.to_owned(),
            });
        };
        let mut at = MAGIC.len();
        for frame in Frames::new(body) {
            let frame = frame.map_err(|()| damaged(at))?;
            let length = frame.length();
            logs.add(frame).ok_or_else(|| damaged(at))?;
            at += length;
        }
        logs.order(path)
    }

    /// Writes it.
    ///
    /// # Errors
    /// A file that can't be written.
    pub fn write(&self, path: &Path) -> Result<(), OrderError> {
        let logs = self.logs.iter().enumerate();
        let bodies: Vec<Vec<u8>> = logs.map(|(rank, log)| encode_log(rank, log)).collect();
        Ok(write_bodies(
            path,
            &self.run,
            &self.program,
            &bodies.concat(),
        )?)
    }

    /// Checks that it is for a job of `ranks` ranks.
    ///
    /// # Errors
    /// Another number; a rank in which several threads received.
    pub fn check(&self, path: &Path, ranks: usize) -> Result<(), OrderError> {
        if self.run.ranks != ranks {
            return Err(OrderError::OtherRanks {
                path: path.to_owned(),
                recorded: self.run.ranks,
                ranks,
            });
        }
        match self.logs.iter().position(Log::has_threads) {
            Some(rank) => Err(OrderError::Threads {
                path: path.to_owned(),
                rank,
            }),
            None => Ok(()),
        }
    }

    /// Checks that it is of this program: one of the same build, or of the same name.
    ///
    /// # Errors
    /// Another program.
    pub fn check_program(&self, path: &Path, program: &Program) -> Result<(), OrderError> {
        let is_same_build = self.program.build.is_some() && self.program.build == program.build;
        if is_same_build || self.program.name == program.name {
            return Ok(());
        }
        Err(OrderError::OtherProgram {
            path: path.to_owned(),
            recorded: self.program.name.clone(),
            program: program.name.clone(),
        })
    }

    /// Checks that it is of this build of the program. A build for an MPI of another family is
    /// always another one.
    ///
    /// # Errors
    /// Another build for the same family, where both are known.
    pub fn check_build(
        &self,
        path: &Path,
        program: &Program,
        family: &str,
    ) -> Result<(), OrderError> {
        let builds = self.program.build.as_ref().zip(program.build.as_ref());
        match builds.filter(|(recorded, build)| recorded != build) {
            Some((recorded, build)) if self.run.mpi.family == family => {
                Err(OrderError::OtherBuild {
                    path: path.to_owned(),
                    program: program.name.clone(),
                    recorded: recorded.clone(),
                    build: build.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Ranks whose logs end before `MPI_Finalize`.
    pub fn early(&self) -> Vec<usize> {
        let early = |(_, log): &(usize, &Log)| log.ended() == Ended::Early;
        let ranks = self.logs.iter().enumerate().filter(early);
        ranks.map(|(rank, _)| rank).collect()
    }
}

/// Writes an order of the bytes of its ranks: for each, what [`start_of_rank`], [`block`] and
/// [`end_of_rank`] make.
///
/// # Errors
/// A file that can't be written.
pub fn write_bodies(
    path: &Path,
    run: &RunDescription,
    program: &Program,
    bodies: &[u8],
) -> Result<(), FileError> {
    let start = start_of_file(run, program);
    write_atomically(path, |file| {
        file.write_all(&start)?;
        file.write_all(bodies)
    })
}

/// The name of the file of a command's program.
fn file_name(command: &[String]) -> String {
    let file = command.first().map(|word| Path::new(word).file_name());
    let name = file.flatten().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
