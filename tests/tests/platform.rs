//! `treepie probe`, `treepie predict` and `treepie show` of a platform, as called by a user;
//! measured on this machine and on an emulated grid.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use treepie_base::list;
use treepie_platform::Parallel;
use treepie_platform::file::PlatformFile;
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, under_each_mpi};

/// The command's output as JSON.
#[track_caller]
fn answer(command: &mut Command) -> Value {
    let output = command.output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    serde_json::from_slice(&output.stdout).expect("the answer is JSON")
}

fn treepie() -> Command {
    Command::new(artifacts::command())
}

fn profile(name: &str) -> PathBuf {
    artifacts::repository().join("profiles").join(name)
}

#[test]
fn clusters_of_a_table_of_latencies_are_printed_as_json() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let table = directory.path().join("latencies.csv");
    std::fs::write(&table, "0,50,9000,0\n50,0,9000,0\n9000,9000,0,0\n0,0,0,0\n").expect("a file");
    let found = answer(
        treepie()
            .args(["probe", "--json", "--latencies"])
            .arg(&table),
    );
    assert_eq!(found, serde_json::json!({ "clusters": [[0, 1], [2], [3]] }));
    let found = answer(
        treepie()
            .args(["probe", "--json", "--tolerance", "1000", "--latencies"])
            .arg(&table),
    );
    assert_eq!(found, serde_json::json!({ "clusters": [[0, 1, 2], [3]] }));
}

#[test]
fn a_table_that_is_not_square_ends_with_one_line() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let table = directory.path().join("latencies.csv");
    std::fs::write(&table, "0,50\n").expect("a file");
    let output = treepie()
        .args(["probe", "--latencies"])
        .arg(&table)
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the matrix must be square"), "{said}");
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn every_collective_is_predicted_on_a_platform_and_the_best_is_named() {
    let platform = profile("two-clusters.platform.yaml");
    for collective in [
        "bcast",
        "scatter",
        "gather",
        "reduce",
        "allreduce",
        "allgather",
        "alltoall",
        "barrier",
    ] {
        let found = answer(treepie().arg("predict").arg(&platform).args([
            "--collective",
            collective,
            "--bytes",
            "1M",
            "--json",
        ]));
        let strategies = found["algorithms"].as_array().expect("a list");
        assert!(strategies.len() > 1, "{collective}");
        assert_eq!(found["best"], strategies[0]["algorithm"]);
    }
}

#[test]
fn a_platform_is_shown_and_drawn() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let picture = directory.path().join("platform.svg");
    let found = answer(
        treepie()
            .arg("show")
            .arg(profile("two-clusters.platform.yaml"))
            .arg("--json")
            .arg("-o")
            .arg(&picture),
    );
    assert_eq!(found["clusters"].as_array().map(Vec::len), Some(2));
    let drawn = std::fs::read_to_string(picture).expect("the picture");
    assert!(drawn.contains("<svg") && drawn.contains("10 ms"));
}

/// The ranks of this machine are one cluster on one host.
fn this_machine_is_one_host(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output = directory.path().join("here.platform.yaml");
    let found = answer(
        treepie()
            .args([
                "probe",
                "--json",
                "--time-limit",
                "10",
                "--largest",
                "64K",
                "--concurrent",
                "-o",
            ])
            .arg(&output)
            .arg("--")
            .args(mpi.launch(4, &[])),
    );
    assert_eq!(found["ranks"], 4);
    assert_eq!(found["clusters"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        found["clusters"][0]["hosts"].as_array().map(Vec::len),
        Some(1)
    );
    assert!(
        !found["clusters"][0]["levels"]
            .as_array()
            .expect("a list")
            .is_empty()
    );
    // One pair, and two simultaneously: of four ranks of a host.
    let file = PlatformFile::read(&output).expect("the platform");
    let parallel = &file.platform.contents().parallel;
    let measured = |pairs| move |line: &&Parallel| line.level.is_some() && line.pairs == pairs;
    assert!(parallel.iter().any(|line| measured(1)(&line)));
    assert!(parallel.iter().any(|line| measured(2)(&line)));
    let shown = treepie().arg("show").arg(&output).output();
    let shown = shown.expect("the command starts").stdout;
    assert!(String::from_utf8_lossy(&shown).contains("several pairs at once"));
}

/// The closest level that two processing units share, from the system's data.
fn closest_shared(one: usize, other: usize) -> &'static str {
    let read = |name: String| {
        std::fs::read_to_string(format!("/sys/devices/system/{name}")).unwrap_or_default()
    };
    let has_both = |text: String| {
        let units = list::parse(text.trim()).unwrap_or_default();
        units.contains(&one) && units.contains(&other)
    };
    let cache = |level: usize| {
        let index = |index: usize| format!("cpu/cpu{one}/cache/index{index}");
        let of_level = |index: &String| read(format!("{index}/level")).trim() == level.to_string();
        let caches = (0..8).map(index).filter(of_level);
        caches
            .map(|index| read(format!("{index}/shared_cpu_list")))
            .any(has_both)
    };
    let nodes = list::parse(read("node/online".into()).trim()).unwrap_or_default();
    let mut nodes = nodes.iter();
    let topology = |name: &str| read(format!("cpu/cpu{one}/topology/{name}"));
    match () {
        () if has_both(topology("thread_siblings_list")) => "core",
        () if cache(2) => "l2",
        () if cache(3) => "l3",
        () if nodes.any(|node| has_both(read(format!("node/node{node}/cpulist")))) => "numa",
        () if has_both(topology("core_siblings_list")) => "socket",
        () => "node",
    }
}

