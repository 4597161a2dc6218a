//! The command line itself, and the findings of `doctor`.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Answer, Desk};

#[test]
fn wrong_usage_is_one_line_with_status_2() {
    let desk = Desk::new();
    for (arguments, expected) in [
        (&["prophet"][..], "unrecognized subcommand 'prophet'"),
        (
            &["map", "a.yaml", "--topolgy", "4"],
            "unexpected argument '--topolgy' found; a similar argument exists: '--topology'; ",
        ),
        (
            &["profile"],
            "the following required arguments were not provided: <COMMAND>...",
        ),
        (
            &["replay", "--", "mpirun"],
            "the following required arguments were not provided: <FILE>",
        ),
        (
            &["prove", "a.placement.yaml", "--difference", "80", "--", "x"],
            "invalid value '80' for '--difference <PERCENT>': `80` is no percentage from 0 to 50",
        ),
        (
            &["prove", "--", "mpirun"],
            "the following required arguments were not provided: <FILE>",
        ),
        (
            &["supervise", "--", "/bin/true"],
            "/bin/true: is no launcher that is known; give mpirun, mpiexec or srun itself",
        ),
        (
            &["supervise", "--restart", "'a", "--", "mpirun"],
            "invalid value ''a' for '--restart <COMMAND>': `'a` lacks a closing '",
        ),
        (
            &["supervise", "--hosts", "a:0", "--", "mpirun"],
            "invalid value 'a:0' for '--hosts <HOSTS>': `a:0` is no host and its ranks",
        ),
        (
            &["tune", "--collectives", "bcast,gatherv", "--", "mpirun"],
            "--collectives gatherv: can't be measured",
        ),
        (
            &["tune", "--ranks", "2-200000", "--", "mpirun"],
            "--ranks: 199999 sizes of communicators were given, and at most 40 are measured",
        ),
        (
            &["map", "a.yaml", "--metric", "weight"],
            "invalid value 'weight' for '--metric <METRIC>': no metric is called `weight`",
        ),
        (
            &["profile", "--log", "loud", "--", "x"],
            "invalid value 'loud' for '--log <LEVEL>': no log level is called `loud`",
        ),
        (
            &["show", "a.yaml", "-o", "a.svg", "-o", "a.png"],
            "the argument '--output <FILE>' cannot be used multiple times",
        ),
        (
            &["show", "4:2:2", "-o", "a.html"],
            "-o a.html: a picture ends in .svg or .png; `treepie report` writes pages",
        ),
        (
            &["cut", "--every", "never", "--", "x"],
            "invalid value 'never' for '--every <TIME>': `never` is no time; write one such as 90, \
             60s, 10min",
        ),
    ] {
        let refusal = desk.run(arguments).refusal(2);
        assert!(refusal.starts_with(expected), "{arguments:?}: {refusal}");
    }
}

#[test]
fn rules_of_han_are_written_beside_those_of_tuned() {
    let desk = Desk::new();
    desk.write(
        "tuning.yaml",
        "treepie: tuning\nversion: 1\nmpi: open-mpi 5.0.11\nranks: 4\nhosts: 2\nrows:\n\
         - {operation: bcast, ranks: 4, from_bytes: 8, algorithm: chain, us: 1, native_us: 2}\n",
    );
    let answer = desk
        .run(&["convert", "tuning.yaml", "-o", "a.rules"])
        .good();
    for file in ["a.rules", "a-han.rules"] {
        assert!(
            answer.out.contains(&format!("{file}: written")),
            "{}",
            answer.out
        );
        assert!(desk.path(file).exists(), "{file}");
    }
}

#[test]
fn help_and_version_go_to_standard_output() {
    let desk = Desk::new();
    let help = desk.run(&["--help"]).good();
    assert!(help.out.contains("The usual way:"), "{}", help.out);
    for group in [
        "place: ",
        "learn: ",
        "platform: ",
        "debug: ",
        "resilience: ",
    ] {
        assert!(help.out.contains(group), "{}", help.out);
    }
    let version = desk.run(&["--version"]).good();
    let first = concat!("treepie ", env!("CARGO_PKG_VERSION"));
    assert!(version.out.starts_with(first), "{}", version.out);
}

