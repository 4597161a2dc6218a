//! A placement or a profile replayed on the hosts of today's job, with every method of applying
//! one: the locations that the job's ranks print must be right.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use treepie_base::{Leaf, Process};
use treepie_placement::file::PlacementFile;
use treepie_profile::{Host, Profile};
use treepie_tests::hosts::{Hosts, places};
use treepie_tests::{Mpi, Outcome, artifacts, run_watched, under_all_mpis, under_each_mpi};
use treepie_topology::Topology;
use treepie_topology::formats::HostLocation;
use treepie_traffic::Traffic;

const RANKS: usize = 8;
/// Two ranks on each of four hosts.
const TODAY: Hosts = Hosts {
    name: "n",
    count: 4,
    ranks_each: 2,
};

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

/// A profile in which ranks i and i + 4 communicate, taken on this number of hosts with this name.
fn profile(directory: &Path, name: &str, hosts: usize) -> PathBuf {
    let mut profile = Profile::new(RANKS);
    profile.header.producer = "a test".into();
    profile.header.date = "2026-11-21T00:00:00Z".into();
    profile.mpi.family = "open-mpi".into();
    let each = RANKS / hosts;
    profile.hosts = (0..hosts)
        .map(|host| Host {
            name: format!("{name}{host}"),
            processes: (host * each..(host + 1) * each).map(Process).collect(),
        })
        .collect();
    for rank in 0..RANKS {
        let partner = (rank + RANKS / 2) % RANKS;
        profile
            .point_to_point
            .add(rank, partner, Traffic::new(10, 80_000));
    }
    let path = directory.join("app.profile.yaml");
    profile.write(&path).expect("a profile can be written");
    path
}

/// Two cores of each host, regardless of this machine's number.
fn machines(directory: &Path, name: &str, hosts: usize) -> PathBuf {
    let machine = |host: usize| {
        let machine = Topology::from_arities("2").and_then(|tree| tree.with_os_indices(&[0, 1]));
        (format!("{name}{host}"), machine.expect("two numbers"))
    };
    let tree = Topology::cluster((0..hosts).map(machine).collect()).expect("it is small");
    let path = directory.join("hosts.topology.yaml");
    treepie_topology::file::write(&path, &tree, "a test", "2026-11-21T00:00:00Z")
        .expect("it can be written");
    path
}

/// The placement for that profile; without a topology, for hosts like this machine.
fn placement(profile: &Path, topology: Option<&Path>) -> PathBuf {
    let output = profile.with_file_name("app.placement.yaml");
    let mut command = Command::new(artifacts::command());
    command.arg("map").arg(profile).arg("-o").arg(&output);
    if let Some(topology) = topology {
        command.arg("--topology").arg(topology);
    }
    run_watched(command, Duration::from_secs(60), "treepie map").succeeded();
    output
}

/// `treepie replay WORDS -- mpirun -n 8 where` on today's hosts.
fn replayed(mpi: Mpi, directory: &Path, words: &[&str], launcher: &[&str]) -> Outcome {
    let mut all = mpi.environment();
    all.extend([artifacts::command().into_os_string(), "replay".into()]);
    all.extend(words.iter().map(OsString::from));
    all.push("--".into());
    all.extend(TODAY.launcher(mpi, RANKS));
    all.extend(launcher.iter().map(OsString::from));
    all.push(artifacts::job(mpi, "where").into_os_string());
    TODAY.run(directory, all)
}

fn pairs_that_share_a_host(outcome: &Outcome) -> usize {
    let places = places(outcome);
    assert_eq!(places.len(), RANKS, "{}", outcome.told());
    let half = RANKS / 2;
    (0..half)
        .filter(|&rank| places[rank].0 == places[rank + half].0)
        .count()
}

fn a_profile_is_placed_at_the_start_for_where_the_processes_are(mpi: Mpi) {
    let directory = directory();
    let folder = directory.path();
    let file = profile(folder, "yesterday", 8);
    let outcome = replayed(mpi, folder, &["--strict", text(&file)], &[]).succeeded();
    assert_eq!(pairs_that_share_a_host(&outcome), 4, "{}", outcome.told());
    let again = replayed(mpi, folder, &[text(&file)], &[]).succeeded();
    assert_eq!(places(&again), places(&outcome));
}

