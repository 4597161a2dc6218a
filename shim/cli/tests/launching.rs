//! Arguments for launchers and results of jobs, with scripts for launchers that record their
//! arguments.
#![allow(clippy::unwrap_used)]

mod support;

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use support::{Answer, Desk, halo};

const OPEN_MPI: &str = "mpirun (Open MPI) 4.1.4";

/// Copies a prepared profile to the path in `TREEPIE_OUTPUT` of the arguments.
const WRITES_PROFILE: &str = "\
out=$(sed -n 's/^TREEPIE_OUTPUT=//p' arguments)\n\
for file in made.profile*; do cp \"$file\" \"$(dirname \"$out\")\"/\"$(echo \"$file\" | sed \"s/made/app/\")\"; done";

#[test]
fn open_mpi_is_told_by_x_options_and_is_not_preloaded_itself() {
    let desk = Desk::new();
    desk.launcher("mpirun", OPEN_MPI, "exit 3");
    let answer = desk.run(&[
        "profile", "-o", "app.yaml", "--log", "info", "--", "./mpirun", "-np", "2", "/bin/sh",
    ]);
    assert_eq!(answer.status, 3);
    let library = desk.path("libtreepie.so");
    let expected = format!(
        "-x\nLD_PRELOAD={}\n-x\nTREEPIE_LOG=info\n-x\nTREEPIE_MODE=profile\n-x\nTREEPIE_OUTPUT={}\n-np\n2\n/bin/sh\n",
        library.display(),
        desk.path("app.yaml").display()
    );
    assert_eq!(desk.text("arguments"), expected);
    assert_eq!(desk.text("preload"), "unset\n");
}

#[test]
fn hydra_is_told_by_genv_options() {
    let desk = Desk::new();
    desk.launcher("mpiexec", "HYDRA build details:", "exit 3");
    desk.run(&[
        "replay",
        "--permutation",
        "1,0",
        "--strict",
        "--",
        "./mpiexec",
        "-n",
        "2",
        "/bin/sh",
    ]);
    let library = desk.path("libtreepie.so");
    let expected = format!(
        "-genv\nLD_PRELOAD\n{}\n-genv\nTREEPIE_MODE\nreplay\n-genv\nTREEPIE_PERMUTATION\n1,0\n\
         -genv\nTREEPIE_STRICT\ntrue\n-n\n2\n/bin/sh\n",
        library.display()
    );
    assert_eq!(desk.text("arguments"), expected);
    assert_eq!(desk.text("preload"), "unset\n");
}

#[test]
fn slurm_is_told_by_one_export_option_and_commas_go_through_its_environment() {
    let desk = Desk::new();
    desk.launcher(
        "srun",
        "slurm 22.05",
        "echo \"$TREEPIE_PERMUTATION\" > permutation",
    );
    let answer = desk.run(&[
        "replay",
        "--permutation",
        "1,0",
        "--",
        "./srun",
        "-n2",
        "/bin/sh",
    ]);
    answer.good();
    let library = desk.path("libtreepie.so");
    let expected = format!(
        "--export=ALL,LD_PRELOAD={},TREEPIE_MODE=replay,TREEPIE_PERMUTATION\n-n2\n/bin/sh\n",
        library.display()
    );
    assert_eq!(desk.text("arguments"), expected);
    assert_eq!(desk.text("permutation"), "1,0\n");
    assert_eq!(desk.text("preload"), "unset\n");
}

#[test]
fn a_launcher_behind_links_is_known_by_the_file_they_lead_to() {
    let desk = Desk::new();
    desk.launcher("orterun", "nothing that is known", "exit 0");
    std::os::unix::fs::symlink("orterun", desk.path("alternative")).unwrap();
    std::os::unix::fs::symlink("alternative", desk.path("mpirun")).unwrap();
    desk.run(&[
        "replay",
        "--permutation",
        "1,0",
        "--",
        "./mpirun",
        "/bin/sh",
    ])
    .good();
    assert!(desk.text("arguments").starts_with("-x\nLD_PRELOAD="));
}

#[test]
fn a_plain_program_gets_the_variables_and_what_was_preloaded_before_stays() {
    let desk = Desk::new();
    desk.script("job.sh", "echo \"$LD_PRELOAD $TREEPIE_MODE\" > environment");
    let mut command = desk.treepie(&["replay", "--permutation", "0", "--", "./job.sh"]);
    command.env("LD_PRELOAD", "libearlier.so");
    assert!(command.output().unwrap().stdout.is_empty());
    let library = desk.path("libtreepie.so");
    let expected = format!("libearlier.so:{} replay\n", library.display());
    assert_eq!(desk.text("environment"), expected);
}

