//! The files of `scripts/install` work where they are put, and after they are moved.

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use treepie_tests::{Mpi, Outcome, artifacts, run_watched, under_each_mpi};

fn run(words: &[&str], directory: &Path) -> Outcome {
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .current_dir(directory)
        .env_remove("TREEPIE_LIBRARY");
    run_watched(command, Duration::from_secs(60), &words.join(" "))
}

fn a_job_is_profiled_from_an_installed_tree_that_was_moved(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let script = artifacts::repository().join("scripts/install");
    let script = script.display().to_string();
    run(&[&script, "--prefix", &at("first")], directory.path()).succeeded();
    std::fs::rename(at("first"), at("second")).expect("it is a directory of ours");
    for file in [
        "lib/treepie/libtreepie_hwloc.so",
        "lib/treepie/probe",
        "lib/treepie/tune",
        "share/man/man1/treepie-replay.1",
        "share/bash-completion/completions/treepie",
        "share/man/man7/treepie-hangs.7",
        "share/doc/treepie/LD_PRELOAD.md",
        "share/doc/treepie/docs/guide/placement.md",
        "share/treepie/profiles/4x2x2.topology.yaml",
    ] {
        let path = directory.path().join("second").join(file);
        assert!(path.is_file(), "{} is missing", path.display());
    }
    let outcome = run(
        &[
            &at("second/bin/treepie"),
            "profile",
            "-o",
            "app.profile.yaml",
            "--",
            &mpi.launcher().display().to_string(),
            "-n",
            "2",
            &artifacts::job(mpi, "where").display().to_string(),
        ],
        directory.path(),
    )
    .succeeded();
    assert!(
        directory.path().join("app.profile.yaml").is_file(),
        "{}",
        outcome.told()
    );
}

/// The names of a file's sections.
fn sections(file: &str) -> String {
    run(&["readelf", "--sections", "--wide", file], Path::new("/"))
        .succeeded()
        .stdout
}

#[test]
fn what_is_installed_is_stripped_and_its_debug_information_is_found() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let prefix = directory.path().display().to_string();
    let script = artifacts::repository().join("scripts/install");
    let script = script.display().to_string();
    run(&[&script, "--prefix", &prefix], directory.path()).succeeded();
    for (folder, name) in [
        ("bin", "treepie"),
        ("lib/treepie", "libtreepie.so"),
        ("lib/treepie", "libtreepie_hwloc.so"),
    ] {
        let stripped = sections(&format!("{prefix}/{folder}/{name}"));
        assert!(!stripped.contains(".debug_line"), "{name}: {stripped}");
        assert!(stripped.contains(".gnu_debuglink"), "{name}: {stripped}");
        let beside = sections(&format!("{prefix}/{folder}/.debug/{name}.debug"));
        assert!(beside.contains(".debug_line"), "{name}: {beside}");
    }
}

/// Environment modules in Debian's version.
#[test]
fn a_module_is_loaded_and_unloaded() {
    let modules = "/usr/share/modules/init/bash";
    assert!(
        Path::new(modules).exists(),
        "{modules} is missing; run scripts/setup test (or apt-get install -y environment-modules)"
    );
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let prefix = directory.path().join("treepie");
    let prefix = prefix.display().to_string();
    let script = artifacts::repository().join("scripts/install");
    let script = script.display().to_string();
    run(&[&script, "--prefix", &prefix], directory.path()).succeeded();
    let commands = format!(
        "source {modules}\n\
         module use {prefix}/share/modulefiles\n\
         module load treepie && command -v treepie && echo $TREEPIE_LIBRARY && man -w treepie\n\
         module unload treepie && echo \"gone: $(command -v treepie)$TREEPIE_LIBRARY\"\n"
    );
    let path = "PATH=/usr/bin:/bin";
    let words = ["env", "-i", path, "bash", "-c", &commands];
    let outcome = run(&words, directory.path()).succeeded();
    let expected = format!(
        "{prefix}/bin/treepie\n{prefix}/lib/treepie/libtreepie.so\n\
         {prefix}/share/man/man1/treepie.1\ngone: \n"
    );
    assert_eq!(outcome.stdout, expected, "{}", outcome.told());
}

/// `dpkg` with its installed files and its database under a directory.
fn dpkg(root: &Path, words: &[&str]) -> Outcome {
    let root_option = format!("--root={}", root.display());
    let options = ["--force-depends", "--force-not-root"];
    let all = [&["dpkg", &root_option], &options[..], words].concat();
    run(&all, root).succeeded()
}

