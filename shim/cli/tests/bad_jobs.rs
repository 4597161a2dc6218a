//! Jobs in which the library could do nothing: one line, the remedy, exit status 2, and nothing is
//! started.
#![allow(clippy::unwrap_used)]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use support::{Answer, Desk};

const OPEN_MPI: &str = "mpirun (Open MPI) 4.1.4";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.launcher("mpirun", OPEN_MPI, "exit 0");
    desk
}

/// Compiles a program on the desk.
fn compile(desk: &Desk, name: &str, source: &str, options: &[&str]) {
    desk.write(&format!("{name}.c"), source);
    let done = Command::new("cc")
        .current_dir(desk.path(""))
        .args(["-o", name, &format!("{name}.c")])
        .args(options)
        .output()
        .expect("a C compiler is installed; run scripts/setup build");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
}

/// The words of a replay of a program.
fn replayed(program: &str) -> [&str; 8] {
    [
        "replay",
        "--permutation",
        "1,0",
        "--",
        "./mpirun",
        "-n",
        "2",
        program,
    ]
}

/// The refusal of a program by each command that would run it, and by `doctor`.
fn refused(desk: &Desk, program: &str) -> String {
    let job = ["--", "./mpirun", "-n", "2", program];
    let profile = desk.run(&[&["profile"][..], &job].concat()).refusal(2);
    assert_eq!(desk.run(&replayed(program)).refusal(2), profile);
    assert!(!desk.path("arguments").exists(), "the job was started");
    let doctor = desk.run(&[&["doctor", "--json"][..], &job].concat());
    let findings = doctor.json();
    let mut findings = findings["findings"].as_array().unwrap().iter();
    let found = findings
        .find(|finding| finding["what"] == "program")
        .unwrap();
    assert_eq!(found["verdict"], "problem");
    let remedy = found["remedy"].as_str().unwrap();
    assert!(profile.ends_with(remedy), "{profile}\n{remedy}");
    profile
}

const MPI: &str = "int MPI_Init(int *a, char ***b) { return a != 0 && b != 0; }\n";
const MAIN: &str = "int MPI_Init(int *, char ***); int main(void) { return MPI_Init(0, 0); }\n";

#[test]
fn a_program_that_is_no_mpi_program() {
    let desk = desk();
    compile(&desk, "app", "int main(void) { return 0; }\n", &[]);
    let said = refused(&desk, "./app");
    assert!(
        said.starts_with("./app: is linked to no MPI library and can start no other program"),
        "{said}"
    );
}

#[test]
fn a_program_that_may_start_another_runs() {
    let desk = desk();
    desk.script("job.sh", "exit 0");
    for program in ["/bin/sh", "./job.sh"] {
        desk.run(&replayed(program)).good();
    }
}

#[test]
fn mpi_linked_in_statically() {
    let desk = desk();
    let whole = format!("{MPI}int main(void) {{ return MPI_Init(0, 0); }}\n");
    compile(&desk, "app", &whole, &[]);
    let said = refused(&desk, "./app");
    assert!(
        said.starts_with("./app: has its MPI linked in statically"),
        "{said}"
    );
    let whole = whole.replace("return a", "__builtin_puts(\"MPI_Init\"); return a");
    compile(&desk, "all", &whole, &["-static"]);
    let said = refused(&desk, "./all");
    assert!(said.starts_with("./all: is linked statically"), "{said}");
}

#[test]
fn a_program_that_changes_its_user() {
    let desk = desk();
    compile(&desk, "app", "int main(void) { return 0; }\n", &[]);
    let setuid = std::fs::Permissions::from_mode(0o4755);
    std::fs::set_permissions(desk.path("app"), setuid).unwrap();
    let said = refused(&desk, "./app");
    assert!(
        said.starts_with("./app: changes its user (setuid)"),
        "{said}"
    );
}

#[test]
fn an_mpi_of_a_family_that_the_library_does_not_know() {
    let desk = desk();
    compile(&desk, "libmpi_own.so", MPI, &["-shared", "-fPIC"]);
    let here = desk.path("");
    let path = format!("-Wl,-rpath,{}", here.display());
    compile(&desk, "app", MAIN, &["-L.", "-l:libmpi_own.so", &path]);
    let said = refused(&desk, "./app");
    assert!(
        said.contains("libmpi_own.so, which is neither Open MPI, nor"),
        "{said}"
    );
}

