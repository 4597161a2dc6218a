//! Other accounts of a job, taken below MPI's interface: the counts of Open MPI's own monitoring
//! component, and MPICH's sends through UCX.

use crate::{Job, Outcome, artifacts};
use std::path::Path;
use treepie_traffic::formats::monitoring::{self, Monitoring};

/// Runs a job of Open MPI with its monitoring on, and reads its output.
///
/// Sends of collectives are distinguished from those of the application.
///
/// # Panics
/// Panics if the job fails, or nothing was written.
#[track_caller]
pub fn monitored(job: Job) -> (Outcome, Monitoring) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let prefix = directory.path().join("counted");
    let outcome = job
        .variable("OMPI_MCA_pml_monitoring_enable", 2)
        .variable("OMPI_MCA_pml_monitoring_enable_output", 3)
        .variable("OMPI_MCA_pml_monitoring_filename", prefix.display())
        .run()
        .succeeded();
    let counted = read(directory.path(), &outcome);
    (outcome, counted)
}

/// Runs a job of MPICH, each rank as if it were alone on its node, and counts its sends through UCX
/// (`tests/stand-ins/ucx_counts.c`); all of them are counted as collectives.
///
/// # Panics
/// Panics if the job fails, or nothing was written.
#[track_caller]
pub fn sent_through_ucx(job: Job) -> (Outcome, Monitoring) {
    sent_with_preloads("", job)
}

/// Counts sends like [`sent_through_ucx`], with our library in front, whose own messages are
/// counted, too.
///
/// # Panics
/// Panics if the job fails, or nothing was written.
#[track_caller]
pub fn sent_through_ucx_behind_library(job: Job) -> (Outcome, Monitoring) {
    sent_with_preloads(&format!("{}:", artifacts::library().display()), job)
}

#[track_caller]
fn sent_with_preloads(before: &str, job: Job) -> (Outcome, Monitoring) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let prefix = directory.path().join("counted");
    let counter = artifacts::job(job.mpi(), "ucx_counts.so");
    let outcome = job
        .variable("LD_PRELOAD", format!("{before}{}", counter.display()))
        .variable("MPIR_CVAR_NOLOCAL", 1)
        // MPICH 5 of PyPI also has libfabric.
        .variable("MPIR_CVAR_CH4_NETMOD", "ucx")
        .variable("SENT_THROUGH_UCX", prefix.display())
        .run()
        .succeeded();
    let counted = read(directory.path(), &outcome);
    (outcome, counted)
}

#[track_caller]
fn read(directory: &Path, outcome: &Outcome) -> Monitoring {
    let text = all_ranks(directory);
    monitoring::read(text.as_bytes(), "counted.prof")
        .unwrap_or_else(|error| panic!("{error}: {}", outcome.told()))
}

/// The concatenated files of all ranks.
#[track_caller]
fn all_ranks(directory: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(directory).expect("it was just made") {
        let path = entry.expect("it was just made").path();
        if path.extension().is_some_and(|ending| ending == "prof") {
            text += &std::fs::read_to_string(path).expect("it was just written");
        }
    }
    text
}