#[test]
fn variables_of_the_user_go_along_and_those_of_the_command_win() {
    let desk = Desk::new();
    desk.launcher("mpirun", OPEN_MPI, "exit 3");
    let mut command = desk.treepie(&["profile", "-o", "app.yaml", "--", "./mpirun", "/bin/sh"]);
    command
        .env("TREEPIE_LOG", "debug")
        .env("TREEPIE_MODE", "off");
    assert!(command.output().unwrap().stdout.is_empty());
    let arguments = desk.text("arguments");
    assert!(arguments.contains("-x\nTREEPIE_LOG=debug\n"), "{arguments}");
    assert!(
        arguments.contains("-x\nTREEPIE_MODE=profile\n"),
        "{arguments}"
    );
    assert!(!arguments.contains("TREEPIE_LIBRARY"), "{arguments}");
}

#[test]
fn a_profile_that_was_written_is_summed_up_on_standard_error() {
    let desk = Desk::new();
    desk.halo("made.profile.yaml");
    desk.launcher("mpirun", OPEN_MPI, WRITES_PROFILE);
    let arguments = [
        "profile",
        "-o",
        "app.profile.yaml",
        "--",
        "./mpirun",
        "-np",
        "16",
        "/bin/sh",
    ];
    let answer = desk.run(&arguments).good();
    assert_eq!(answer.out, "");
    let expected = "treepie: app.profile.yaml: 16 ranks, 48 messages, 1.52 MiB; \
                    most from rank 0 to 5 (4.1 %)\n";
    assert_eq!(answer.err, expected);
}

#[test]
fn the_summary_can_be_had_as_json_or_not_at_all() {
    let desk = Desk::new();
    desk.halo("made.profile.yaml");
    desk.launcher("mpirun", OPEN_MPI, WRITES_PROFILE);
    let job = ["--", "./mpirun", "/bin/sh"];
    let with = |option: &str| {
        desk.run(&[&["profile", "-o", "app.profile.yaml", option][..], &job].concat())
            .good()
    };
    assert_eq!(
        with("--json").json()["bytes"],
        halo().point_to_point.total().bytes
    );
    let quiet = with("--quiet");
    assert_eq!((quiet.out, quiet.err), (String::new(), String::new()));
}

#[test]
fn placeholders_in_the_name_of_a_profile_are_found_again() {
    let desk = Desk::new();
    desk.halo("made.profile.yaml");
    desk.launcher("mpirun", OPEN_MPI, WRITES_PROFILE);
    let arguments = [
        "profile",
        "-o",
        "%j.profile.yaml",
        "--",
        "./mpirun",
        "/bin/sh",
    ];
    let answer = desk.run(&arguments).good();
    assert!(
        answer.err.contains("app.profile.yaml: 16 ranks"),
        "{}",
        answer.err
    );
}

#[test]
fn a_good_job_without_a_profile_is_a_failure_with_its_likely_reason() {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    desk.launcher("mpirun", OPEN_MPI, "exit 0");
    let arguments = [
        "profile",
        "-o",
        "app.profile.yaml",
        "--",
        "./mpirun",
        "-np",
        "2",
        "/bin/sh",
    ];
    let refusal = desk.run(&arguments).refusal(125);
    assert!(
        refusal.starts_with(
            "app.profile.yaml: no profile was written: /bin/sh is linked to no MPI library"
        ),
        "{refusal}"
    );
}

#[test]
fn a_job_that_fails_keeps_its_status_and_no_profile_is_blamed() {
    let desk = Desk::new();
    desk.launcher("mpirun", OPEN_MPI, "echo broken >&2; exit 42");
    let answer = desk.run(&["profile", "--", "./mpirun", "/bin/sh"]);
    assert_eq!((answer.status, answer.err.as_str()), (42, "broken\n"));
}

#[test]
fn a_job_ended_by_a_signal_is_128_plus_its_number() {
    let desk = Desk::new();
    desk.launcher("mpirun", OPEN_MPI, "kill -KILL $$");
    assert_eq!(
        desk.run(&["profile", "--", "./mpirun", "/bin/sh"]).status,
        137
    );
}

#[test]
fn a_signal_is_passed_on_to_the_launcher() {
    let desk = Desk::new();
    desk.launcher(
        "mpirun",
        OPEN_MPI,
        "trap 'echo ended > ended; exit 7' TERM\necho > ready\nwhile :; do sleep 0.02; done",
    );
    let mut command = desk.treepie(&["profile", "--", "./mpirun", "/bin/sh"]);
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    while !desk.path("ready").exists() {
        assert_eq!(child.try_wait().unwrap(), None);
        thread::sleep(Duration::from_millis(10));
    }
    let signal = std::process::Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(signal.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(7));
    assert_eq!(desk.text("ended"), "ended\n");
}