/// The whole package: made from the portable build, installed by dpkg under a directory, a job
/// profiled from there with the libraries that the command finds next to itself, and removed again.
#[test]
fn the_debian_package_installs_a_command_that_finds_its_library_and_is_removed() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let script = artifacts::repository().join("scripts/package");
    let mut command = Command::new(script);
    command.current_dir(directory.path());
    let made = run_watched(command, Duration::from_secs(240), "scripts/package").succeeded();
    let package = made.stdout.lines().last().unwrap_or_default().to_owned();
    let root = directory.path().join("root");
    let at = |path: &str| root.join(path).display().to_string();
    for folder in ["info", "updates", "triggers"] {
        std::fs::create_dir_all(at(&format!("var/lib/dpkg/{folder}"))).expect("it is ours");
    }
    std::fs::write(at("var/lib/dpkg/status"), "").expect("it is ours");
    dpkg(&root, &["-i", &package]);
    let control = run(&["dpkg-deb", "-f", &package], directory.path()).succeeded();
    for line in ["Package: treepie", "Depends: libc6 (>= 2.17)"] {
        assert!(control.stdout.contains(line), "{}", control.told());
    }
    for file in [
        "usr/share/man/man1/treepie-map.1.gz",
        "usr/share/man/man7/treepie-variables.7.gz",
        "usr/share/doc/treepie/docs/figures/pictures/halo2d.svg",
        "usr/share/modulefiles/treepie",
        "usr/share/doc/treepie/copyright",
        "usr/share/doc/treepie/THIRDPARTY.gz",
    ] {
        assert!(root.join(file).exists(), "{file} is not in {package}");
    }
    let version = run(&[&at("usr/bin/treepie"), "--version"], directory.path()).succeeded();
    let library = root
        .canonicalize()
        .expect("it was unpacked")
        .join("usr/lib/treepie/libtreepie.so");
    let found = format!("{}: ", library.display());
    assert!(version.stdout.contains(&found), "{}", version.told());
    assert!(
        version
            .stdout
            .contains("procedures of Open MPI, of MPICH's family"),
        "{}",
        version.told()
    );
    let launcher = Mpi::Mpich.launcher().display().to_string();
    let job = artifacts::job(Mpi::Mpich, "where").display().to_string();
    let words = [
        "profile",
        "-o",
        "app.profile.yaml",
        "--",
        &launcher,
        "-n",
        "2",
        &job,
    ];
    let command = at("usr/bin/treepie");
    run(
        &[&[command.as_str()][..], &words].concat(),
        directory.path(),
    )
    .succeeded();
    assert!(directory.path().join("app.profile.yaml").is_file());
    let words = [
        &command,
        "probe",
        "-o",
        "here.platform.yaml",
        "--",
        &launcher,
        "-n",
        "2",
    ];
    let probed = run(&words, directory.path()).succeeded();
    assert!(
        probed.stdout.starts_with("here.platform.yaml: 2 ranks"),
        "{}",
        probed.told()
    );
    dpkg(&root, &["-r", "treepie"]);
    let left = root.join("usr");
    assert!(!left.exists(), "{} is left", left.display());
}

#[test]
fn a_directory_that_cannot_be_preloaded_from_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let script = artifacts::repository().join("scripts/install");
    let script = script.display().to_string();
    let outcome = run(&[&script, "--prefix", "/tmp/a place"], directory.path());
    assert!(!outcome.status.success());
    let said = "LD_PRELOAD cannot hold a path with a space or a colon";
    assert!(outcome.stderr.contains(said), "{}", outcome.told());
}

under_each_mpi!(a_job_is_profiled_from_an_installed_tree_that_was_moved);

/// The wheel in a fresh virtual environment, without the dependencies of its Python package: a job
/// is profiled by the command installed by `pip`, and nothing is left behind.
#[test]
fn the_wheel_installs_a_command_that_finds_its_library_and_is_removed() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let directory = directory.path().canonicalize().expect("it is there");
    let at = |name: &str| directory.join(name).display().to_string();
    let mut command = Command::new(artifacts::repository().join("packaging/wheel"));
    command.arg(at("made"));
    let made = run_watched(command, Duration::from_secs(240), "packaging/wheel").succeeded();
    let wheel = made.stdout.lines().last().unwrap_or_default().to_owned();
    assert!(wheel.contains("-py3-none-manylinux_2_17_x86_64"), "{wheel}");
    run(&["python3", "-m", "venv", &at("venv")], &directory).succeeded();
    let pip = at("venv/bin/pip");
    let options = ["install", "--quiet", "--no-index", "--no-deps"];
    run(
        &[&[pip.as_str()], &options[..], &[&wheel]].concat(),
        &directory,
    )
    .succeeded();
    let command = at("venv/bin/treepie");
    let version = run(&[&command, "--version"], &directory).succeeded();
    let library = at("venv/lib/treepie/libtreepie.so");
    assert!(version.stdout.contains(&library), "{}", version.told());
    let launcher = Mpi::Mpich.launcher().display().to_string();
    let job = artifacts::job(Mpi::Mpich, "where").display().to_string();
    let words = [
        "profile",
        "-o",
        "app.profile.yaml",
        "--",
        &launcher,
        "-n",
        "2",
    ];
    run(
        &[&[command.as_str()], &words[..], &[&job]].concat(),
        &directory,
    )
    .succeeded();
    assert!(directory.join("app.profile.yaml").is_file());
    let remove = ["uninstall", "--quiet", "--yes", "treepie"];
    run(&[&[pip.as_str()], &remove[..]].concat(), &directory).succeeded();
    assert!(!Path::new(&library).exists());
}
