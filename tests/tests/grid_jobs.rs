//! Jobs on an emulated grid, as run by a user of a grid: the platform measured in `MPI_Init`, a
//! host that dies during the measurement, several ranks on each host, the order of receives of two
//! hosts, and a grid for a user who is not root.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};

use treepie_base::Cluster;
use treepie_collective::Network;
use treepie_platform::Platform;
use treepie_platform::file::PlatformFile;
use treepie_platform::grid::Grid;
use treepie_tests::hosts::Hosts;
use treepie_tests::two_clusters::{LIMIT, TwoClusters};
use treepie_tests::{Job, Mpi, Outcome, artifacts, under_each_mpi};

/// A replay with replaced collectives.
const REPLAY: &str = "TREEPIE_MODE=replay TREEPIE_COLLECTIVES=auto";

/// A replay that measures the platform in `MPI_Init` unless this one fits.
fn probing(platform: &Path) -> String {
    format!(
        "{REPLAY} TREEPIE_PROBE=auto TREEPIE_LOG=info TREEPIE_PLATFORM={}",
        platform.display()
    )
}

/// A job of one rank per host that measures its platform in `MPI_Init` unless `platform` fits;
/// returns its first line on standard output and our messages.
#[track_caller]
fn measuring_job(grid: &TwoClusters, mpi: Mpi, platform: &Path) -> (String, Vec<String>) {
    let done = grid.job(&[], (mpi, 4), &probing(platform), &["collectives"]);
    let said = text(&done.stderr);
    let ours = said.lines().filter(|line| line.starts_with("treepie"));
    let ours: Vec<String> = ours.map(str::to_owned).collect();
    let printed = text(&done.stdout);
    let first = printed.lines().next().unwrap_or_default();
    assert!(!first.is_empty(), "{said}");
    (first.to_owned(), ours)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn told(done: &Output) -> String {
    format!("{}\n{}", text(&done.stdout), text(&done.stderr))
}

/// The clusters for which schedules are made are those of the application's ranks: a permutation
/// moves ranks between hosts, and their clusters with them.
fn permuted_worlds_and_schedules_agree(mpi: Mpi) {
    let grid = TwoClusters::new();
    for (permutation, clusters) in [
        ("0,1,2,3,4,5,6,7", "0,0,1,1,2,2,3,3"),
        ("0,4,1,5,2,6,3,7", "0,1,2,3,0,1,2,3"),
        ("7,0,6,1,5,2,4,3", "0,1,2,3,3,2,1,0"),
    ] {
        let settings = format!("{REPLAY} TREEPIE_PERMUTATION={permutation} TREEPIE_LOG=debug");
        let two = ["--ranks", "2"];
        let done = told(&grid.job(&two, (mpi, 8), &settings, &["collectives"]));
        assert!(done.contains("collectives: all results right"), "{done}");
        let line = format!("treepie: collectives: the clusters of the ranks are {clusters}\n");
        assert!(done.contains(&line), "{done}");
    }
}

/// Uneven blocks, whose sizes MPI gives to some ranks only: all exchange them in the 128th call of
/// each collective, and choose by all sizes.
fn ranks_exchange_uneven_sizes_and_choose_by_them(mpi: Mpi) {
    let grid = TwoClusters::new();
    let platform = grid.file("kept.platform.yaml");
    let operations = ["gatherv", "alltoallv"];
    let calls: Vec<String> = operations
        .iter()
        .flat_map(|operation| std::iter::repeat_n(format!("{operation}:1000"), 130))
        .collect();
    let script = format!(
        "LD_PRELOAD={}:$LD_PRELOAD TREEPIE_MODE=replay TREEPIE_COLLECTIVES=auto \
         TREEPIE_PROBE=auto TREEPIE_LOG=info TREEPIE_PLATFORM={} exec {} {}",
        artifacts::library().display(),
        platform.display(),
        artifacts::job(mpi, "collective_calls").display(),
        calls.join(" ")
    );
    let done = grid
        .run(&[])
        .arg(mpi.launcher())
        .args(["-n", "4", "sh", "-c", &script])
        .output()
        .expect("the grid starts");
    assert!(done.status.success(), "{}", told(&done));
    let said = text(&done.stderr);
    for operation in operations {
        let of = format!("treepie: {operation} of uneven parts");
        let known =
            |line: &&str| line.starts_with(&of) && line.contains("(all ranks know the sizes");
        let times = said.lines().filter(known).count();
        assert_eq!(times, 1, "{operation}\n{said}");
    }
}

/// `TREEPIE_PROBE=auto`: the first job measures the grid and saves the result; the next one uses
/// it; a platform with different latencies is measured again.
fn a_job_measures_the_grid_once_and_prefers_what_was_saved(mpi: Mpi) {
    let grid = TwoClusters::new();
    let platform = grid.file("kept.platform.yaml");
    let count = |messages: &[String], what: &str| {
        let with = messages.iter().filter(|line| line.contains(what));
        with.count()
    };
    let (printed, messages) = measuring_job(&grid, mpi, &platform);
    assert_eq!(printed, "collectives: all results right");
    assert_eq!(
        count(&messages, "the platform was measured in"),
        1,
        "{messages:#?}"
    );
    let kept = PlatformFile::read(&platform)
        .expect("the platform is kept")
        .platform;
    let ranks = [0, 1].map(|cluster| kept.ranks_of(Cluster(cluster)));
    assert_eq!(ranks, [[0, 1], [2, 3]]);
    // Other work on the machine makes paths longer; `emulated_grid` tests the precision.
    let latency = kept.between(Cluster(0), Cluster(1)).latency();
    assert!(latency > 0.9 * 20e-3, "{latency}");

    let (printed, messages) = measuring_job(&grid, mpi, &platform);
    assert_eq!(printed, "collectives: all results right");
    assert_eq!(count(&messages, "was measured in"), 0, "{messages:#?}");

    // The same hosts, much nearer to each other: a short check detects it.
    let file = std::fs::read_to_string(&platform).expect("the file");
    let nearer: Vec<String> = file
        .lines()
        .map(|line| match line.trim().strip_prefix("latency_us: ") {
            Some(value) if value.parse::<f64>().is_ok_and(|value| value > 15_000.0) => {
                line.replace(value, "2000")
            }
            _ => line.to_owned(),
        })
        .collect();
    std::fs::write(&platform, nearer.join("\n") + "\n").expect("the file");
    let (printed, messages) = measuring_job(&grid, mpi, &platform);
    assert_eq!(printed, "collectives: all results right");
    assert_eq!(
        count(&messages, "does not fit what is here"),
        1,
        "{messages:#?}"
    );
    assert_eq!(
        count(&messages, "the platform was measured in"),
        1,
        "{messages:#?}"
    );
}

/// A host dies during the measurement: one line reports it, and no file is left.
fn a_host_that_dies_while_it_is_measured_ends_the_probe_with_one_line(mpi: Mpi) {
    let grid = TwoClusters::new();
    let dying = grid.file("probe");
    let script = format!(
        "#!/bin/sh\nif [ \"$(hostname)\" = b0 ]; then\n\
         exec timeout -s KILL 2.5 '{0}' \"$@\"\nfi\nexec '{0}' \"$@\"\n",
        artifacts::measuring("probe").display()
    );
    std::fs::write(&dying, script).expect("a script");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&dying, executable).expect("an executable script");
    let output = grid.file("found.platform.yaml");
    let done = grid
        .run(&[])
        .arg("env")
        .arg(format!("TREEPIE_PROBE_PROGRAM={}", dying.display()))
        .arg(artifacts::command())
        // Enough data that the host dies long before the end.
        .args(["probe", "--largest", "16M", "-o"])
        .arg(&output)
        .arg("--")
        .arg(mpi.launcher())
        .args(["-n", "4"])
        .output()
        .expect("the grid starts");
    assert_eq!(done.status.code(), Some(1), "{}", told(&done));
    let said = text(&done.stderr);
    let ours: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("treepie:"))
        .collect();
    assert_eq!(ours.len(), 1, "{said}");
    assert!(ours[0].contains("the platform was not measured"), "{said}");
    assert!(!output.exists());
}

