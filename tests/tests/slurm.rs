//! Jobs started by Slurm's own `srun`, on a Slurm that exists during the test: the variables reach
//! the ranks, a placement is applied by every method, the job's status is returned, a job is run
//! again without the node on which a rank died or that has vanished, and a batch job is warned of
//! its end.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use treepie_profile::Profile;
use treepie_tests::hosts::places;
use treepie_tests::placements::of_two_ranks;
use treepie_tests::{Mpi, Outcome, artifacts, run_watched, under_each_mpi};

/// Plugin by which `srun` starts the ranks of an MPI.
fn plugin(mpi: Mpi) -> &'static str {
    match mpi {
        Mpi::OpenMpi => "--mpi=pmix",
        _ => "--mpi=pmi2",
    }
}

/// Runs a script of bash under a Slurm of this number of nodes: `$treepie`, `$jobs` and `$srun` are
/// set.
fn under_slurm(mpi: Mpi, nodes: usize, folder: &Path, script: &str) -> Outcome {
    // All are held until all are known, so that they differ.
    let bind = |_| TcpListener::bind("127.0.0.1:0").expect("ports are left");
    let ports: Vec<TcpListener> = (0..=nodes).map(bind).collect();
    let number = |port: TcpListener| port.local_addr().expect("it is bound").port().to_string();
    let ports: Vec<String> = ports.into_iter().map(number).collect();
    let job = artifacts::job(mpi, "where");
    let mut command = Command::new(artifacts::repository().join("tests/suites/slurm.sh"));
    command
        .arg(folder.join("slurm"))
        .args([&ports[0], &ports[1..].join(",")])
        .args(["bash", "-c", script])
        .current_dir(folder)
        .env("treepie", artifacts::command())
        .env("jobs", job.parent().unwrap_or(Path::new("/")))
        .env("srun", format!("srun {} -n 2", plugin(mpi)));
    run_watched(
        command,
        Duration::from_secs(90),
        &format!("Slurm with {mpi}"),
    )
}

fn jobs_of_srun_are_profiled_and_placed_and_keep_their_status(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let folder = directory.path();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux tells it");
    // Rank 0 on core 1, and rank 1 on core 0.
    of_two_ranks(folder, Some(host.trim()), [1, 0], [0, 1]);
    // srun reports a step that ends before all of it has started as one that never ran.
    let script = "\
        $treepie profile -o app.profile.yaml -- $srun $jobs/ring >/dev/null || exit\n\
        $treepie replay two.placement.yaml --apply launch -- $srun $jobs/where || exit\n\
        for how in both bind; do\n\
            $treepie replay two.placement.yaml --strict --apply $how -- $srun --cpu-bind=none $jobs/where || exit\n\
        done\n\
        $treepie profile -o failed.profile.yaml -- $srun bash -c 'sleep 1; exit 5'\n\
        echo status $?\n";
    let outcome = under_slurm(mpi, 1, folder, script).succeeded();
    let profile = Profile::read(&folder.join("app.profile.yaml"));
    let profile = profile.unwrap_or_else(|error| panic!("{error}: {}", outcome.told()));
    assert_eq!(profile.ranks, 2);
    assert!(profile.point_to_point.total().messages > 0);
    let cores: Vec<String> = places(&outcome)
        .into_iter()
        .map(|(_, cores)| cores)
        .collect();
    assert_eq!(cores, ["1", "0", "1", "0", "1", "0"], "{}", outcome.told());
    assert!(outcome.stdout.ends_with("status 5\n"), "{}", outcome.told());
}

/// `srun` passes its input to all processes, or to a given one.
fn input_of_srun_is_read_by_the_rank_that_it_is_for(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let replay = "$treepie replay --permutation 1,0 --";
    let script = format!(
        "printf '20\\n22\\n' >in\n\
         {replay} $srun $jobs/reads_input scanf <in || exit\n\
         {replay} $srun --input=0 $jobs/reads_input scanf <in || exit\n\
         {replay} $srun --input=1 $jobs/reads_input 1 <in || exit\n\
         {replay} $srun $jobs/reads_input before </dev/null\n"
    );
    let outcome = under_slurm(mpi, 1, directory.path(), &script).succeeded();
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let (alike, moved) = (["0", "1"], ["1", "0"]);
    let expected = [
        (moved, "20 22"),
        (alike, "20 22"),
        (alike, "20 22"),
        (moved, "0 0"),
    ];
    let expected = expected.iter().flat_map(|(processes, numbers)| {
        let line = move |(rank, process)| format!("rank {rank} is process {process}: {numbers}");
        processes.iter().enumerate().map(line)
    });
    assert_eq!(lines, expected.collect::<Vec<_>>(), "{}", outcome.told());
}

