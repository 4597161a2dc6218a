//! Pipes and devices as inputs and outputs of the command: read while another process writes, up to
//! a limit, and never replaced.
#![allow(clippy::unwrap_used)] // a test may panic

mod support;

use std::fs::File;
use std::process::Command;

use support::{Answer, Desk};

const CONFIGURATION: &str = "treepie: configuration\nversion: 1\nmode: replay\npermutation: 1,0\n";

/// A shell on this desk, with the command as `$0`.
fn shell(desk: &Desk, script: &str) -> Answer {
    let mut command = Command::new("bash");
    command.args(["-c", script, env!("CARGO_BIN_EXE_treepie")]);
    command.current_dir(desk.path(""));
    command.output().unwrap().into()
}

#[test]
fn what_a_pipe_gives_is_shown_as_a_file_is() {
    let desk = Desk::new();
    desk.write("own.yaml", CONFIGURATION);
    let without_name = |shown: Answer| shown.good().out.split_once(": ").unwrap().1.to_owned();
    let shown = without_name(desk.run(&["show", "own.yaml"]));
    for script in [
        "\"$0\" show <(cat own.yaml)",
        "(sleep 0.2; cat own.yaml) | \"$0\" show /dev/stdin",
        "mkfifo pipe; cat own.yaml >pipe & \"$0\" show pipe",
    ] {
        assert_eq!(without_name(shell(&desk, script)), shown, "{script}");
    }
}

#[test]
fn what_has_no_end_is_read_up_to_a_limit() {
    let desk = Desk::new();
    let said = desk.run(&["show", "/dev/zero"]).refusal(1);
    assert_eq!(
        said,
        "/dev/zero: is larger than 256 MiB, the limit for input files; check its name"
    );
    std::os::unix::fs::symlink("/dev/zero", desk.path("zero.txt")).unwrap();
    let said = desk
        .run(&["convert", "zero.txt", "-o", "zero.csv"])
        .refusal(1);
    assert!(said.contains("a line has no end"), "{said}");
}

#[test]
fn a_standard_stream_is_written_where_it_is() {
    let desk = Desk::new();
    desk.halo("halo.profile.yaml");
    let mut command = desk.treepie(&["map", "halo.profile.yaml", "--tree", "4:4"]);
    command.args(["-o", "/dev/stdout"]);
    let out = File::create(desk.path("out")).unwrap();
    assert!(command.stdout(out).status().unwrap().success());
    let out = desk.text("out");
    assert!(out.starts_with("treepie: placement\n"), "{out}");
    assert!(out.contains("\nverdict: "), "{out}");
}