#[test]
fn the_command_alone_prints_its_help_and_has_the_status_of_wrong_usage() {
    let alone = Desk::new().run(&[]);
    assert_eq!((alone.status, alone.out.as_str()), (2, ""));
    assert!(alone.err.contains("place: "), "{}", alone.err);
}

#[test]
fn a_reader_that_stops_reading_is_no_failure() {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    let mut command = std::process::Command::new("sh");
    let script = format!(
        "'{}' show app.profile.yaml | true",
        env!("CARGO_BIN_EXE_treepie")
    );
    let output = command
        .args(["-c", &script])
        .current_dir(desk.path(""))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn doctor_finds_a_library_that_is_none_and_says_what_a_job_would_be_started_as() {
    let desk = Desk::new();
    desk.launcher("mpirun", "mpirun (Open MPI) 4.1.4", "exit 0");
    let answer = desk.run(&[
        "doctor",
        "--json",
        "--",
        "./mpirun",
        "-np",
        "2",
        "/bin/true",
    ]);
    assert_eq!(answer.status, 1);
    let json = answer.json();
    assert_eq!(json["ok"], false);
    let finding = |what: &str| {
        let findings = json["findings"].as_array().unwrap();
        findings
            .iter()
            .find(|finding| finding["what"] == what)
            .unwrap()
            .clone()
    };
    assert_eq!(finding("library")["verdict"], "problem");
    let job = finding("job")["found"].as_str().unwrap().to_owned();
    assert!(job.starts_with("./mpirun -x LD_PRELOAD="), "{job}");
    assert!(!desk.path("arguments").exists(), "doctor started the job");
    let program = finding("program")["found"].as_str().unwrap().to_owned();
    assert!(
        program.starts_with("/bin/true is linked to no MPI"),
        "{program}"
    );
}

#[test]
fn doctor_writes_one_file_for_support_without_the_home_of_its_user() {
    let desk = Desk::new();
    let home = desk.path("").display().to_string();
    let mut command = desk.treepie(&["doctor", "--bundle", "bundle.txt"]);
    command.env("HOME", home.trim_end_matches('/'));
    command
        .env("TREEPIE_LOG", "info")
        .env("SECRET_TOKEN", "hidden");
    let answer = Answer::from(command.output().unwrap());
    assert_eq!(answer.out, "bundle.txt: written\n", "{}", answer.err);
    let text = desk.text("bundle.txt");
    for part in [
        "== Versions\n\ntreepie 0",
        "== Host\n\nLinux ",
        "TREEPIE_LOG=info",
        "== Findings",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        !text.contains(home.trim_end_matches('/')) && !text.contains("hidden"),
        "{text}"
    );
}

#[test]
fn doctor_knows_a_program_that_does_not_exist() {
    let desk = Desk::new();
    desk.launcher("mpirun", "mpirun (Open MPI) 4.1.4", "exit 0");
    let answer = desk.run(&["doctor", "--", "./mpirun", "-np", "2", "./absent"]);
    assert_eq!(answer.status, 1);
    assert!(
        answer
            .out
            .contains("PROBLEM  program     ./absent: no such program"),
        "{}",
        answer.out
    );
}

#[test]
fn shells_get_completions_and_manual_pages_name_every_subcommand() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish"] {
        let answer = desk.run(&["completions", shell]).good();
        assert!(answer.out.contains("replay"), "{shell}");
        // Internal subcommands are not completed.
        assert!(!answer.out.contains("read-hwloc-file"), "{shell}");
    }
    let answer = desk.run(&["manual", "."]).good();
    assert!(answer.out.ends_with(" pages written\n"), "{}", answer.out);
    for page in ["treepie", "treepie-map", "treepie-replay", "treepie-probe"] {
        let text = desk.text(&format!("{page}.1"));
        assert!(text.contains(".SH NAME"), "{page}");
    }
    desk.run(&["manual", "--section", "7", "."]).good();
    let page = desk.text("treepie-variables.7");
    assert!(page.contains("TREEPIE_MODE"), "{page}");
    let missing = desk.run(&["manual", "nowhere"]);
    assert_eq!(missing.status, 2);
    assert_eq!(
        missing.err,
        "treepie: nowhere: there is no such directory; make it first\n"
    );
}

