//! Signals that reach `treepie` while a real launcher runs a job: they end the job, its status is
//! returned, and the counts are kept.

use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use treepie_profile::Profile;
use treepie_tests::{Mpi, Outcome, artifacts, run_watched};

const RANKS: usize = 2;

/// Starts the command of its arguments, sends it a signal when all ranks report that they wait, and
/// ends with the status of the command.
const SENT_A_SIGNAL: &str = "\
signal=$1 ranks=$2; shift 2
\"$@\" >said &
until [ \"$(grep -c waiting said)\" = \"$ranks\" ]; do
    kill -0 $! 2>/dev/null || exit 99
    sleep 0.05
done
kill -s \"$signal\" $!
wait $!
";

/// End of `words` and the waiting job after them, after a signal.
fn sent(signal: &str, mpi: Mpi, words: &[OsString]) -> Outcome {
    let mut command = Command::new("bash");
    command
        .args(["-c", SENT_A_SIGNAL, "bash", signal, &RANKS.to_string()])
        .args(words)
        .args(mpi.launch(RANKS, &[]))
        .arg(artifacts::job(mpi, "endings"))
        .arg("wait");
    let what = format!("SIG{signal} under {mpi}");
    run_watched(command, Duration::from_secs(60), &what)
}

/// Under Open MPI: Hydra 4.0 itself ends with 0, 2 or 15 after a signal, or waits for the job, in
/// varying ways, so that there is no reference for its status.
#[test]
fn a_job_that_is_told_to_end_ends_as_without_treepie_and_its_profile_is_kept() {
    let mpi = Mpi::OpenMpi;
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    for signal in ["TERM", "INT"] {
        let profile = directory.path().join("app.profile.yaml");
        let command = artifacts::command();
        let words = [
            command.as_os_str(),
            "profile".as_ref(),
            "-o".as_ref(),
            profile.as_os_str(),
            "--".as_ref(),
        ];
        let plain = sent(signal, mpi, &[]);
        let outcome = sent(signal, mpi, &words.map(OsString::from));
        // The status of launchers differs.
        assert_eq!(ended(&outcome), ended(&plain), "{}", outcome.told());
        let kept = Profile::read(&profile);
        let kept = kept.unwrap_or_else(|error| panic!("{error}: {}", outcome.told()));
        assert_eq!(kept.ranks, RANKS);
        let told = (RANKS - kept.missing_ranks.len()) * 5;
        let counted = kept.point_to_point.total().messages;
        assert_eq!(counted, told as u64, "{}", outcome.told());
        assert!(told > 0, "{}", outcome.told());
        std::fs::remove_file(&profile).expect("it was written");
    }
}

/// The status as seen by a shell.
fn ended(outcome: &Outcome) -> Option<i32> {
    let code = outcome.status.code();
    assert_ne!(code, Some(99), "never waited: {}", outcome.told());
    code
}
