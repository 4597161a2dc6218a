//! Every command shown in a document is run, in the order of the text, and its output is compared.
//!
//! The reader is a new user: a fresh clone, a new home, an empty environment, with one MPI's
//! `mpicc`, `mpif90`, `mpirun` on PATH. For README.md the parts of the clone that quickstart needs
//! are compiled, too, with the third-party crates of the tests; for the other documents the
//! existing build is used (`USE_BUILD`).

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use treepie_tests::book::{figures, pages, read};
use treepie_tests::document::{Shown, blocks, fits, outputs, script};
use treepie_tests::{Mpi, artifacts, run_watched, under_each_mpi};

/// Contents of `sh` blocks: commands that take long or need more than a user has, and the script
/// that runs them instead.
const RUN_ELSEWHERE: &[(&str, &str)] = &[
    // The tests themselves are run by it.
    ("./scripts/test", ".ci/run"),
    ("scripts/grid", "tests/tests/emulated_grid.rs"),
    // Both in LD_PRELOAD.md and docs/site/install.md, with the existing build.
    ("scripts/build", "scripts/test"),
    ("scripts/install", "tests/tests/installed.rs"),
    ("treepie prove", "tests/tests/prove.rs"),
    ("treepie compare placed-", "tests/tests/prove.rs"),
    ("treepie run", "tests/tests/learning.rs"),
    ("treepie history", "tests/tests/learning.rs"),
    ("treepie tune", "tests/tests/tuning/measured.rs"),
    ("treepie supervise", "tests/tests/supervise.rs"),
    ("treepie cut", "tests/tests/cut.rs"),
    ("treepie predict cluster.", "shim/cli/tests/checkpoints.rs"),
];

/// Documents outside the book that show commands.
const BESIDE: [&str; 3] = ["README.md", "LD_PRELOAD.md", "profiles/README.md"];

/// Pages of the book without measurements.
fn guide() -> Vec<String> {
    let measured = figures();
    let pages = pages().into_iter();
    pages.filter(|page| !measured.contains(page)).collect()
}

/// The new user's desk.
struct Desk {
    directory: tempfile::TempDir,
    mpi: Mpi,
    build: Build,
}

/// Source of the files that the scripts of the clone build.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Build {
    /// None: the files of the tests are linked. The command is already installed.
    Linked,
    /// Everything that scripts/quickstart compiles, from scratch.
    Own,
}

