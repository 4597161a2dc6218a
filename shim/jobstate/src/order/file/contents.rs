//! Order of receives of a job: its run, its program, and the logs of its ranks.

use std::collections::BTreeMap;
use std::path::Path;

use treepie_base::budget::draw;
use treepie_base::printable::one_line;
use treepie_base::{FileError, List, Rank, input, write_atomically};
use treepie_profile::partial_profiles::RunDescription;

use super::error::OrderError;
use super::frame::{Frame, FrameKind, Frames, MAGIC, frame};
use super::program::Program;
use crate::order::entry::Damaged;
use crate::order::log::{Ended, Log, Totals, compress};

/// Order of receives of a job.
#[derive(Debug, Clone)]
pub struct Order {
    /// Description of the run.
    pub run: RunDescription,
    /// Program of the run.
    pub program: Program,
    /// Log of each rank of the application's world; empty for a rank without one.
    pub logs: List<Rank, Log>,
}

/// Returns the first bytes of a file of a run.
pub fn start_of_file(run: &RunDescription, program: &Program) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let described = postcard::to_allocvec(run).unwrap_or_default();
    frame(&mut bytes, FrameKind::Run, &described);
    let described = postcard::to_allocvec(program).unwrap_or_default();
    frame(&mut bytes, FrameKind::Program, &described);
    bytes
}

/// Returns the bytes before the blocks of a rank.
pub fn start_of_rank(rank: Rank) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame(&mut bytes, FrameKind::Rank, &(rank.0 as u64).to_le_bytes());
    bytes
}

/// Returns a compressed block of entries.
pub fn block(entries: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame(&mut bytes, FrameKind::Block, &compress(entries));
    bytes
}

/// Returns the bytes after the blocks of a rank that reached `MPI_Finalize`.
pub fn end_of_rank(totals: &Totals) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoded = postcard::to_allocvec(totals).unwrap_or_default();
    frame(&mut bytes, FrameKind::End, &encoded);
    bytes
}

/// Encodes a log as bytes, for another process.
pub fn encode_log(rank: Rank, log: &Log) -> Vec<u8> {
    let mut bytes = start_of_rank(rank);
    for block in log.blocks() {
        frame(&mut bytes, FrameKind::Block, block);
    }
    if let Ended::Well(totals) = log.ended() {
        bytes.extend(end_of_rank(&totals));
    }
    bytes
}

/// Decodes a log from [`encode_log`]; `None` for other bytes.
pub fn decode_log(bytes: &[u8]) -> Option<Log> {
    let mut logs = Logs::default();
    for frame in Frames::new(bytes) {
        logs.add(frame.ok()?)?;
    }
    let (_, parts) = logs.ranks.pop_first()?;
    parts.log().ok()
}

/// Blocks of a rank, and its end.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) blocks: Vec<Vec<u8>>,
    pub(super) totals: Option<Totals>,
}

impl Parts {
    pub(super) fn log(self) -> Result<Log, Damaged> {
        let ended = self.totals.map_or(Ended::Early, Ended::Well);
        Log::new(self.blocks, ended)
    }
}

/// Contents of frames.
#[derive(Debug, Default)]
pub(super) struct Logs {
    pub(super) run: Option<RunDescription>,
    pub(super) program: Option<Program>,
    pub(super) ranks: BTreeMap<Rank, Parts>,
    /// Rank of the following frames.
    pub(super) rank: Option<Rank>,
}

impl Logs {
    /// Adds a frame; `None` if it is invalid at this point.
    pub(super) fn add(&mut self, frame: Frame<'_>) -> Option<()> {
        match frame.kind {
            FrameKind::Run => self.run = Some(RunDescription::take_from_bytes(frame.bytes)?.0),
            FrameKind::Program => {
                let program: Program = postcard::from_bytes(frame.bytes).ok()?;
                self.program = Some(Program {
                    name: one_line(&program.name),
                    build: program.build.as_deref().map(one_line),
                });
            }
            FrameKind::Rank => {
                let rank = u64::from_le_bytes(*frame.bytes.first_chunk()?);
                let rank = Rank(usize::try_from(rank).ok()?);
                self.ranks.entry(rank).or_default();
                self.rank = Some(rank);
            }
            FrameKind::Block => self.parts()?.blocks.push(frame.bytes.to_vec()),
            FrameKind::End => self.parts()?.totals = Some(postcard::from_bytes(frame.bytes).ok()?),
        }
        Some(())
    }

    /// Returns the parts of the rank whose frames follow.
    pub(super) fn parts(&mut self) -> Option<&mut Parts> {
        self.ranks.get_mut(&self.rank?)
    }

    pub(super) fn order(self, path: &Path) -> Result<Order, OrderError> {
        let strange = || OrderError::Strange {
            path: path.to_owned(),
        };
        let run = self.run.ok_or_else(strange)?;
        let mut logs: List<Rank, Option<Log>> = List::new();
        draw("ranks", run.ranks, RANK).map_err(|problem| FileError::at(path, 0, problem))?;
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
        let logs: Result<_, Damaged> = logs.collect();
        // An order of the previous version has none.
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

/// Minimum bytes of memory for the log of a rank.
const RANK: usize = 2 * size_of::<Log>();

/// Maximum size of an order in bytes.
pub(super) const LARGEST: u64 = 1 << 34;

/// True if the file begins like an order.
pub fn is_order(path: &Path) -> bool {
    input::starts_with(path, MAGIC)
}

impl Order {
    /// Writes it.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), OrderError> {
        let logs = self.logs.iter_enumerated();
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
        match self.logs.position(Log::has_threads) {
            Some(rank) => Err(OrderError::Threads {
                path: path.to_owned(),
                rank,
            }),
            None => Ok(()),
        }
    }

    /// Checks that it belongs to this program: the same build, or the same name.
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

    /// Checks that it belongs to this build of the program. Builds for MPIs of different families
    /// are never equal, and are not compared.
    ///
    /// # Errors
    /// Another build for the same family, if both are known.
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

    /// Returns the ranks whose logs end before `MPI_Finalize`.
    pub fn early(&self) -> Vec<Rank> {
        let early = |(_, log): &(Rank, &Log)| log.ended() == Ended::Early;
        let ranks = self.logs.iter_enumerated().filter(early);
        ranks.map(|(rank, _)| rank).collect()
    }
}

/// Writes an order from the bytes of its ranks: for each, those of [`start_of_rank`], [`block`] and
/// [`end_of_rank`].
///
/// # Errors
/// A file that cannot be written.
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

/// Returns the name of the file of a command's program.
fn file_name(command: &[String]) -> String {
    let file = command.first().map(|word| Path::new(word).file_name());
    let name = file.flatten().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