/// The result of `treepie probe` on a grid with this number of ranks on each of its four hosts, and
/// its output.
#[track_caller]
fn probed(grid: &TwoClusters, (mpi, each): (Mpi, usize), words: &[&str]) -> (Platform, String) {
    let output = grid.file("found.platform.yaml");
    // The result of an earlier probe must not be read if this one has none.
    let _ = std::fs::remove_file(&output);
    let done = grid
        .run(&["--ranks", &each.to_string()])
        .arg(artifacts::command())
        .arg("probe")
        .args(words)
        .arg("-o")
        .arg(&output)
        .arg("--")
        .arg(mpi.launcher())
        .args(["-n", &(4 * each).to_string()])
        .output()
        .expect("the grid starts");
    match PlatformFile::read(&output) {
        Ok(file) => (file.platform, text(&done.stdout)),
        Err(error) => panic!("{error}\n{}", told(&done)),
    }
}

/// True if latencies grow from the node over the cluster to the grid.
fn gets_farther(platform: &Platform) -> bool {
    platform.clusters().iter().all(|cluster| {
        let node = cluster.levels.first().map(|level| level.link.latency());
        let within = cluster.within.as_ref().map(|link| link.latency());
        let grid = Some(platform.between(Cluster(0), Cluster(1)).latency());
        node.is_some() && node < within && within < grid
    })
}

