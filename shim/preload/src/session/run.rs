//! Description of this run, as files have it.

use std::env;
use std::time::SystemTime;

use treepie_base::date;
use treepie_mpi::abi::Family;
use treepie_mpi::native::Native;
use treepie_profile::MpiDescription;
use treepie_profile::partial_profiles::RunDescription;
use treepie_profile::settings::RUN_VARIABLE;

/// Describes the run with what is known now.
pub(super) fn describe(native: &Native, ranks: usize, notes: Vec<String>) -> RunDescription {
    RunDescription {
        run: run_number(),
        ranks,
        producer: producer(),
        date: date(SystemTime::now()),
        mpi: MpiDescription {
            family: family_name(native).to_owned(),
            library: native.library_version(),
            standard: native.standard_version(),
        },
        command: command(),
        notes,
        locality: None,
    }
}

/// Returns the number that the command gave this run.
pub(super) fn given_number() -> Option<u64> {
    let text = env::var(RUN_VARIABLE).ok()?;
    u64::from_str_radix(&text, 16).ok()
}

/// Returns the name of the MPI's family in files.
pub fn family_name(native: &Native) -> &'static str {
    match native.abi.family {
        Family::OpenMpi => "open-mpi",
        Family::Mpich => "mpich",
        Family::Standard => "standard-abi",
    }
}

/// Returns a number that other runs do not have: from the time and the process.
pub(super) fn run_number() -> u64 {
    let nanoseconds = treepie_base::since_epoch(SystemTime::now()).as_nanos() as u64;
    let process = u64::from(std::process::id());
    (nanoseconds ^ process.rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Returns the producer of files: this program and its version.
pub(super) fn producer() -> String {
    format!("treepie {}", env!("CARGO_PKG_VERSION"))
}

/// Returns the job's name at its scheduler, or this process's number.
pub(super) fn job() -> String {
    [
        "SLURM_JOB_ID",
        "PBS_JOBID",
        "LSB_JOBID",
        "PJM_JOBID",
        "JOB_ID",
    ]
    .iter()
    .find_map(|name| env::var(name).ok())
    .filter(|job| !job.is_empty() && !job.contains('/'))
    .unwrap_or_else(|| std::process::id().to_string())
}

/// Returns the command line of this process.
pub(super) fn command() -> Vec<String> {
    env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}