#[test]
fn a_program_of_another_mpi_than_its_launcher_runs_with_a_warning() {
    let desk = desk();
    // A function that identifies MPICH's family.
    let mpich = format!("{MPI}int MPII_Comm_get_attr(void) {{ return 0; }}\n");
    compile(&desk, "libmpich.so", &mpich, &["-shared", "-fPIC"]);
    let path = format!("-Wl,-rpath,{}", desk.path("").display());
    compile(&desk, "app", MAIN, &["-L.", "-l:libmpich.so", &path]);
    let said = desk.run(&replayed("./app")).good().err;
    assert!(
        said.starts_with("treepie: ./app: uses ")
            && said.ends_with(
                "libmpich.so (Hydra (MPICH family)), and the launcher is of Open MPI: each process is \
                 a job of its own; use the launcher of that MPI\n"
            ),
        "{said}"
    );
}

#[test]
fn a_program_for_other_processors() {
    let desk = desk();
    let mut bytes = std::fs::read("/bin/sh").unwrap();
    // The number of the processor family in the header: IBM S/390.
    bytes[18] = 22;
    bytes[19] = 0;
    std::fs::write(desk.path("app"), bytes).unwrap();
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(desk.path("app"), executable).unwrap();
    let mut command = desk.treepie(&["profile", "--", "./mpirun", "-n", "2", "./app"]);
    let answer: Answer = command
        .env("TREEPIE_LIBRARY", "/bin/sh")
        .output()
        .unwrap()
        .into();
    let said = answer.refusal(2);
    assert!(
        said.starts_with("./app: is made for other processors"),
        "{said}"
    );
}

#[test]
fn the_second_of_several_programs_is_looked_at_too() {
    let desk = desk();
    compile(&desk, "app", "int main(void) { return 0; }\n", &[]);
    let words = [
        "profile", "--", "./mpirun", "-n", "1", "/bin/sh", ":", "-n", "1", "./app",
    ];
    assert!(desk.run(&words).refusal(2).starts_with("./app: "));
}

/// Four ranks on two hosts that do not exist.
const PLACEMENT: &str = "\
treepie: placement
version: 1
producer: by hand
date: 2026-11-21T04:03:48Z
ranks: 4
strategy: treematch
topology:
  levels: [node, core]
  arities: 2:2
  machines:
  - {host: no-such-host-1.invalid, cores: 0-1, physical: 0-1}
  - {host: no-such-host-2.invalid, cores: 2-3, physical: 0-1}
assignment: 0,2,1,3
leaf_of_process: 0-3
permutation: 0,2,1,3
";

/// `treepie replay --apply HOW FILE -- ./mpirun WORDS /bin/sh`, which starts nothing and is refused
/// in one line.
fn refused_replay(desk: &Desk, apply: &str, file: &str, launcher: &[&str]) -> String {
    let words = ["replay", "--apply", apply, file, "--", "./mpirun"];
    let answer = desk.run(&[&words[..], launcher, &["/bin/sh"]].concat());
    // Wrong usage, or a file for another job.
    let status = answer.status;
    assert!(status == 2 || status == 125, "{}", answer.err);
    let said = answer.refusal(status);
    assert!(!desk.path("job").exists(), "the job was started");
    said
}

/// A launcher of Open MPI that starts two processes by default, and writes the file `job` when it
/// starts a job.
fn desk_of_two_slots() -> Desk {
    let desk = Desk::new();
    let starts = "case \"$*\" in */bin/echo*) shift $(($# - 1)); echo \"$1\"; echo \"$1\";; *) touch job;; esac";
    desk.launcher("mpirun", OPEN_MPI, starts);
    desk.write("app.placement.yaml", PLACEMENT);
    desk
}

#[test]
fn a_placement_for_other_ranks_than_the_job_will_have() {
    let desk = desk_of_two_slots();
    for apply in ["permute", "launch"] {
        for launcher in [&["-n", "2"][..], &[]] {
            let said = refused_replay(&desk, apply, "app.placement.yaml", launcher);
            let expected = "app.placement.yaml: is for 4 ranks and the job has 2; start 4 ranks";
            assert!(said.starts_with(expected), "{said}");
        }
    }
    // With its own options, but without its program.
    assert_eq!(
        desk.text("arguments"),
        "/bin/echo\ntreepie:one-process-of-a-trial\n"
    );
}