/// The processing units that this process may use.
fn allowed_units() -> Vec<usize> {
    let status = std::fs::read_to_string("/proc/self/status").expect("the process's status");
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list::parse(allowed.expect("a list").trim()).expect("numbers")
}

/// Two ranks on one core, a third on another, and a fourth that may run on both: every
/// level that they share is measured, and no other.
fn levels_of_a_host_are_those_that_its_ranks_share(mpi: Mpi) {
    let allowed = allowed_units();
    let (first, last) = (allowed[0], allowed[allowed.len() - 1]);
    // The ranks share every level of this machine.
    let expected: &[&str] = match closest_shared(first, last) {
        "core" => &["core"],
        shared => &[shared, "core"],
    };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let bound = directory.path().join("probe");
    let program = artifacts::measuring("probe");
    let script = format!(
        "#!/bin/sh\ncase \"$OMPI_COMM_WORLD_RANK$PMI_RANK\" in\n0|1) on={first} ;;\n\
         2) on={last} ;;\n*) on={first},{last} ;;\nesac\nexec taskset -c $on '{}' \"$@\"\n",
        program.display()
    );
    std::fs::write(&bound, script).expect("a script");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&bound, executable).expect("an executable script");
    let output = directory.path().join("levels.platform.yaml");
    let found = answer(
        treepie()
            .env("TREEPIE_PROBE_PROGRAM", &bound)
            .args([
                "probe",
                "--json",
                "--time-limit",
                "20",
                "--largest",
                "64K",
                "-o",
            ])
            .arg(&output)
            .arg("--")
            .args(mpi.launch(4, &[])),
    );
    let levels = found["clusters"][0]["levels"].as_array().expect("a list");
    let names: Vec<&str> = levels
        .iter()
        .filter_map(|level| level["level"].as_str())
        .collect();
    assert_eq!(names, expected, "{found}");
    for level in levels {
        let latency = level["link"]["latency"].as_f64().expect("a latency");
        assert!(latency > 0.0 && latency < 1.0, "{level}");
    }
}

/// A job on this machine that measures the platform in `MPI_Init` if none fits.
fn measuring_job(mpi: Mpi, platform: &Path) -> Job {
    Job::new(mpi, 3, "collectives").with(Library::Set(vec![
        ("TREEPIE_MODE", "replay".into()),
        ("TREEPIE_COLLECTIVES", "auto".into()),
        ("TREEPIE_PROBE", "auto".into()),
        ("TREEPIE_PLATFORM", platform.display().to_string()),
        ("TREEPIE_LOG", "info".into()),
    ]))
}

/// Measured once and saved; used from then on; measured again for a run on hosts that are not in
/// the file, which does not change. The job is not affected.
fn a_job_measures_its_platform_when_no_file_fits(mpi: Mpi) {
    let plain = Job::new(mpi, 3, "collectives").run().succeeded();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let platform = directory.path().join("here.platform.yaml");
    let says = |outcome: &Outcome, what: &str| {
        let messages = outcome.messages();
        messages.iter().filter(|line| line.contains(what)).count()
    };
    let measured = "the platform was measured in";
    let elsewhere = "was measured on other hosts: it does not know";

    let first = measuring_job(mpi, &platform).run().succeeded();
    assert_eq!(first.stdout, plain.stdout, "{}", first.told());
    assert_eq!(says(&first, measured), 1, "{}", first.told());
    let kept = PlatformFile::read(&platform).expect("the platform is kept");
    assert_eq!(kept.platform.ranks(), 3);
    assert_eq!(kept.platform.clusters().len(), 1);

    let second = measuring_job(mpi, &platform).run().succeeded();
    assert_eq!(second.stdout, plain.stdout, "{}", second.told());
    assert_eq!(says(&second, measured), 0, "{}", second.told());

    let host = &kept.platform.hosts()[0].name;
    let text = std::fs::read_to_string(&platform).expect("the file");
    let other = text.replace(host.as_str(), "elsewhere");
    std::fs::write(&platform, &other).expect("the file");
    let third = measuring_job(mpi, &platform).run().succeeded();
    assert_eq!(third.stdout, plain.stdout, "{}", third.told());
    assert_eq!(says(&third, elsewhere), 1, "{}", third.told());
    assert_eq!(says(&third, measured), 1, "{}", third.told());
    assert_eq!(std::fs::read_to_string(&platform).expect("the file"), other);
}