impl Desk {
    fn new(mpi: Mpi, build: Build) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let mut desk = Desk {
            directory,
            mpi,
            build,
        };
        for name in ["home", "bin"] {
            std::fs::create_dir(desk.path(name)).expect("the desk is writable");
        }
        desk.stand_in_for_slurm();
        desk.clone_repository();
        if build == Build::Own {
            desk.take_over_crates_of_others();
            desk.optimise_nothing();
        }
        desk.turn_to(mpi);
        desk
    }

    /// Puts this MPI's commands on PATH from now on.
    fn turn_to(&mut self, mpi: Mpi) {
        self.mpi = mpi;
        let launcher = mpi.launcher();
        let compiler = mpi.compiler();
        let fortran = compiler.display().to_string().replace("mpicc", "mpif90");
        for (name, file) in [
            ("mpirun", &launcher),
            ("mpiexec", &launcher),
            ("mpicc", &compiler),
            ("mpif90", &PathBuf::from(fortran)),
        ] {
            // Hydra searches for its helpers in its own directory, so that a link does not suffice.
            self.executable(
                name,
                &format!("#!/bin/sh\nexec {} \"$@\"\n", file.display()),
            );
        }
        // Polling ranks take ten times as long if eight share two cores.
        let yields = mpi.preload().map_or(String::new(), |library| {
            format!("LD_PRELOAD=$LD_PRELOAD:{} ", library.display())
        });
        let lammps = artifacts::lammps(mpi).display().to_string();
        self.executable("lmp", &format!("#!/bin/sh\n{yields}exec {lammps} \"$@\"\n"));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// `srun -n N --export=ALL,A=b,... PROGRAM`, by the installed launcher.
    fn stand_in_for_slurm(&self) {
        let script = "#!/bin/bash\n\
            [ \"$1\" = -n ] || exit 2\n\
            ranks=$2; export=${3#--export=ALL,}; shift 3\n\
            passed=()\n\
            IFS=, read -ra variables <<<\"$export\"\n\
            exec mpirun -n \"$ranks\" env \"${variables[@]}\" \"$@\"\n";
        self.executable("srun", script);
    }

    /// A script on the desk's PATH.
    fn executable(&self, name: &str, script: &str) {
        let file = self.path("bin").join(name);
        std::fs::write(&file, script).expect("the desk is writable");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&file, executable).expect("it is ours");
    }

    /// A copy of the files tracked by git, in their present state.
    fn clone_repository(&self) {
        let copy = "git -C \"$1\" ls-files -z | tar -C \"$1\" --null -T - -c | tar -C \"$2\" -x";
        let target = self.path("treepie");
        std::fs::create_dir(&target).expect("the desk is writable");
        let mut command = Command::new("bash");
        command
            .args(["-o", "pipefail", "-c", copy, "bash"])
            .args([artifacts::repository(), target]);
        run_watched(command, Duration::from_secs(60), "a fresh clone").succeeded();
    }

    /// Copies the third-party crates compiled by the tests' own build, which are the same in each
    /// clone and take most of the time to compile.
    fn take_over_crates_of_others(&self) {
        let executable = std::env::current_exe().expect("a test is a file");
        let built = executable.ancestors().nth(2).expect("target/debug/deps");
        let target = self.path("treepie/build/target/debug");
        let lock = read("Cargo.lock");
        let packages = lock.split("[[package]]");
        let of_others: BTreeSet<String> = packages
            .filter(|package| package.contains("\nsource = "))
            .filter_map(|package| package.split('"').nth(1).map(|name| name.replace('-', "_")))
            .collect();
        let is_of_others = |file: &str| {
            let stem = file.split('.').next().unwrap_or_default();
            let name = stem.rsplit_once('-').map_or(stem, |(name, _)| name);
            let name = name.replace('-', "_");
            of_others.contains(&name)
                || name
                    .strip_prefix("lib")
                    .is_some_and(|name| of_others.contains(name))
        };
        for folder in [".fingerprint", "build", "deps"] {
            let to = target.join(folder);
            std::fs::create_dir_all(&to).expect("the desk is writable");
            let entries = std::fs::read_dir(built.join(folder)).expect("cargo made it");
            let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
            let files: Vec<PathBuf> = files
                .filter(|path| {
                    is_of_others(&path.file_name().unwrap_or_default().to_string_lossy())
                })
                .collect();
            assert!(!files.is_empty(), "{} has none", built.display());
            let mut command = Command::new("cp");
            command
                .args(["-a", "--reflink=auto", "-t"])
                .arg(to)
                .args(files);
            run_watched(command, Duration::from_secs(120), "crates of others").succeeded();
        }
    }

    /// Makes cargo compile without the optimizations of the workspace: the test only shows that a
    /// clone is complete.
    fn optimise_nothing(&self) {
        let manifest = read("Cargo.toml");
        let tables = manifest
            .lines()
            .filter(|line| line.starts_with("[profile.dev.package"));
        let text: String = tables
            .map(|table| format!("{table}\nopt-level = 0\n"))
            .collect();
        std::fs::create_dir(self.path(".cargo")).expect("the desk is writable");
        std::fs::write(self.path(".cargo/config.toml"), text).expect("the desk is writable");
    }

    /// bash in the clone, in the new user's environment. Only Rust's tools are those of the tests.
    fn shell(&self) -> Command {
        let mut path = format!("{}:", self.path("bin").display());
        if self.build == Build::Linked {
            let command = artifacts::command();
            let directory = command.parent().unwrap_or(Path::new("/"));
            path += &format!("{}:", directory.display());
        }
        let cargo = treepie_tests::find_command("cargo");
        if let Some(directory) = cargo.as_deref().and_then(Path::parent) {
            path += &format!("{}:", directory.display());
        }
        path += "/usr/bin:/bin:/usr/sbin:/sbin";
        let mut command = Command::new("bash");
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", path)
            // A machine of two cores represents a cluster.
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .env("OMPI_MCA_hwloc_base_binding_policy", "none")
            .env("OMPI_MCA_mpi_yield_when_idle", "1")
            .current_dir(self.path("treepie"));
        match self.build {
            Build::Linked => command
                .env("MPICC", self.mpi.compiler())
                .env("USE_BUILD", artifacts::build_directory()),
            Build::Own => command.envs(rust_of_the_tests()),
        };
        command
    }

    /// Runs commands in succession in one shell.
    fn run(&self, shown: &[Shown]) -> String {
        let mut command = self.shell();
        command.args(["-c", &script(shown)]);
        let limit = Duration::from_secs(match self.build {
            Build::Linked => 300,
            Build::Own => 1800,
        });
        let title = format!("a document's commands under {}", self.mpi);
        run_watched(command, limit, &title).stdout
    }

    /// The commands that a document shows for this MPI.
    fn shown(&self, name: &str) -> Vec<Shown> {
        let blocks = blocks(name, &read(name));
        let shown = blocks.iter().map(|block| block.shown(self.mpi.name()));
        shown.flatten().collect()
    }

    /// Runs all commands of a document, and compares.
    fn follow(&self, name: &str) {
        let shown = self.shown(name);
        assert!(!shown.is_empty(), "{name} shows no command");
        let all = self.run(&shown);
        let found = outputs(&all);
        let mut wrong = String::new();
        for (place, one) in shown.iter().enumerate() {
            let (printed, status) = found.get(place).cloned().unwrap_or_default();
            if place >= found.len() || status != 0 || !fits(&one.printed, &printed) {
                wrong += &format!(
                    "{name}:{}: $ {}\n--- the document has\n{}\n--- it prints (status {status})\n{}\n\n",
                    one.line,
                    one.command,
                    one.printed.join("\n"),
                    printed.join("\n")
                );
            }
        }
        assert!(wrong.is_empty(), "under {}:\n{wrong}", self.mpi);
    }
}