/// Runs a script that supervises a job of `endings` and runs `where` instead later; returns the end
/// of the first attempt, the nodes left out after it, and those of the second.
#[track_caller]
fn supervised(mpi: Mpi, how: &str, meanwhile: &str) -> [serde_json::Value; 3] {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let script = format!(
        "salloc --quiet --no-kill -N3 -n3 $treepie supervise --json -o record --pause 0 \
         --restart \"$srun $jobs/where\" -- $srun $jobs/endings {how} >told &\n\
         {meanwhile}\n\
         wait $!; status=$?; cat told; exit $status"
    );
    let outcome = under_slurm(mpi, 3, directory.path(), &script).succeeded();
    let answer = outcome.stdout.lines().find(|line| line.starts_with('{'));
    let answer: serde_json::Value = serde_json::from_str(answer.unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {}", outcome.told()));
    let first = &answer["attempts"][0];
    let hosts: Vec<String> = places(&outcome).into_iter().map(|(host, _)| host).collect();
    [
        first["end"].clone(),
        first["left_out"].clone(),
        hosts.into(),
    ]
}

fn a_job_whose_rank_is_killed_is_run_again_without_its_node(mpi: Mpi) {
    let killed = json!({"kind": "killed", "signal": 9, "rank": 0, "host": "n0"});
    let found = supervised(mpi, "kill", "");
    assert_eq!(found, [killed, json!(["n0"]), json!(["n1", "n2"])]);
}

/// Its daemons and ranks end suddenly, without notice. Slurm is configured to detect that sooner
/// than after five minutes.
fn a_job_whose_node_is_gone_is_run_again_without_it(mpi: Mpi) {
    let meanwhile = "\
        for try in $(seq 150); do\n\
            [ \"$(grep -c waiting told)\" != 2 ] || break\n\
            sleep 0.2\n\
        done\n\
        printf '%s\\n' SlurmdTimeout=8 MessageTimeout=5 TCPTimeout=2 >>slurm/slurm.conf\n\
        scontrol reconfigure\n\
        node=$(readlink /proc/$(cat slurm/slurmd.n1.pid)/ns/uts)\n\
        kill -9 $(for one in /proc/[0-9]*; do\n\
            [ \"$(readlink $one/ns/uts)\" != \"$node\" ] || echo ${one#/proc/}\n\
        done)";
    let lost = json!({"kind": "hosts_lost", "hosts": ["n1"]});
    let found = supervised(mpi, "wait", meanwhile);
    assert_eq!(found, [lost, json!(["n1"]), json!(["n0", "n2"])]);
}

/// The signal that `--signal=B:USR1@120` sends two minutes before the end, `scancel` sends
/// immediately.
fn a_supervised_batch_job_is_warned_and_its_status_comes_back(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let script = "\
        batch() { sbatch --quiet --wait -n2 -o $1 \
            --wrap \"exec \\$treepie supervise -o $1.record -- \\$srun \\$jobs/endings $1\"; }\n\
        batch late\n\
        echo status $?\n\
        batch usr1 &\n\
        for try in $(seq 150); do\n\
            [ \"$(grep -c waiting usr1 2>/dev/null)\" != 2 ] || break\n\
            sleep 0.2\n\
        done\n\
        scancel --batch --signal=USR1 $(squeue --noheader -o %i)\n\
        wait $!\n\
        echo status $?\n\
        cat usr1\n";
    let outcome = under_slurm(mpi, 1, directory.path(), script).succeeded();
    assert!(
        outcome.stdout.starts_with("status 3\nstatus 0\n"),
        "{}",
        outcome.told()
    );
    let came = outcome.stdout.matches("SIGUSR1 came").count();
    assert_eq!(came, 2, "{}", outcome.told());
}

under_each_mpi!(
    a_supervised_batch_job_is_warned_and_its_status_comes_back,
    jobs_of_srun_are_profiled_and_placed_and_keep_their_status,
    input_of_srun_is_read_by_the_rank_that_it_is_for,
    a_job_whose_rank_is_killed_is_run_again_without_its_node,
);

#[test]
fn a_job_of_mpich_whose_node_is_gone_is_run_again_without_it() {
    a_job_whose_node_is_gone_is_run_again_without_it(Mpi::Mpich);
}

#[cfg(feature = "all-mpis")]
#[test]
fn a_job_of_open_mpi_whose_node_is_gone_is_run_again_without_it() {
    a_job_whose_node_is_gone_is_run_again_without_it(Mpi::OpenMpi);
}