/// Two ranks per host: the ranks of a host are known by its name, and the node's level is measured
/// in addition to the cluster's and the grid's. If the time is too short for all of it, that is
/// reported, with the measurements left out.
fn ranks_of_a_host_are_a_level_and_a_short_time_is_told(mpi: Mpi) {
    let grid = TwoClusters::new();
    let probed = |budget: &str| {
        let words = ["--time-limit", budget, "--largest", "64K"];
        probed(&grid, (mpi, 2), &words)
    };
    let (mut platform, _) = probed("40");
    // Ranks that share cores with other tests are sometimes late.
    for _ in 0..3 {
        if !gets_farther(&platform) {
            (platform, _) = probed("40");
        }
    }
    assert!(gets_farther(&platform), "{:?}", platform.clusters());
    let hosts: Vec<(&str, &[usize])> = platform
        .hosts()
        .iter()
        .map(|host| (host.name.as_str(), host.ranks.as_slice()))
        .collect();
    assert_eq!(
        hosts,
        [
            ("a0", &[0, 1][..]),
            ("a1", &[2, 3]),
            ("b0", &[4, 5]),
            ("b1", &[6, 7])
        ]
    );
    assert_eq!(platform.clusters().len(), 2);
    for cluster in platform.clusters() {
        // Unbound ranks share the node, and every part of which it has one.
        assert_eq!(cluster.levels.len(), 1, "{:?}", cluster.levels);
    }
    let (short, printed) = probed("0.6");
    assert_eq!(short.ranks(), 8);
    let probing = short.contents().probing.as_ref().expect("it was measured");
    assert!(!probing.left_out.is_empty(), "{printed}");
    assert!(
        printed.contains("left out: ") && printed.contains("--time-limit"),
        "{printed}"
    );
}

/// Two simultaneous pairs of hosts carry no more than one if they share an uplink that one fills,
/// and more if each connection has a separate rate: that number of ranks of a cluster send
/// simultaneously.
fn pairs_that_share_an_uplink_are_told_from_pairs_that_do_not(mpi: Mpi) {
    let to_fill = |grid: &TwoClusters| {
        let words = ["--concurrent", "--time-limit", "40", "--largest", "256K"];
        let (platform, _) = probed(grid, (mpi, 1), &words);
        let network = Network::new(&platform, &[0, 1, 2, 3]).expect("ranks of the platform");
        let parallel = platform.contents().parallel.clone();
        (
            [0, 1].map(|cluster| network.pairs_to_fill(Cluster(cluster))),
            parallel,
        )
    };
    for (grid, expected) in [
        (TwoClusters::new(), [1, 1]),
        (TwoClusters::of_slow_connections(), [2, 2]),
    ] {
        // Other work on the machine sometimes makes a stream longer.
        let tries = (0..4).map(|_| to_fill(&grid));
        let found: Vec<_> = tries.take_while(|(found, _)| *found != expected).collect();
        assert!(found.len() < 4, "{expected:?}: {found:?}");
    }
}