/// The Rust that compiles the tests, and its downloaded crates; and the profile with which the
/// tests are compiled.
fn rust_of_the_tests() -> Vec<(&'static str, String)> {
    let home = std::env::var("HOME").unwrap_or_default();
    let place = |name: &str, folder: &str| {
        let beside = format!("{home}/{folder}");
        std::env::var(name).unwrap_or(beside)
    };
    vec![
        ("CARGO_HOME", place("CARGO_HOME", ".cargo")),
        ("RUSTUP_HOME", place("RUSTUP_HOME", ".rustup")),
        ("QUICK_PROFILE", "dev".to_owned()),
        // This clone is not compiled again.
        ("CARGO_INCREMENTAL", "0".to_owned()),
    ]
}

/// From README.md alone to a report in HTML: with one MPI, and then with the other.
#[test]
fn a_new_user_compiles_a_clone_and_gets_from_the_readme_to_a_report_under_both_mpis() {
    let mut desk = Desk::new(Mpi::OpenMpi, Build::Own);
    for mpi in Mpi::ALL {
        desk.turn_to(mpi);
        desk.follow("README.md");
        for made in [
            "bin/treepie".to_owned(),
            "lib/libtreepie.so".to_owned(),
            format!("quickstart/{}/halo2d.svg", mpi.name()),
        ] {
            let file = desk.path("treepie/build").join(&made);
            assert!(file.is_file() && !file.is_symlink(), "{made} was not made");
        }
        reports_are_whole(&desk, &[("halo2d.html", "./halo2d")]);
    }
}

/// Checks the reports that a document makes, each with its command; they are removed, so that the
/// next MPI makes its own.
fn reports_are_whole(desk: &Desk, reports: &[(&str, &str)]) {
    for (name, command) in reports {
        let file = desk.path("treepie").join(name);
        let page = std::fs::read_to_string(&file);
        let page = page.unwrap_or_else(|error| panic!("{name}: {error}"));
        let heading = page
            .split("<h1>")
            .nth(1)
            .and_then(|rest| rest.split("</h1>").next());
        let heading = heading.unwrap_or_default();
        assert!(heading.contains(command), "{name} is of {heading}");
        assert!(
            page.contains("<h2>Remaining traffic</h2>"),
            "{name} is not whole"
        );
        std::fs::remove_file(file).expect("the desk is writable");
    }
}

