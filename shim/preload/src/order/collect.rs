//! Logs of all ranks: read from one file at the start of a replay, written to one file at the end
//! of a recorded run.

use std::fs;
use std::path::{Path, PathBuf};

use once_cell::sync::OnceCell;
use treepie_base::own_directory::NotOwn;
use treepie_base::{Process, Rank, Slice};
use treepie_jobstate::order::Log;
use treepie_jobstate::order::file::{
    Program, decode_log, directory_of, encode_log, remove_directory, start_of_file, write_bodies,
};
use treepie_mpi::native::Native;
use treepie_mpi::share::{
    BoundedMembers, Group, Members, ShareError, gather_bytes, gather_to_all, share,
};
use treepie_process::features::{self, ORDER};
use treepie_process::log;
use treepie_process::machine::{WRITING, within};
use treepie_profile::partial_profiles::RunDescription;

use super::journal::{HostFiles, Journal};
use super::recording::Recording;
use super::work::{WORK, Work, replaying};

/// Recording of a job.
struct Job {
    order: PathBuf,
    run: RunDescription,
    program: Program,
    /// The files of this host, if this process created them.
    files: Option<HostFiles>,
}

static JOB: OnceCell<Job> = OnceCell::new();

impl Job {
    /// Writes the order; true on success.
    fn write(&'static self, bodies: Vec<u8>) -> bool {
        let work = move || write_bodies(&self.order, &self.run, &self.program, &bodies);
        let problem = match within(WRITING, "writing the order", work) {
            Some(Ok(())) => return true,
            Some(Err(error)) => error.to_string(),
            None => {
                let (path, seconds) = (self.order.display(), WRITING.as_secs());
                format!("{path}: could not be written within {seconds} s")
            }
        };
        log::error(&format!(
            "order: {problem}; the logs of the ranks are left beside it"
        ));
        false
    }
}

/// Returns the identity of a host, the same on all its processes: its kernel and its name.
fn host(native: &Native) -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!("{} {}", boot.trim(), native.processor_name())
}

/// Records the order of this rank from now on, in files that the ranks of a host share. A rank that
/// cannot record gets a warning, and the others continue. Collective over the native world.
///
/// # Errors
/// Those of [`gather_to_all`].
pub fn record(
    native: &Native,
    processes: &Members<'_>,
    (order, run, program): (PathBuf, RunDescription, Program),
    rank: Rank,
) -> Result<(), ShareError> {
    let own = host(native);
    let all = gather_to_all(processes, &(own.clone(), rank))?;
    let here = all.iter().filter(|(host, _)| *host == own);
    let mut ranks: Vec<Rank> = here.map(|&(_, rank)| rank).collect();
    ranks.sort_unstable();
    let files = HostFiles::new(&order, &ranks);
    let failed = |whose: &str, problem: NotOwn| {
        let directory = directory_of(&order);
        log::error(&format!(
            "rank {rank}: order: {}: {problem}; the order of {whose} is not recorded",
            directory.display()
        ));
    };
    let place = ranks.partition_point(|&other| other < rank);
    let made = match place {
        0 => files.create(&start_of_file(&run, &program)),
        _ => Ok(()),
    };
    let is_made = made.is_ok();
    if let Err(problem) = made {
        failed("this host's ranks", problem);
    }
    let verdicts = processes.allgather(u8::from(is_made))?;
    let mut of_host = all
        .iter()
        .zip(verdicts)
        .filter(|((host, _), _)| *host == own);
    let has_files = of_host.all(|(_, is_made)| is_made != 0);
    if has_files {
        match Journal::begin(&files, rank, place) {
            Ok(journal) => {
                let recording = Recording::new(rank, journal);
                *WORK.lock() = Some(Work::Recording(recording));
                features::begin(ORDER);
            }
            Err(problem) => failed("this rank", problem),
        }
    }
    let _ = JOB.set(Job {
        order,
        run,
        program,
        files: (place == 0 && has_files).then_some(files),
    });
    Ok(())
}

/// Sends each process the log of its rank; process 0 has the logs of all ranks, and the rank of
/// each process. Collective.
///
/// # Errors
/// A native call that failed; a log that this process cannot read.
pub fn distribute(
    processes: &Members<'_>,
    logs: Option<&Slice<Rank, Log>>,
    rank_of: impl Fn(Process) -> Rank,
) -> Result<Log, ShareError> {
    let own = match logs {
        Some(logs) => {
            for process in 1..processes.size() {
                let rank = rank_of(Process(process));
                let bytes = logs
                    .get(rank)
                    .map(|log| encode_log(rank, log))
                    .unwrap_or_default();
                processes.send(process, &(bytes.len() as u64).to_le_bytes())?;
                processes.send(process, &bytes)?;
            }
            logs.get(rank_of(Process(0))).cloned()
        }
        None => {
            let mut length = [0; size_of::<u64>()];
            processes.receive(0, &mut length)?;
            let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
            processes.receive(0, &mut bytes)?;
            decode_log(&bytes)
        }
    };
    // All ranks have a log, or none continues.
    let verdicts = processes.allgather(u8::from(own.is_some()))?;
    let missing = verdicts
        .iter()
        .position(|&verdict| verdict == 0)
        .unwrap_or(0);
    own.filter(|_| !verdicts.contains(&0))
        .ok_or(ShareError::Elsewhere { rank: missing })
}

/// Ends the recording or replay on this process: checks the replay, or completes the log.
pub fn end() {
    features::end(ORDER);
    if replaying().is_some() {
        super::replayed::finish();
    }
    if let Some(Work::Recording(recording)) = &mut *WORK.lock() {
        recording.end();
    }
}

/// Writes the recorded order, if there is one. Collective over all processes, after [`end`].
///
/// # Errors
/// A native call that failed; a process that does not answer.
pub fn write(processes: &BoundedMembers<'_>) -> Result<(), ShareError> {
    let Some(job) = JOB.get() else { return Ok(()) };
    // All logs are complete.
    processes.allgather(0)?;
    let body = job.files.as_ref().map(HostFiles::bodies).transpose();
    let is_read = body.is_ok();
    let body = body.unwrap_or_else(|error| {
        log::error(&format!(
            "order: {error}; the order lacks this host's ranks"
        ));
        None
    });
    let bodies = gather_bytes(processes, body.unwrap_or_default())?;
    let is_written = (processes.rank() == 0).then(|| job.write(bodies));
    if share(processes, is_written)? {
        if let Some(files) = job.files.as_ref().filter(|_| is_read) {
            files.remove();
        }
        if processes.rank() == 0 {
            log::info(&format!("the order is in {}", job.order.display()));
        }
    }
    Ok(())
}

/// Removes files of an earlier run with this name.
pub fn clear(order: &Path) {
    remove_directory(&directory_of(order));
}