/// Hosts 0 and 2 in one cluster, 1 and 3 in another.
fn crossed_clusters(directory: &Path) -> PathBuf {
    let path = directory.join("hosts.platform.yaml");
    let text = "treepie: platform\nversion: 1\nhosts:\n\
        - {name: n0, ranks: 0-1}\n- {name: n1, ranks: 2-3}\n\
        - {name: n2, ranks: 4-5}\n- {name: n3, ranks: 6-7}\n\
        clusters:\n\
        - {name: a, hosts: [n0, n2], leader: 0, within: {latency_us: 50, samples: [0 5, 1000 15]}}\n\
        - {name: b, hosts: [n1, n3], leader: 2, within: {latency_us: 50, samples: [0 5, 1000 15]}}\n\
        links:\n\
        - {from: a, to: b, latency_us: 10000, samples: [0 5, 1000 95]}\n";
    std::fs::write(&path, text).expect("the folder can be written");
    path
}

/// The hosts at the two ends of a row of nodes.
fn row_with_a_gap(directory: &Path) -> PathBuf {
    let path = directory.join("hosts.network.yaml");
    let text = "treepie: network\nversion: 1\nnetwork: {mesh: [8]}\n\
        hosts: {n0: [0], n2: [1], n1: [6], n3: [7]}\n";
    std::fs::write(&path, text).expect("the folder can be written");
    path
}

/// A placement computed at the start uses the clusters of hosts: from a platform file, from
/// numbers, or from a network. Every rank must receive it, or the job could not end.
fn a_profile_is_placed_at_the_start_by_the_clusters_or_the_network_of_the_hosts(mpi: Mpi) {
    let directory = directory();
    let folder = directory.path();
    let mut file = profile(folder, "yesterday", 8);
    let mut with_pairs = Profile::read(&file).expect("it was written");
    // The pairs 0-4 and 1-5 communicate a little, and 2-6 and 3-7.
    for (one, other) in [(0, 1), (2, 3)] {
        let sent = Traffic::new(10, 20_000);
        with_pairs.point_to_point.add(one, other, sent);
    }
    file.set_file_name("pairs.profile.yaml");
    with_pairs.write(&file).expect("a profile can be written");
    let platform = crossed_clusters(folder);
    let network = row_with_a_gap(folder);
    let cluster = |host: &str| usize::from(["n1", "n3"].contains(&host));
    for set in [
        format!("TREEPIE_PLATFORM={}", platform.display()),
        "TREEPIE_CLUSTERS=7,7,3,3,7,7,3,3".to_owned(),
        format!("TREEPIE_NETWORK={}", network.display()),
    ] {
        let mut words = mpi.environment();
        words.extend(["env".into(), set.clone().into()]);
        words.extend([artifacts::command().into_os_string(), "replay".into()]);
        words.extend([
            "--strict".into(),
            file.clone().into_os_string(),
            "--".into(),
        ]);
        words.extend(TODAY.launcher(mpi, RANKS));
        words.push(artifacts::job(mpi, "where").into_os_string());
        let outcome = TODAY.run(folder, words).succeeded();
        assert_eq!(pairs_that_share_a_host(&outcome), 4, "{}", outcome.told());
        let places = places(&outcome);
        for (one, other) in [(0, 1), (2, 3)] {
            let (here, there) = (&places[one].0, &places[other].0);
            assert_eq!(cluster(here), cluster(there), "{set}: {}", outcome.told());
        }
    }
}

/// `where` on today's hosts, whose system reports these coordinates to the ranks.
fn told(mpi: Mpi, folder: &Path, set: &[OsString], coordinates: &str, words: &[&str]) -> Outcome {
    let library = artifacts::job(mpi, "told_coordinates.so");
    let script = format!(
        "export TOLD_COORDINATES='{coordinates}' LD_PRELOAD=\"$LD_PRELOAD {}\"; exec {}",
        library.display(),
        artifacts::job(mpi, "where").display()
    );
    let mut all = mpi.environment();
    all.push("env".into());
    all.extend(set.iter().cloned());
    all.push(artifacts::command().into_os_string());
    all.extend(words.iter().map(OsString::from));
    all.push("--".into());
    all.extend(TODAY.launcher(mpi, RANKS));
    all.extend(["sh", "-c", &script].map(OsString::from));
    TODAY.run(folder, all).succeeded()
}