/// Without `probe`, a platform of other hosts is refused with one line, and the native collectives
/// run.
fn a_platform_of_other_hosts_is_told_with_one_line(mpi: Mpi) {
    let outcome = Job::new(mpi, 2, "collectives")
        .with(Library::Set(vec![
            ("TREEPIE_MODE", "replay".into()),
            ("TREEPIE_COLLECTIVES", "auto".into()),
            (
                "TREEPIE_PLATFORM",
                profile("two-clusters.platform.yaml").display().to_string(),
            ),
        ]))
        .run()
        .succeeded();
    let messages = outcome.messages();
    assert_eq!(messages.len(), 1, "{}", outcome.told());
    assert!(
        messages[0].contains("two-clusters.platform.yaml: was measured on other hosts"),
        "{}",
        outcome.told()
    );
}

/// A rank dies before the platform is measured: one line, and no file.
fn a_probe_whose_ranks_die_says_so_and_leaves_an_old_platform_alone(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output = directory.path().join("old.platform.yaml");
    std::fs::copy(profile("two-clusters.platform.yaml"), &output).expect("a copy");
    let before = std::fs::read(&output).expect("the copy");
    let dying = directory.path().join("probe");
    let script = format!(
        "#!/bin/sh\nif [ \"$OMPI_COMM_WORLD_RANK$PMI_RANK\" = 1 ]; then\n\
         exec timeout -s KILL 0.1 '{0}' \"$@\"\nfi\nexec '{0}' \"$@\"\n",
        artifacts::measuring("probe").display()
    );
    std::fs::write(&dying, script).expect("a script");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&dying, executable).expect("an executable script");
    let done = Command::new("timeout")
        .arg("60")
        .arg(artifacts::command())
        .env("TREEPIE_PROBE_PROGRAM", &dying)
        // Long messages, so that it takes longer than the rank lives.
        .args(["probe", "--largest", "64M", "-o"])
        .arg(&output)
        .arg("--")
        .args(mpi.launch(3, &[]))
        .output()
        .expect("the command starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    let ours = said.lines().filter(|line| line.starts_with("treepie:"));
    let ours: Vec<&str> = ours.collect();
    assert_eq!(ours.len(), 1, "{said}");
    assert!(ours[0].contains("the platform was not measured"), "{said}");
    assert_eq!(std::fs::read(&output).expect("the file"), before);
}

under_each_mpi!(
    this_machine_is_one_host,
    levels_of_a_host_are_those_that_its_ranks_share,
    a_job_measures_its_platform_when_no_file_fits,
    a_platform_of_other_hosts_is_told_with_one_line,
    a_probe_whose_ranks_die_says_so_and_leaves_an_old_platform_alone,
);

#[test]
fn predictions_are_compared_with_measured_times() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (times, picture) = (
        directory.path().join("times.csv"),
        directory.path().join("times.svg"),
    );
    let platform = profile("two-clusters.platform.yaml");
    let predicted = answer(treepie().arg("predict").arg(&platform).args([
        "--collective",
        "bcast",
        "--bytes",
        "64K",
        "--segment",
        "64K",
        "--json",
    ]));
    let flat = predicted["algorithms"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|strategy| strategy["algorithm"] == "flat")
        .expect("the flat tree");
    let seconds = flat["seconds"].as_f64().expect("a time");
    let line = format!("# comment\nbcast,flat,65536,,{}\n", seconds / 1.25);
    std::fs::write(&times, line).expect("a file");
    let found = answer(
        treepie()
            .arg("predict")
            .arg(&platform)
            .arg("--measured")
            .arg(&times)
            .arg("-o")
            .arg(&picture)
            .arg("--json"),
    );
    let error = found["median_error"].as_f64().expect("a number");
    assert!((error - 0.25).abs() < 1e-9, "{found}");
    assert!(picture.exists());
    for (text, expected) in [
        ("", "has no measured times"),
        ("bcast,flat,65536,\n", "is no measured time"),
        ("bcast,flat,65536,,-1\n", "is no measured time"),
        ("bcast,fastest,65536,,1\n", "has no algorithm fastest here"),
    ] {
        std::fs::write(&times, text).expect("a file");
        let output = treepie()
            .arg("predict")
            .arg(&platform)
            .arg("--measured")
            .arg(&times)
            .output()
            .expect("the command starts");
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains(expected) && said.lines().count() == 1,
            "{said}"
        );
    }
}
