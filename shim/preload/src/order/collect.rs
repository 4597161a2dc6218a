//! Logs of all ranks: from one file at the start of a replay, to one file at the end of a recorded
//! run.

use std::path::{Path, PathBuf};

use once_cell::sync::OnceCell;
use treepie_core::files::order::{
    Program, decode_log, directory_of, encode_log, remove_directory, start_of_file, write_bodies,
};
use treepie_core::files::partial_profiles::RunDescription;
use treepie_core::order::Log;

use super::journal::{self, Journal};
use super::recording::Recording;
use super::{WORK, Work, replaying};
use crate::features::{self, ORDER};
use crate::log;
use crate::mpi::native::Native;
use crate::share::{Group, Members, ShareError, gather_bytes, share};

/// What is recorded of a job, alike on all ranks.
struct Job {
    order: PathBuf,
    run: RunDescription,
    program: Program,
}

static JOB: OnceCell<Job> = OnceCell::new();

/// Records the order of this rank from now on. A rank that can't is told of, and harms nobody.
pub fn record(order: PathBuf, run: RunDescription, program: Program, rank: usize) {
    match Journal::create(&order, start_of_file(&run, &program), rank) {
        Ok(journal) => {
            let recording = Recording::new(rank, journal);
            *WORK.lock() = Some(Work::Recording(recording));
            features::begin(ORDER);
        }
        Err(problem) => {
            log::error(&format!(
                "rank {rank}: order: {}: {problem}; the order of this rank is not recorded",
                directory_of(&order).display()
            ));
            journal::remove(&order, rank);
        }
    }
    let _ = JOB.set(Job {
        order,
        run,
        program,
    });
}

/// Sends each process the log of its rank; `logs` are those of all ranks, on process 0, and
/// `rank_of` says which rank a process has. Collective.
///
/// # Errors
/// A native call that failed; a log that this process cannot read.
pub fn distribute(
    processes: &Members<'_>,
    logs: Option<&[Log]>,
    rank_of: impl Fn(usize) -> usize,
) -> Result<Log, ShareError> {
    let own = match logs {
        Some(logs) => {
            for process in 1..processes.size() {
                let rank = rank_of(process);
                let bytes = logs
                    .get(rank)
                    .map(|log| encode_log(rank, log))
                    .unwrap_or_default();
                processes.send(process, &(bytes.len() as u64).to_le_bytes())?;
                processes.send(process, &bytes)?;
            }
            logs.get(rank_of(0)).cloned()
        }
        None => {
            let mut length = [0; size_of::<u64>()];
            processes.receive(0, &mut length)?;
            let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
            processes.receive(0, &mut bytes)?;
            decode_log(&bytes)
        }
    };
    // All have one, or none goes on.
    let verdicts = processes.allgather(u8::from(own.is_some()))?;
    let missing = verdicts
        .iter()
        .position(|&verdict| verdict == 0)
        .unwrap_or(0);
    own.filter(|_| !verdicts.contains(&0))
        .ok_or(ShareError::Elsewhere { rank: missing })
}

/// The end of the job: the order is written, or the replay is checked. Collective where it is
/// recorded.
///
/// # Errors
/// A native call that failed.
pub fn finish(native: &Native) -> Result<(), ShareError> {
    features::end(ORDER);
    if replaying().is_some() {
        super::replaying::finish();
    }
    let Some(job) = JOB.get() else { return Ok(()) };
    let (rank, body) = match &mut *WORK.lock() {
        Some(Work::Recording(recording)) => (Some(recording.rank), recording.end()),
        _ => (None, Vec::new()),
    };
    // Messages that the application never received are still on the world.
    let private = native.split(native.world, native.rank(native.world)?)?;
    native.return_errors(private.handle())?;
    let processes = Members::new(native, private.handle())?;
    let bodies = gather_bytes(&processes, body)?;
    let mut is_written = None;
    if processes.rank() == 0 {
        let written = write_bodies(&job.order, &job.run, &job.program, &bodies);
        if let Err(error) = &written {
            log::error(&format!(
                "order: {error}; the logs of the ranks are left beside it"
            ));
        }
        is_written = Some(written.is_ok());
    }
    if share(&processes, is_written)? {
        if let Some(rank) = rank {
            journal::remove(&job.order, rank);
        }
        if processes.rank() == 0 {
            log::info(&format!("the order is in {}", job.order.display()));
        }
    }
    Ok(())
}

/// Removes what is left of an earlier run at this name.
pub fn clear(order: &Path) {
    remove_directory(&directory_of(order));
}
