//! Jobs whose programs run in containers: Podman's and bubblewrap's, and those of Apptainer,
//! Shifter and pyxis, for which stand-ins take the documented options and refuse all others. These
//! containers have neither the library nor the directory that it writes to, unless the command
//! binds them. Run as root.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use treepie_base::{Process, Rank};
use treepie_profile::Profile;
use treepie_tests::{
    Mpi, Outcome, artifacts, assert_same_output, find_command, run_watched, under_each_mpi,
};

const LIMIT: Duration = Duration::from_secs(120);

/// Directories of a test: programs that stand before others, the launcher's files, profiles.
struct Site {
    directory: TempDir,
}

impl Site {
    fn new() -> Site {
        for (program, package) in [
            ("podman", "podman crun"),
            ("bwrap", "bubblewrap"),
            ("musl-gcc", "musl-tools"),
        ] {
            assert!(
                find_command(program).is_some(),
                "{program} is not installed; run scripts/setup test (or apt-get install -y {package})"
            );
        }
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        for name in ["bin", "session", "out"] {
            fs::create_dir(directory.path().join(name)).expect("it is ours");
        }
        Site { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A script in the first directory of `PATH`.
    fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, script).expect("it is ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    /// Runs a command line of the shell's, with the command as `$treepie`, a mount namespace of its
    /// own, and these variables.
    fn shell(&self, line: &str, variables: &[(&str, String)]) -> Outcome {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-c", &format!("{OWN_CGROUPS}{line}")])
            .env("PATH", format!("{}:{path}", self.text("bin")))
            .env("treepie", artifacts::command())
            .envs(variables.iter().map(|(name, value)| (name, value)));
        run_watched(command, LIMIT, line)
    }

    /// The profile that a run left, which is removed.
    fn take_profile(&self, outcome: &Outcome) -> Profile {
        let path = self.path("out/a.profile.yaml");
        let profile = Profile::read(&path);
        let profile = profile.unwrap_or_else(|error| panic!("{error}: {}", outcome.told()));
        assert_eq!(profile.ranks, 2);
        assert!(profile.point_to_point.total().messages > 0);
        fs::remove_file(path).expect("it is ours");
        profile
    }
}

/// crun refuses a machine with both versions of control groups.
const OWN_CGROUPS: &str = "umount -l /sys/fs/cgroup/unified 2>/dev/null\n";

/// The launcher as a line of the shell's, with its files in a directory that containers share.
fn launcher(mpi: Mpi, site: &Site) -> String {
    let words = mpi.launch(2, &[]);
    let words: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let own = match mpi {
        Mpi::OpenMpi => format!(" --mca orte_tmpdir_base {}", site.text("session")),
        _ => String::new(),
    };
    words.join(" ") + &own
}

/// bubblewrap's options for a root with this machine's programs and the jobs of one MPI.
fn root(mpi: Mpi, site: &Site) -> String {
    let jobs = artifacts::job(mpi, "ring").canonicalize();
    let jobs = jobs.expect("it is there");
    let jobs = jobs
        .parent()
        .unwrap_or(Path::new("/"))
        .display()
        .to_string();
    let links = ["lib", "lib64", "bin"].map(|name| format!("--symlink usr/{name} /{name} "));
    format!(
        "--ro-bind /usr /usr --ro-bind /etc /etc --ro-bind /sys /sys {} --proc /proc --dev-bind /dev /dev \
         --bind {session} {session} --ro-bind {jobs} {jobs}",
        links.concat(),
        session = site.text("session"),
    )
}

fn ring(mpi: Mpi) -> String {
    let path = artifacts::job(mpi, "ring").canonicalize();
    path.expect("it is there").display().to_string()
}

fn jobs_in_bubblewrap_are_profiled_replayed_learnt_from_and_measured(mpi: Mpi) {
    let site = Site::new();
    let job = format!("{} bwrap {}", launcher(mpi, &site), root(mpi, &site));
    let out = site.text("out");
    let ring = ring(mpi);
    let plain = site.shell(&format!("{job} -- {ring}"), &[]).succeeded();
    let profiled = format!("$treepie profile -q -o {out}/a.profile.yaml -- {job} -- {ring}");
    let outcome = site.shell(&profiled, &[]).succeeded().silent();
    assert_same_output(&plain, &outcome);
    site.take_profile(&outcome);
    let replayed =
        format!("$treepie replay -q --permutation 1,0 -o {out}/a.profile.yaml -- {job} {ring}");
    let outcome = site.shell(&replayed, &[]).succeeded().silent();
    assert_same_output(&plain, &outcome);
    assert_eq!(
        site.take_profile(&outcome).process_of_rank[Rank(0)],
        Process(1)
    );
    let learnt = format!("$treepie run --store {out}/store -- {job} {ring}");
    let outcome = site.shell(&learnt, &[]).succeeded();
    assert!(outcome.stderr.contains("run 1"), "{}", outcome.told());
    let measured = format!(
        "$treepie tune -q --time-limit 2 --collectives bcast --sizes 1K -o {out}/a.tuning.yaml -- {job}"
    );
    let outcome = site.shell(&measured, &[]).succeeded();
    assert!(
        site.path("out/a.tuning.yaml").exists(),
        "{}",
        outcome.told()
    );
}

fn run_times_that_are_not_here_get_what_they_document(mpi: Mpi) {
    let site = Site::new();
    let runtime = artifacts::repository().join("tests/stand-ins/containers/runtime.py");
    let runtime = runtime.canonicalize().expect("it is there");
    for name in ["apptainer", "shifter", "srun"] {
        symlink(&runtime, site.path("bin").join(name)).expect("it is ours");
    }
    let (out, ring) = (site.text("out"), ring(mpi));
    let variables = [
        ("STAND_IN_ROOT", root(mpi, &site)),
        (
            "STAND_IN_LAUNCHER",
            launcher(mpi, &site).replace(" -n 2", ""),
        ),
    ];
    let launcher = launcher(mpi, &site);
    for job in [
        format!("{launcher} apptainer exec --bind /usr/share:/mnt:ro a.sif {ring}"),
        format!("{launcher} shifter --image=docker:debian:12 {ring}"),
        format!("srun -n 2 --container-image=debian:12 {ring}"),
        format!("srun -n 2 --container-image debian:12 --container-mounts /usr/share:/mnt {ring}"),
    ] {
        let line = format!("$treepie profile -q -o {out}/a.profile.yaml -- {job}");
        let outcome = site.shell(&line, &variables).succeeded().silent();
        assert!(outcome.stdout.contains("token 3"), "{}", outcome.told());
        site.take_profile(&outcome);
    }
}

#[test]
fn a_job_under_pyxis_runs_without_the_library_where_musl_cannot_load_it() {
    let site = Site::new();
    let runtime = artifacts::repository().join("tests/stand-ins/containers/runtime.py");
    let runtime = runtime.canonicalize().expect("it is there");
    symlink(&runtime, site.path("bin/srun")).expect("it is ours");
    let (image, out) = (site.text("musl"), site.text("out"));
    let script = artifacts::repository().join("tests/suites/image.sh");
    let made = format!("{} {image} --musl", script.display());
    site.shell(&made, &[]).succeeded();
    let mpi = Mpi::OpenMpi;
    let programs = format!(
        "{} --ro-bind {image}/usr/bin/true /usr/bin/true --ro-bind {image}/job /mnt",
        root(mpi, &site)
    );
    let own_launcher = launcher(mpi, &site).replace(" -n 2", " -x SLURM_PROCID=0");
    let variables = [
        ("STAND_IN_ROOT", programs),
        ("STAND_IN_LAUNCHER", own_launcher),
    ];
    let job = "srun -n 1 --container-image=alpine /mnt/hello";
    let profiled = format!("$treepie profile -o {out}/a.profile.yaml -- {job}");
    let outcome = site.shell(&profiled, &variables);
    assert_eq!(outcome.stdout, "hello from musl\n", "{}", outcome.told());
    assert!(
        outcome.stderr.contains("musl as its C library")
            && outcome.stderr.contains("without treepie"),
        "{}",
        outcome.told()
    );
    let strict = format!("$treepie replay --strict --permutation 0 -- {job}");
    let outcome = site.shell(&strict, &variables);
    assert_eq!(outcome.stdout, "", "{}", outcome.told());
    assert!(!outcome.status.success() && outcome.stderr.contains("use an image with glibc"));
}

under_each_mpi! {
    jobs_in_bubblewrap_are_profiled_replayed_learnt_from_and_measured,
    run_times_that_are_not_here_get_what_they_document,
}

/// Podman with storage and limits of its own, and two images: one with a program under Open MPI and
/// one of musl.
fn podman(site: &Site) -> Vec<(&'static str, String)> {
    let (containers, storage) = (site.text("containers.conf"), site.text("storage.conf"));
    let settings = "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n\
                    [engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n";
    fs::write(&containers, settings).expect("it is ours");
    let own = site.text("podman");
    let settings =
        format!("[storage]\ndriver = \"vfs\"\ngraphroot = \"{own}\"\nrunroot = \"{own}/run\"\n");
    fs::write(&storage, settings).expect("it is ours");
    // Keeps what each run-time was started with.
    let record = format!(
        "#!/bin/sh\necho \"LD_PRELOAD=$LD_PRELOAD\" >>{}\nexec {} \"$@\"\n",
        site.text("record"),
        find_command("podman").expect("it was looked for").display()
    );
    site.program("podman", &record);
    let variables = vec![
        ("CONTAINERS_CONF", containers),
        ("CONTAINERS_STORAGE_CONF", storage),
    ];
    let script = artifacts::repository().join("tests/suites/image.sh");
    let (program, roots) = (artifacts::job(Mpi::OpenMpi, "ring"), site.text("roots"));
    let line = format!(
        "set -e; for image in ring musl; do\n\
         case $image in ring) program={} ;; musl) program=--musl ;; esac\n\
         {} {roots}/$image $program\n\
         tar -C {roots}/$image -c . | podman import --quiet - $image\ndone",
        program.display(),
        script.display(),
    );
    site.shell(&line, &variables).succeeded();
    variables
}

#[test]
fn jobs_in_podman_are_profiled_and_the_library_is_in_the_container_alone() {
    let site = Site::new();
    let variables = podman(&site);
    let (out, session) = (site.text("out"), site.text("session"));
    let options = format!("--env-host -v {session}:{session} --network=host --pid=host --ipc=host");
    let launcher = launcher(Mpi::OpenMpi, &site);
    // By its path: Open MPI's launcher looks beside itself before it looks in `PATH`.
    let podman = site.text("bin/podman");
    let job = format!("{launcher} {podman} run --rm {options} ring /job/ring");
    let plain = site.shell(&job, &variables).succeeded();
    let profiled = |job: &str| format!("$treepie profile -q -o {out}/a.profile.yaml -- {job}");
    let outcome = site.shell(&profiled(&job), &variables).succeeded().silent();
    assert_same_output(&plain, &outcome);
    site.take_profile(&outcome);
    let replayed = format!("$treepie replay -q --permutation 1,0 -o {out}/a.profile.yaml -- {job}");
    let outcome = site.shell(&replayed, &variables).succeeded().silent();
    assert_same_output(&plain, &outcome);
    assert_eq!(
        site.take_profile(&outcome).process_of_rank[Rank(0)],
        Process(1)
    );
    // Both images, the plain job, and two with a trial each.
    let record = fs::read_to_string(site.path("record")).expect("it was written");
    assert!(record.lines().count() >= 10, "{record}");
    assert!(record.lines().all(|line| line == "LD_PRELOAD="), "{record}");

    // A C library that cannot load the library.
    let musl = format!("{launcher} {podman} run --rm {options} musl /job/hello");
    let outcome = site.shell(&profiled(&musl), &variables);
    assert_eq!(
        outcome.stdout,
        "hello from musl\n".repeat(2),
        "{}",
        outcome.told()
    );
    let messages = outcome.messages();
    assert!(
        messages[0].contains("musl has musl as its C library"),
        "{}",
        outcome.told()
    );
    assert!(
        messages[0].contains("use an image with glibc"),
        "{}",
        outcome.told()
    );
    let outcome = site.shell(
        &format!("$treepie replay --permutation 1,0 -- {musl}"),
        &variables,
    );
    assert_eq!(outcome.succeeded().messages().len(), 1);
    let strict = format!("$treepie replay --strict --permutation 1,0 -- {musl}");
    let outcome = site.shell(&strict, &variables);
    assert_eq!(
        (outcome.status.code(), &*outcome.stdout),
        (Some(2), ""),
        "{}",
        outcome.told()
    );
    let doctor = site.shell(&format!("$treepie doctor -- {musl}"), &variables);
    assert!(
        doctor.stdout.contains("has musl as its C library"),
        "{}",
        doctor.told()
    );

    // A container that was started without the library's directory.
    let line = format!(
        "podman run -d --rm --name=running {options} ring sleep 60 >/dev/null\n\
         {}; status=$?; podman rm -f -t 0 running >/dev/null; exit $status",
        profiled(&format!("{launcher} podman exec running /usr/bin/true"))
    );
    let outcome = site.shell(&line, &variables);
    assert!(
        outcome.messages()[0].contains("running does not have "),
        "{}",
        outcome.told()
    );
    assert!(
        !outcome.stderr.contains("cannot be preloaded"),
        "{}",
        outcome.told()
    );
}