/// No file names the hosts of a torus: uTofu or Cray's PMI reports the location of each. The
/// profile has it, for `treepie map`, and a placement at the start queries it.
fn hosts_are_where_their_system_tells_the_ranks_that_they_are(mpi: Mpi) {
    let directory = directory();
    let folder = directory.path();
    let file = profile(folder, "yesterday", 8);
    let mut with_pairs = Profile::read(&file).expect("it was written");
    for (one, other) in [(0, 1), (2, 3)] {
        let sent = Traffic::new(10, 20_000);
        with_pairs.point_to_point.add(one, other, sent);
    }
    with_pairs.write(&file).expect("a profile can be written");
    let cluster = |host: &str| usize::from(["n1", "n3"].contains(&host));
    for (network, coordinates) in [
        ("mesh:8x1x1", "n0=3,5,5 n2=4,5,5 n1=9,5,5 n3=10,5,5"),
        (
            "mesh:8x1x1x1x1x1",
            "n0=3,5,5,1,0,1 n2=4,5,5,1,0,1 n1=9,5,5,1,0,1 n3=10,5,5,1,0,1",
        ),
    ] {
        let set = [OsString::from(format!("TREEPIE_NETWORK={network}"))];
        let outcome = told(
            mpi,
            folder,
            &set,
            coordinates,
            &["replay", "--strict", text(&file)],
        );
        let places = places(&outcome);
        for (one, other) in [(0, 1), (2, 3)] {
            let (here, there) = (&places[one].0, &places[other].0);
            assert_eq!(
                cluster(here),
                cluster(there),
                "{network}: {}",
                outcome.told()
            );
        }
        let output = folder.join("told.profile.yaml");
        told(
            mpi,
            folder,
            &[],
            coordinates,
            &["profile", "-o", text(&output)],
        );
        let known = Profile::read(&output).expect("a profile").locations;
        let said = |at: &HostLocation| {
            let numbers: Vec<String> = at.coordinates.iter().map(usize::to_string).collect();
            format!("{}={}", at.host, numbers.join(","))
        };
        let mut all: Vec<String> = known.iter().map(said).collect();
        let mut expected: Vec<&str> = coordinates.split(' ').collect();
        all.sort();
        expected.sort();
        assert_eq!(all, expected);
        let mut map = Command::new(artifacts::command());
        map.arg("map")
            .arg(&output)
            .args(["--coordinates", "system"]);
        let mapped = run_watched(map, Duration::from_secs(60), "treepie map").succeeded();
        let sizes = network.replace("mesh:", "mesh ");
        assert!(mapped.stdout.contains(&sizes), "{}", mapped.told());
    }
}

fn several_programs_on_several_hosts_are_one_job(mpi: Mpi) {
    let directory = directory();
    let folder = directory.path();
    let file = profile(folder, "yesterday", 4);
    let program = artifacts::job(mpi, "where");
    let others = [text(&program), ":", "-n", "4"];
    let mut words = mpi.environment();
    words.extend([artifacts::command().into_os_string(), "replay".into()]);
    words.extend(["--strict".into(), file.into_os_string(), "--".into()]);
    words.extend(TODAY.launcher(mpi, RANKS / 2));
    words.extend(others.map(OsString::from));
    words.push(program.clone().into_os_string());
    let outcome = TODAY.run(folder, words).succeeded();
    assert_eq!(pairs_that_share_a_host(&outcome), 4, "{}", outcome.told());
}

fn a_placement_is_carried_over_to_other_hosts_of_the_same_shape(mpi: Mpi) {
    let directory = directory();
    let folder = directory.path();
    let file = profile(folder, "yesterday", 4);
    let placement = placement(&file, None);
    std::fs::remove_file(&file).expect("it was written");
    let outcome = replayed(mpi, folder, &["--strict", text(&placement)], &[]).succeeded();
    assert_eq!(pairs_that_share_a_host(&outcome), 4, "{}", outcome.told());
}

