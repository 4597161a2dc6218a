//! `treepie probe` on a grid with known links: its result is the emulated grid.
//!
//! Other work on the machine makes paths longer, at varying times; so wrong results are measured
//! again, and have to be right once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use treepie_base::Cluster;
use treepie_platform::file::PlatformFile;
use treepie_platform::grid::Grid;
use treepie_platform::{Link, Platform};
use treepie_tests::{Mpi, artifacts, under_each_mpi};

/// One grid at a time: two would share processors.
static QUIET: Mutex<()> = Mutex::new(());

/// Seconds after which a probe is ended.
const LIMIT: &str = "100";
const TRIES: usize = 6;
/// Seconds that a message takes without any link: the MPI's own code, and two ranks that wake up on
/// two cores shared by twelve; 0.05 to 0.15 ms with Open MPI.
const OF_THE_MACHINE: f64 = 1e-4;
/// Bytes of a frame on the wire, and of a message in it.
const OVERHEAD: f64 = 1538.0 / 1448.0;

fn launcher(mpi: Mpi, ranks: usize) -> Vec<std::ffi::OsString> {
    let mut words = vec![mpi.launcher().into_os_string()];
    words.extend(["-n".into(), ranks.to_string().into()]);
    words
}

/// Probes the grid of a file with one rank per host.
#[track_caller]
fn probed(mpi: Mpi, file: &Path, ranks: usize) -> Platform {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let output = folder.path().join("found.platform.yaml");
    let done = Command::new("timeout")
        .arg(LIMIT)
        .arg(artifacts::grid())
        .arg("run")
        .arg(file)
        .arg("--")
        .arg(artifacts::command())
        .args(["probe", "--time-limit", "40", "--largest", "256K", "-o"])
        .arg(&output)
        .arg("--")
        .args(launcher(mpi, ranks))
        .env("TREEPIE_GRID_STATE", folder.path().join("state"))
        .output()
        .expect("the grid starts");
    // MPICH's launcher may complain about the end of ranks; only the file counts.
    let said = String::from_utf8_lossy(&done.stderr);
    match PlatformFile::read(&output) {
        Ok(file) => file.platform,
        Err(error) => panic!("{error}\n{said}"),
    }
}

/// The clusters that a probe of `profiles/split-and-merged.grid.yaml` must find.
const FOUND: [&[&str]; 3] = [
    &["p-near0", "p-near1", "p-near2"],
    &["p-far0", "p-far1", "p-far2"],
    &["q-0", "q-1", "q-2", "r-0", "r-1", "r-2"],
];

fn names(platform: &Platform, cluster: Cluster) -> Vec<&str> {
    let hosts = platform.clusters()[cluster].hosts.iter();
    hosts
        .map(|&host| platform.hosts()[host].name.as_str())
        .collect()
}

/// Parameters of a link that differ by more than the tolerance, with the difference; latency in
/// seconds, rate in Mbit/s.
fn off(name: &str, link: &Link, latency: f64, mbit: f64) -> BTreeMap<String, String> {
    let mut wrong = BTreeMap::new();
    let mut compare = |what: String, found: f64, built: f64, allowed: f64| {
        if (found - built).abs() > allowed {
            wrong.insert(what, format!("{found:.3e} s, built {built:.3e} s"));
        }
    };
    let allowed = 0.10 * latency + OF_THE_MACHINE;
    compare(format!("{name}: L"), link.latency(), latency, allowed);
    // The sizes that every probe measures, and all intermediate ones.
    for bytes in [64 << 10, 128 << 10, 256 << 10] {
        let gap = f64::from(bytes) * 8.0 * OVERHEAD / (mbit * 1e6);
        compare(
            format!("{name}: g({bytes})"),
            link.gap(bytes as u64),
            gap,
            0.15 * gap,
        );
    }
    wrong
}

/// Differences in the result, which has the required clusters.
fn all_off(grid: &Grid, platform: &Platform) -> BTreeMap<String, String> {
    let cluster_named = |host: &str| {
        grid.clusters
            .position(|cluster| host.trim_end_matches(char::is_numeric) == cluster.name)
            .expect("a host of the grid")
    };
    let mut wrong = BTreeMap::new();
    for (from, hosts) in FOUND.iter().enumerate() {
        let a = cluster_named(hosts[0]);
        let here = &grid.clusters[a];
        let within = platform.clusters()[Cluster(from)].within.as_ref();
        let within = within.expect("every cluster has several hosts");
        wrong.extend(off(&here.name, within, here.latency_us * 1e-6, here.mbit));
        for (to, others) in FOUND.iter().enumerate().filter(|&(to, _)| to != from) {
            let b = cluster_named(others[0]);
            let name = format!("{} to {}", here.name, grid.clusters[b].name);
            let link = platform.contents().links.get(&(Cluster(from), Cluster(to)));
            let link = link.expect("both directions are measured");
            let (latency, rate) = (grid.latency_us(a, b) * 1e-6, grid.mbit(a, b));
            wrong.extend(off(&name, link, latency, rate));
        }
    }
    wrong
}

/// A site split by a slower switch is two clusters, two near sites are one; L is within 10 % and
/// the time of the machine itself, g(m) within 15 % from 64 KiB, in both directions.
fn clusters_and_parameters_are_those_that_were_built(mpi: Mpi) {
    let _quiet = QUIET.lock().unwrap_or_else(PoisonError::into_inner);
    let file = artifacts::repository().join("profiles/split-and-merged.grid.yaml");
    let grid = Grid::read(&file).expect("the grid of the profile");
    // Differences in every probe that found the clusters so far.
    let mut always: Option<BTreeMap<String, String>> = None;
    let mut other_clusters = Vec::new();
    for _ in 0..TRIES {
        let platform = probed(mpi, &file, 12);
        let clusters = platform.clusters().keys();
        let found: Vec<Vec<&str>> = clusters.map(|cluster| names(&platform, cluster)).collect();
        if found != FOUND {
            other_clusters.push(format!("{found:?}"));
            continue;
        }
        let probing = platform.contents().probing.as_ref();
        let probing = probing.expect("it was measured");
        // C (C - 1) / 2 + C of 66 pairs.
        assert_eq!((probing.probes, probing.pairs), (6, 66));
        let mut wrong = all_off(&grid, &platform);
        wrong.retain(|what, _| {
            always
                .as_ref()
                .is_none_or(|always| always.contains_key(what))
        });
        if wrong.is_empty() {
            return;
        }
        always = Some(wrong);
    }
    panic!("after {TRIES} probes: {always:#?}, other clusters: {other_clusters:#?}");
}

under_each_mpi!(clusters_and_parameters_are_those_that_were_built);