#[test]
fn help_has_topics_and_the_version_tells_what_would_be_preloaded() {
    let desk = Desk::new();
    let all = desk.run(&["help"]).good().out;
    assert!(all.contains("Topics of `treepie help TOPIC`:"), "{all}");
    let variables = desk.run(&["help", "variables"]).good().out;
    assert!(variables.contains("TREEPIE_COLLECTIVES"), "{variables}");
    assert_eq!(
        desk.run(&["help", "map"]).good().out,
        desk.run(&["map", "--help"]).good().out
    );
    let unknown = desk.run(&["help", "variable"]).refusal(2);
    assert!(unknown.contains("did you mean `variables`?"), "{unknown}");
    let version = desk.run(&["--version"]).good().out;
    let lines: Vec<&str> = version.lines().collect();
    let named = concat!("treepie ", env!("CARGO_PKG_VERSION"));
    assert!(lines[0].starts_with(named), "{version}");
    assert!(
        lines[1].ends_with("libtreepie.so: is no library of treepie's"),
        "{version}"
    );
    assert!(
        lines[2].contains("no libtreepie_hwloc.so beside it"),
        "{version}"
    );
}

#[test]
fn the_quiet_write_their_files_and_say_nothing() {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    for arguments in [
        &["map", "app.profile.yaml", "--topology", "4:2:2", "--quiet"][..],
        &["convert", "app.profile.yaml", "-o", "m.txt", "--quiet"],
    ] {
        let answer = desk.run(arguments).good();
        assert_eq!((answer.out.as_str(), answer.err.as_str()), ("", ""));
    }
    assert!(desk.path("app.placement.yaml").exists() && desk.path("m.txt").exists());
    let json = desk
        .run(&["convert", "app.profile.yaml", "-o", "m.mtx", "--json"])
        .good()
        .json();
    assert_eq!(json["ranks"], 16);
}

/// Output of a command on a terminal, which `script` provides.
fn on_a_terminal(desk: &Desk, command: &str, variable: Option<&str>) -> String {
    let binary = env!("CARGO_BIN_EXE_treepie");
    let mut script = std::process::Command::new("script");
    script
        .args(["-qec", &format!("{binary} {command}"), "/dev/null"])
        .current_dir(desk.path(""))
        .env("TERM", "xterm")
        .env_remove("NO_COLOR");
    if let Some(name) = variable {
        script.env(name, "1");
    }
    String::from_utf8_lossy(&script.output().unwrap().stdout).into_owned()
}

#[test]
fn progress_and_colours_are_for_terminals_only() {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    let map = "map app.profile.yaml --topology 4:2:2 --time-limit 0.5";
    let shown = on_a_terminal(&desk, map, None);
    assert!(
        shown.contains("placing 16 ranks") && shown.contains(" of 0.5 s"),
        "{shown}"
    );
    // Without a budget the progress of the work itself is shown, which takes a moment here.
    let ranks = 4096;
    let mut matrix = format!(
        "%%MatrixMarket matrix coordinate integer general\n{ranks} {ranks} {}\n",
        3 * ranks
    );
    for (rank, step) in (0..ranks).flat_map(|rank| [7, 601, 1783].map(|step| (rank, step))) {
        matrix += &format!("{} {} 9\n", rank + 1, (rank + step) % ranks + 1);
    }
    std::fs::write(desk.path("wide.mtx"), matrix).unwrap();
    let shown = on_a_terminal(&desk, "map wide.mtx --topology 64:4:16", None);
    assert!(
        shown.contains("placing 4 096 ranks [") && shown.contains(" % ("),
        "{shown}"
    );
    let quiet = on_a_terminal(&desk, &format!("{map} --quiet"), None);
    assert_eq!(quiet, "");
    let piped = desk.run(&map.split(' ').collect::<Vec<_>>()).good();
    assert_eq!(piped.err, "");
    let colour = '\u{1b}';
    for help in ["--help", "help", "help map"] {
        assert!(on_a_terminal(&desk, help, None).contains(colour), "{help}");
        let plain = on_a_terminal(&desk, help, Some("NO_COLOR"));
        assert!(!plain.contains(colour), "{help}");
        let words: Vec<&str> = help.split(' ').collect();
        assert!(!desk.run(&words).good().out.contains(colour), "{help}");
    }
}