#[test]
fn a_replay_names_its_placement_by_its_whole_path_and_can_be_profiled() {
    let desk = Desk::new();
    desk.halo("made.profile.yaml");
    desk.run(&[
        "map",
        "made.profile.yaml",
        "--topology",
        "4:2:2",
        "-o",
        "app.placement.yaml",
    ])
    .good();
    desk.launcher("mpirun", OPEN_MPI, WRITES_PROFILE);
    let job = ["--", "./mpirun", "-np", "16", "/bin/sh"];
    let arguments = [
        "replay",
        "app.placement.yaml",
        "-o",
        "app.profile.yaml",
        "--apply",
        "permute",
        "--set",
        "guard=report",
    ];
    let answer = desk.run(&[&arguments[..], &job].concat()).good();
    assert!(
        answer.err.contains("app.profile.yaml: 16 ranks"),
        "{}",
        answer.err
    );
    let passed = desk.text("arguments");
    for expected in [
        "TREEPIE_MODE=replay\n".to_owned(),
        "TREEPIE_APPLY=permute\n".to_owned(),
        "TREEPIE_GUARD=report\n".to_owned(),
        format!(
            "TREEPIE_PLACEMENT={}\n",
            desk.path("app.placement.yaml").display()
        ),
        format!(
            "TREEPIE_OUTPUT={}\n",
            desk.path("app.profile.yaml").display()
        ),
    ] {
        assert!(passed.contains(&expected), "{expected} in {passed}");
    }
}

#[test]
fn what_no_rank_could_use_stops_the_job_before_it_starts() {
    let desk = Desk::new();
    desk.launcher("mpirun", OPEN_MPI, "exit 0");
    desk.write("broken.yaml", "treepie: placement\nversion: 1\nranks: [\n");
    desk.write(
        "typo.yaml",
        "treepie: configuration\nversion: 1\nmoed: profile\n",
    );
    desk.write(
        "cluster.yaml",
        "treepie: topology\nversion: 1\narities: 4:2:2\n",
    );
    let job = ["--", "./mpirun", "/bin/sh"];
    for (arguments, status, expected) in [
        (
            &["replay", "missing.yaml"][..],
            125,
            "missing.yaml: there is no such file",
        ),
        (&["replay", "broken.yaml"], 125, "broken.yaml:"),
        (
            &["replay", "cluster.yaml"],
            125,
            "cluster.yaml: this is a topology, a placement was expected",
        ),
        (&["replay", "--permutation", "0,0"], 2, "--permutation: "),
        (&["profile", "--config", "typo.yaml"], 2, ""),
        (&["profile", "-o", "nowhere/a.yaml"], 2, ""),
        (&["profile", "-o", "a%q.yaml"], 2, "--output: "),
        (
            &["profile", "--set", "mode=replay"],
            2,
            "--set: this command sets TREEPIE_MODE itself, to `profile`",
        ),
        (
            &["profile", "--set", "moed=replay"],
            2,
            "invalid value 'moed=replay' for '--set <NAME=VALUE>': no setting is called `moed`, \
             did you mean `mode`?",
        ),
    ] {
        let refusal = desk.run(&[arguments, &job].concat()).refusal(status);
        assert!(refusal.starts_with(expected), "{arguments:?}: {refusal}");
        assert!(
            !desk.path("arguments").exists(),
            "{arguments:?} started the job"
        );
    }
}

#[test]
fn a_launcher_that_is_missing_or_that_nobody_knows_is_refused() {
    let desk = Desk::new();
    let run = |launcher: &str| {
        desk.run(&["profile", "--", launcher, "/bin/sh"])
            .refusal(125)
    };
    assert!(run("./mpirun").starts_with("./mpirun: no such program"));
    desk.launcher("mpirun", "an MPI of our own", "exit 0");
    assert!(run("./mpirun").starts_with("./mpirun: the MPI of this launcher is unknown"));
}

#[test]
fn a_library_that_is_missing_or_cannot_be_named_in_ld_preload_is_refused() {
    let desk = Desk::new();
    desk.launcher("mpirun", OPEN_MPI, "exit 0");
    let run = |library: &str| {
        let mut command = desk.treepie(&["profile", "--", "./mpirun", "/bin/sh"]);
        Answer::from(command.env("TREEPIE_LIBRARY", library).output().unwrap())
    };
    assert!(
        run("/nowhere/libtreepie.so")
            .refusal(2)
            .starts_with("TREEPIE_LIBRARY: /nowhere/libtreepie.so")
    );
    desk.write("with space.so", "");
    let spaced = desk.path("with space.so");
    let refusal = run(spaced.to_str().unwrap()).refusal(125);
    assert!(
        refusal.contains("LD_PRELOAD cannot hold a path with a space"),
        "{refusal}"
    );
}