fn what_is_said_of_preloading_is_true(mpi: Mpi) {
    let desk = Desk::new(mpi, Build::Linked);
    desk.follow("LD_PRELOAD.md");
    // A page may use the results of the previous ones.
    for page in guide() {
        if !desk.shown(&page).is_empty() {
            desk.follow(&page);
        }
    }
    // A wrapper may use the whole path of LAMMPS.
    let melt = "lmp -in tests/jobs/melt.lammps";
    reports_are_whole(&desk, &[("ring.html", "./ring"), ("melt.html", melt)]);
}

#[test]
fn the_ready_made_files_do_what_is_said_of_them() {
    Desk::new(Mpi::OpenMpi, Build::Linked).follow("profiles/README.md");
}

#[test]
fn commands_that_are_not_run_here_are_run_by_another_test() {
    let beside = BESIDE.iter().map(|name| (*name).to_owned());
    for name in beside.chain(guide()) {
        for block in blocks(&name, &read(&name)) {
            match block.words[0].as_str() {
                "console" | "yaml" | "text" | "c" | "rust" => {}
                "sh" => {
                    for line in block.lines.iter().filter(|line| !line.trim().is_empty()) {
                        let known = RUN_ELSEWHERE
                            .iter()
                            .find(|(start, _)| line.starts_with(start));
                        let (_, by) = known.unwrap_or_else(|| {
                            panic!("{name}:{}: nothing runs `{line}`", block.line)
                        });
                        assert!(artifacts::repository().join(by).is_file(), "{by} is gone");
                    }
                }
                other => panic!("{name}:{}: `{other}` is no kind of block", block.line),
            }
        }
    }
}

/// Figures are measured by hand; only the existence of their commands is tested.
#[test]
fn commands_beside_figures_are_those_of_the_scripts() {
    let usage = read("scripts/bench");
    let kinds: Vec<&str> = usage
        .lines()
        .filter_map(|line| line.strip_prefix("#     scripts/bench "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(kinds.len() > 8, "scripts/bench lists {kinds:?}");
    let measured = figures().into_iter();
    // Those pages are made by scripts/apps.
    let others = ["docs/figures/applications.md", "docs/figures/gains.md"];
    for name in measured.filter(|name| !others.contains(&name.as_str())) {
        let text = read(&name);
        assert!(!blocks(&name, &text).is_empty(), "{name} shows no command");
        let mut shown = 0;
        for after in text.split("scripts/bench ").skip(1) {
            let word: String = after
                .chars()
                .take_while(|letter| letter.is_ascii_lowercase() || *letter == '-')
                .collect();
            assert!(
                kinds.contains(&word.as_str()),
                "{name}: scripts/bench has no `{word}`"
            );
            shown += 1;
        }
        assert!(shown > 0, "{name} names no command of scripts/bench");
    }
}

#[test]
fn every_variable_of_the_library_is_in_its_document() {
    let about = read("docs/reference/variables.md");
    let unknown = treepie_profile::settings::unknown_variables(["TREEPIE_NOTHING"]);
    let told = unknown[0].to_string();
    let (_, known) = told
        .split_once("known are ")
        .expect("it says which there are");
    for variable in known.split(", ") {
        let row = format!("\n| `{variable}` |");
        assert!(
            about.contains(&row),
            "docs/reference/variables.md has no row for {variable}"
        );
    }
}

#[test]
fn every_ready_made_file_is_named_in_its_readme_and_can_be_shown() {
    let about = read("profiles/README.md");
    let directory = artifacts::repository().join("profiles");
    let mut shown = 0;
    for entry in std::fs::read_dir(&directory).expect("it is part of the repository") {
        let path = entry.expect("it can be listed").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.ends_with(".yaml") {
            continue;
        }
        assert!(
            about.contains(&format!("`{name}`")),
            "profiles/README.md lacks {name}"
        );
        let mut command = Command::new(artifacts::command());
        command.arg("show").arg(&path);
        run_watched(command, Duration::from_secs(30), &name).succeeded();
        shown += 1;
    }
    assert!(shown > 10, "{shown} files");
}

under_each_mpi!(what_is_said_of_preloading_is_true);