/// Starts the words after its first, an order, lists the logs of the order when each of two hosts
/// has made its files, and ends the job.
const LISTED: &str = "order=$1; shift
\"$@\" >/dev/null 2>&1 &
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 0.5
    [ \"$(ls \"$order.parts\" 2>/dev/null | wc -l)\" != 4 ] || break
done
ls \"$order.parts\"
kill $!
wait $!
exit 0";

fn ranks_of_two_hosts_keep_logs_there_and_their_order_is_taken_there_and_on_one_host(mpi: Mpi) {
    let hosts = Hosts {
        name: "o",
        count: 2,
        ranks_each: 2,
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let order = folder.path().join("a.order");
    let treepie = |words: &str| -> Vec<OsString> {
        let words = words.replace("DIR", &folder.path().display().to_string());
        let command = artifacts::command().into_os_string();
        std::iter::once(command)
            .chain(words.split_whitespace().map(OsString::from))
            .chain(["--".into()])
            .collect()
    };
    let racy = |words: &str, way: &str| {
        let mut all = treepie(words);
        all.extend(hosts.launcher(mpi, 4));
        all.extend([artifacts::job(mpi, "racy").into(), "4".into(), way.into()]);
        all
    };
    let recording = "profile -q -o DIR/p.yaml --order DIR/a.order --delays --seed 1";
    let mut listed: Vec<OsString> = ["sh", "-c", LISTED, "sh"].map(OsString::from).into();
    listed.push(order.into());
    listed.extend(racy(recording, "hangs"));
    let files = hosts.run(folder.path(), listed).succeeded();
    let expected = "host-0.order\nhost-0.tails\nhost-2.order\nhost-2.tails\n";
    assert_eq!(files.stdout, expected, "{}", files.told());

    let sorted = |outcome: &Outcome| {
        let mut lines: Vec<String> = outcome.stdout.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let recorded = hosts.run(folder.path(), racy(recording, "all")).succeeded();
    assert_eq!(recorded.stdout.lines().count(), 4, "{}", recorded.told());
    let replaying = "replay --order DIR/a.order --delays --seed 2";
    let there = hosts.run(folder.path(), racy(replaying, "all")).succeeded();
    assert_eq!(sorted(&there), sorted(&recorded), "{}", there.told());
    let job = Job::new(mpi, 4, "racy").argument("4").argument("all");
    let here = job.under(treepie(replaying)).run().succeeded();
    assert_eq!(sorted(&here), sorted(&recorded), "{}", here.told());
}

under_each_mpi!(
    ranks_exchange_uneven_sizes_and_choose_by_them,
    permuted_worlds_and_schedules_agree,
    a_job_measures_the_grid_once_and_prefers_what_was_saved,
    a_host_that_dies_while_it_is_measured_ends_the_probe_with_one_line,
    ranks_of_a_host_are_a_level_and_a_short_time_is_told,
    pairs_that_share_an_uplink_are_told_from_pairs_that_do_not,
    ranks_of_two_hosts_keep_logs_there_and_their_order_is_taken_there_and_on_one_host,
);

/// `scripts/grid` in a user namespace whose user is not root, with the given options.
fn not_as_root(options: &[&str], words: &[&str]) -> Output {
    let grid = TwoClusters::new();
    Command::new("timeout")
        .arg(LIMIT)
        .args(["unshare", "--user"])
        .args(options)
        .arg("bash")
        .arg(artifacts::repository().join("scripts/grid"))
        .arg(words[0])
        .arg(grid.file("two.grid.yaml"))
        .args(&words[1..])
        .env("TREEPIE_GRID_STATE", grid.file("state"))
        .output()
        .expect("unshare starts")
}

/// Users of a separate user namespace: this one may create more of them.
const USER: [&str; 2] = ["--map-user=1000", "--map-group=1000"];

#[test]
fn a_user_who_is_not_root_has_a_grid_for_one_command() {
    let show = ["run", "--", "sh", "-c", "hostname; getent hosts b1"];
    let done = not_as_root(&USER, &show);
    let printed = text(&done.stdout);
    assert!(printed.starts_with("a0\n10.77.1.2 "), "{}", told(&done));
    assert!(done.status.success(), "{}", told(&done));
}

#[test]
fn without_user_namespaces_or_for_more_than_a_command_one_line_says_what_is_needed() {
    // For a user without an entry in the user database, who may not create a namespace.
    for (options, words, expected) in [
        (
            &[][..],
            &["run", "--", "true"][..],
            "gives you no user namespaces: run this as root",
        ),
        (&USER[..], &["up"][..], "network namespaces need root"),
    ] {
        let done = not_as_root(options, words);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains(expected), "{said}");
        assert_eq!(said.trim().lines().count(), 1, "{said}");
    }
}

#[test]
fn every_grid_of_the_profiles_comes_up() {
    let profiles = artifacts::repository().join("profiles");
    let entries = std::fs::read_dir(profiles).expect("the profiles");
    let grids = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(".grid.yaml"));
    let mut seen = 0;
    for file in grids {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let names = Grid::read(&file).expect("a grid").host_names();
        let last = names.last().expect("a host");
        let done = Command::new("timeout")
            .arg(LIMIT)
            .arg(artifacts::grid())
            .arg("run")
            .arg(&file)
            .args(["--", "sh", "-c", "hostname; getent hosts $0"])
            .arg(last)
            .env("TREEPIE_GRID_STATE", folder.path().join("state"))
            .output()
            .expect("the grid starts");
        let printed = text(&done.stdout);
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines.first(), Some(&names[0].as_str()), "{}", told(&done));
        assert!(lines[1].ends_with(last.as_str()), "{}", told(&done));
        seen += 1;
    }
    assert!(seen > 5);
}