fn on_another_shape_the_profile_beside_it_is_placed_or_the_run_is_plain_and_says_why(mpi: Mpi) {
    let directory = directory();
    let folder = directory.path();
    let file = profile(folder, "yesterday", 8);
    let placement = placement(&file, None);
    let why = "app.placement.yaml: is for 8 hosts, and the job runs on 4; ";
    let said_once = |outcome: &Outcome, rest: &str| {
        let said = format!("{why}{rest}");
        assert_eq!(
            outcome.stderr.matches(&said).count(),
            1,
            "{}",
            outcome.told()
        );
    };
    let anew = replayed(mpi, folder, &[text(&placement)], &[]).succeeded();
    said_once(&anew, "placed anew from ");
    assert_eq!(pairs_that_share_a_host(&anew), 4, "{}", anew.told());

    std::fs::remove_file(&file).expect("it was written");
    let plain = replayed(mpi, folder, &[text(&placement)], &[]).succeeded();
    said_once(&plain, "replay its profile instead");
    assert_eq!(pairs_that_share_a_host(&plain), 0, "{}", plain.told());

    let strict = replayed(mpi, folder, &["--strict", text(&placement)], &[]);
    assert!(!strict.status.success(), "{}", strict.told());
    assert_eq!(places(&strict).len(), 0, "{}", strict.told());
    said_once(&strict, "replay its profile instead");
}

/// The location of each rank in a placement.
fn wanted(placement: &Path) -> Vec<(String, String)> {
    let file = PlacementFile::read(placement).unwrap_or_else(|error| panic!("{error}"));
    let place = |&leaf: &Leaf| {
        let leaf = file.topology.leaf(leaf);
        let core = leaf.os_index.expect("the topology has numbers");
        (leaf.host.clone().unwrap_or_default(), core.to_string())
    };
    file.assignment.iter().map(place).collect()
}

fn every_way_to_apply_a_placement_puts_each_rank_where_it_says(mpi: Mpi) {
    let directory = directory();
    let folder = directory.path();
    let file = profile(folder, "n", 4);
    let placement = placement(&file, Some(&machines(folder, "n", 4)));
    let wanted_places = wanted(&placement);
    let bound: &[&str] = match mpi {
        _ if mpi.is_open_mpi() => &["--bind-to", "core", "--map-by", "slot"],
        Mpi::Intel => &["-genv", "I_MPI_PIN_PROCESSOR_LIST", "0,1"],
        _ => &["-bind-to", "core"],
    };
    for (how, launcher) in [("launch", &[][..]), ("both", &[]), ("permute", bound)] {
        let words = ["--strict", "--apply", how, text(&placement)];
        let outcome = replayed(mpi, folder, &words, launcher).succeeded();
        assert_eq!(places(&outcome), wanted_places, "{how}: {}", outcome.told());
    }
    // Without other ranks, each stays on its host, and takes the other core of it.
    let text_of_it = std::fs::read_to_string(&placement).expect("it was written");
    let lines = text_of_it.lines().map(|line| match line.split_once(':') {
        Some(("assignment", _)) => "assignment: 1,0,3,2,5,4,7,6",
        Some(("leaf_of_process", _)) => "leaf_of_process: 0-7",
        Some(("permutation", _)) => "permutation: 1,0,3,2,5,4,7,6",
        _ => line,
    });
    let crossed = lines.collect::<Vec<_>>().join("\n") + "\n";
    std::fs::write(&placement, crossed).expect("it can be written");
    let words = ["--strict", "--apply", "bind", text(&placement)];
    let unbound: &[&str] = match mpi {
        Mpi::Intel => &["-genv", "I_MPI_PIN", "off"],
        _ => &[],
    };
    let outcome = replayed(mpi, folder, &words, unbound).succeeded();
    assert_eq!(places(&outcome), wanted(&placement), "{}", outcome.told());
}

fn text(path: &Path) -> &str {
    path.to_str()
        .expect("temporary directories have plain names")
}

under_all_mpis!(
    a_profile_is_placed_at_the_start_for_where_the_processes_are,
    every_way_to_apply_a_placement_puts_each_rank_where_it_says,
);

under_each_mpi!(
    hosts_are_where_their_system_tells_the_ranks_that_they_are,
    a_profile_is_placed_at_the_start_by_the_clusters_or_the_network_of_the_hosts,
    several_programs_on_several_hosts_are_one_job,
    a_placement_is_carried_over_to_other_hosts_of_the_same_shape,
    on_another_shape_the_profile_beside_it_is_placed_or_the_run_is_plain_and_says_why,
);
