//! Profiles of replaced collectives have the traffic that was sent: the links of an emulated grid
//! carry it.

use std::path::{Path, PathBuf};

use treepie_profile::Profile;
use treepie_tests::two_clusters::TwoClusters;
use treepie_tests::{Mpi, artifacts, under_each_mpi};
use treepie_traffic::Layer;

/// Calls of all kinds, each about a megabyte between two clusters of four ranks.
const CALLS: [&str; 13] = [
    "bcast:250000",
    "bcast:250000:5",
    "reduce:250000:2",
    "allreduce:60000",
    "iallreduce:2000",
    "gather:60000:3",
    "scatter:60000:6",
    "allgather:60000",
    "alltoall:15000",
    "alltoallv:15000",
    "allgatherv:60000",
    "reduce-scatter:60000",
    "neighbor-allgather:250000",
];

/// Every rank's cluster.
const CLUSTERS: [usize; 8] = [0, 0, 0, 0, 1, 1, 1, 1];

/// Result of a job of these calls: its profile, and the bytes carried by the links between the
/// clusters, without the headers of IP and TCP.
struct Left {
    file: PathBuf,
    profile: Profile,
    carried: f64,
}

/// Runs calls on eight ranks of the grid, with collectives by `settings`.
#[track_caller]
fn job(grid: &TwoClusters, mpi: Mpi, name: &str, settings: &str, calls: &[&str]) -> Left {
    let file = grid.file(&format!("{name}.profile.yaml"));
    let carried = grid.file(&format!("{name}.carried"));
    let settings = format!("TREEPIE_OUTPUT={} {settings}", file.display());
    let to = carried.display().to_string();
    let options = ["--ranks", "2", "--carried", &to];
    let job = [&["collective_calls"], calls].concat();
    let done = grid.job(&options, (mpi, 8), &settings, &job);
    let said = String::from_utf8_lossy(&done.stderr);
    let profile = Profile::read(&file).unwrap_or_else(|error| panic!("{error}\n{said}"));
    Left {
        profile,
        carried: payload(&carried),
        file,
    }
}

/// The payload in all lines of a file written by `grid run --carried`.
fn payload(file: &Path) -> f64 {
    let text = std::fs::read_to_string(file).expect("what the links carried");
    let payload = |line: &str| line.split(' ').nth(2)?.parse::<f64>().ok();
    text.lines()
        .map(|line| payload(line).expect("a number"))
        .sum()
}

/// Bytes between the clusters in a profile.
fn told(profile: &Profile) -> f64 {
    let traffic = profile.traffic(Layer::ALL);
    let between = traffic
        .entries()
        .filter(|&(from, to, _)| CLUSTERS[from] != CLUSTERS[to]);
    between.map(|(.., sent)| sent.bytes as f64).sum()
}

/// Maximum ratio of transferred bytes to those of messages: the MPI adds headers, and requests for
/// long messages.
const OVERHEAD: f64 = 1.03;

/// Named algorithms, and those chosen on clusters of no known platform.
fn the_links_carry_what_the_profile_of_a_replaced_run_tells(mpi: Mpi) {
    let grid = TwoClusters::new();
    let named = "bcast=grid-chain,reduce=grid-flat,allreduce=at-once,gather=grid-grouped,\
                 allgather=grid-exchange,alltoall=grid-grouped,allgatherv=ring,\
                 alltoallv=pairwise,reduce-scatter=grid-exchange,scatter=binomial,\
                 neighbor-allgather=grid-relay";
    for (name, collectives) in [("named", named), ("auto", "auto")] {
        let settings = format!(
            "TREEPIE_MODE=replay TREEPIE_CLUSTERS=0,0,0,0,1,1,1,1 \
             TREEPIE_COLLECTIVES={collectives}"
        );
        let nothing = job(&grid, mpi, &format!("{name}-0"), &settings, &["barrier:0"]);
        let left = job(&grid, mpi, name, &settings, &CALLS);
        let is_planned = left
            .profile
            .collectives
            .iter()
            .all(|record| record.plan.is_some());
        assert!(
            is_planned || name == "auto",
            "{:?}",
            left.profile.collectives
        );
        let (carried, told) = (left.carried - nothing.carried, told(&left.profile));
        println!("{mpi}, {name}: {told} bytes told, {carried} carried");
        assert!(
            (told..OVERHEAD * told).contains(&carried),
            "{mpi}, {name}: {told} bytes told, {carried} carried"
        );
    }
}

/// `treepie compare` of a plain run and a replaced one shows the reduction of the links' traffic.
fn a_comparison_with_the_plain_run_shows_the_difference_between_clusters(mpi: Mpi) {
    let grid = TwoClusters::new();
    let calls = ["allreduce:250000", "allgather:60000"];
    let replaced = "TREEPIE_MODE=replay TREEPIE_CLUSTERS=0,0,0,0,1,1,1,1 TREEPIE_COLLECTIVES=allreduce=grid-lanes,allgather=grid-lanes";
    let plain = job(&grid, mpi, "plain", "TREEPIE_MODE=profile", &calls);
    let replayed = job(&grid, mpi, "replayed", replaced, &calls);
    let done = std::process::Command::new(artifacts::command())
        .args(["compare", "--json"])
        .args([&plain.file, &replayed.file])
        .output()
        .expect("the command starts");
    let answer: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let between = |which: &str| {
        let bytes = answer["between_clusters"][which].as_f64();
        bytes.unwrap_or_else(|| panic!("{answer:#}"))
    };
    let (before, after) = (between("before"), between("after"));
    println!(
        "{mpi}: {before} to {after}, carried {} to {}",
        plain.carried, replayed.carried
    );
    assert_eq!(after, told(&replayed.profile));
    assert!(after < 0.9 * before, "{before} to {after}");
    // The launcher's own messages are in both.
    let less = (before - after) / (plain.carried - replayed.carried);
    assert!((0.9..1.1).contains(&less), "{less}");
}

under_each_mpi!(
    the_links_carry_what_the_profile_of_a_replaced_run_tells,
    a_comparison_with_the_plain_run_shows_the_difference_between_clusters,
);