#[test]
fn what_only_the_library_does_is_refused_where_the_launcher_places_ranks() {
    let desk = desk_of_two_slots();
    for value in ["guard=on", "reorder=graph"] {
        let option = "--set";
        let words = ["-n", "4", option, value];
        let (launcher, options) = words.split_at(2);
        let command = ["replay", "--apply", "launch"];
        let file = ["app.placement.yaml", "--", "./mpirun"];
        let all = [&command[..], options, &file, launcher, &["/bin/sh"]].concat();
        let said = desk.run(&all).refusal(2);
        assert!(said.starts_with(&format!("{option} {value}: ")), "{said}");
        assert!(said.contains("use --apply permute"), "{said}");
        assert!(!desk.path("job").exists(), "the job was started");
    }
}

#[test]
fn a_launcher_that_says_nothing_of_its_ranks_is_left_to_the_library() {
    let desk = desk();
    desk.write("app.placement.yaml", PLACEMENT);
    let answer = desk.run(&["replay", "app.placement.yaml", "--", "./mpirun", "/bin/sh"]);
    answer.good();
    assert!(desk.text("arguments").ends_with("/bin/sh\n"));
}

#[test]
fn hosts_of_a_placement_that_cannot_be_reached() {
    let desk = desk_of_two_slots();
    let said = refused_replay(&desk, "launch", "app.placement.yaml", &["-n", "4"]);
    let expected =
        "app.placement.yaml: host no-such-host-1.invalid is not known here; name the hosts";
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn hosts_of_a_placement_that_the_allocation_has_not() {
    let desk = desk();
    desk.launcher("srun", "slurm 22.05", "touch job");
    desk.write("app.placement.yaml", PLACEMENT);
    let words = [
        "replay",
        "--apply",
        "launch",
        "app.placement.yaml",
        "--",
        "./srun",
        "-n4",
        "/bin/sh",
    ];
    let mut command = desk.treepie(&words);
    let answer: Answer = command
        .env("SLURM_JOB_NODELIST", "no-such-host-[2-3].invalid")
        .output()
        .unwrap()
        .into();
    let said = answer.refusal(2);
    let expected =
        "app.placement.yaml: is for host no-such-host-1.invalid, which this allocation has not; ";
    assert!(said.starts_with(expected), "{said}");
    assert!(!desk.path("job").exists(), "the job was started");
}

#[test]
fn a_profile_is_no_placement_for_a_launcher() {
    let desk = desk();
    desk.halo("app.profile.yaml");
    let said = refused_replay(&desk, "launch", "app.profile.yaml", &["-n", "16"]);
    assert!(
        said.starts_with("app.profile.yaml: is a profile, and the launcher needs a placement"),
        "{said}"
    );
}

#[test]
fn a_launcher_that_fails_is_heard_and_keeps_its_status() {
    let desk = Desk::new();
    desk.launcher(
        "mpirun",
        OPEN_MPI,
        "echo 'host x9 is unreachable' >&2; exit 213",
    );
    let answer = desk.run(&replayed("/bin/sh"));
    assert_eq!(
        (answer.status, answer.err.as_str()),
        (213, "host x9 is unreachable\n")
    );
}

#[test]
fn without_a_wish_the_way_is_chosen_and_its_reason_told() {
    let desk = desk();
    desk.write("app.placement.yaml", PLACEMENT);
    let run = |launcher: &[&str], nodes: &str| {
        let words = [
            &["replay", "--apply", "auto", "app.placement.yaml", "--"],
            launcher,
        ]
        .concat();
        let mut command = desk.treepie(&words);
        let answer: Answer = command
            .env("SLURM_JOB_NODELIST", nodes)
            .output()
            .unwrap()
            .into();
        answer.err.lines().next().unwrap_or_default().to_owned()
    };
    let job = ["./mpirun", "-n", "4", "/bin/sh"];
    let bound = ["./mpirun", "--bind-to", "core", "-n", "4", "/bin/sh"];
    desk.launcher("srun", "slurm 22.05", "exit 0");
    let slurm = ["./srun", "-n4", "/bin/sh"];
    for (launcher, nodes, expected) in [
        (
            &job[..],
            "other[1-2]",
            "--apply permute: the job does not have no-such-host-1.invalid",
        ),
        (
            &bound[..],
            "other",
            "--apply permute: --bind-to places the ranks",
        ),
        (
            &["/bin/sh"][..],
            "other",
            "--apply permute: the launcher is not known",
        ),
        (
            &slurm[..],
            "no-such-host-[1-2].invalid",
            "--apply launch: the job has the hosts of the placement",
        ),
    ] {
        assert_eq!(
            run(launcher, nodes),
            format!("treepie: {expected}"),
            "{launcher:?}"
        );
    }
    assert!(desk.text("arguments").contains("--distribution=arbitrary"));
}
