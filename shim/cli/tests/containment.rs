//! `treepie map --containment`: the cost of groups that roll back together, and redundancy sets.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::Value;
use support::{Desk, is_picture};
use treepie_placement::file::PlacementFile;

/// The matrix of `ranks` ranks in which some pairs exchange 1.
fn matrix(ranks: usize, exchange: impl Fn(usize, usize) -> bool) -> String {
    let row = |rank: usize| {
        let sent = (0..ranks).map(|other| if exchange(rank, other) { "1" } else { "0" });
        sent.collect::<Vec<_>>().join(" ") + "\n"
    };
    (0..ranks).map(row).collect()
}

/// A desk with the open mesh of 4 x 4 ranks as `mesh.txt`.
fn desk() -> Desk {
    let desk = Desk::new();
    let place = |rank: usize| (rank / 4, rank % 4);
    let near = |rank, other| {
        let ((row, column), (other_row, other_column)) = (place(rank), place(other));
        row.abs_diff(other_row) + column.abs_diff(other_column) == 1
    };
    desk.write("mesh.txt", &matrix(16, near));
    desk
}

/// `treepie map mesh.txt --containment` on four hosts, with some options.
fn arguments(options: &str) -> Vec<&str> {
    let command = ["map", "mesh.txt", "--topology", "4:4:1", "--containment"];
    command
        .into_iter()
        .chain(options.split_whitespace())
        .collect()
}

fn report(desk: &Desk, options: &str) -> Value {
    let mut arguments = arguments(options);
    arguments.push("--json");
    desk.run(&arguments).good().json()["containment"].clone()
}

#[test]
fn a_mesh_on_four_hosts_logs_a_third_in_tiles_and_rolls_back_a_quarter() {
    let desk = desk();
    let found = report(&desk, "--groups-output groups.txt --picture front.png");
    let divisions = found["as_placed"]["divisions"].as_array().unwrap();
    let counts: Vec<usize> = divisions
        .iter()
        .map(|one| one["cut"]["sizes"].as_array().unwrap().len())
        .collect();
    assert_eq!(counts, [1, 2, 3, 4]);
    let share = |one: &Value, of: &str| one["cut"][of].as_f64().unwrap();
    assert_eq!(share(&divisions[0], "bytes_share"), 0.0);
    assert!((share(&divisions[3], "bytes_share") - 8.0 / 24.0).abs() < 1e-12);
    assert_eq!(share(&divisions[3], "rolled_back"), 4.0);
    assert_eq!(divisions[3]["on_front"], true);
    // As launched, a host has a row: three rows of four links are cut.
    let launched = found["as_launched"]["divisions"].as_array().unwrap();
    assert_eq!(share(&launched[3], "bytes_share"), 0.5);
    let groups = desk.text("groups.txt");
    assert_eq!(groups.lines().count(), 16);
    assert!(is_picture(&desk.path("front.png")));
}

#[test]
fn the_report_says_what_it_is_and_the_verdict_stays_the_last_line() {
    let desk = desk();
    let text = desk
        .run(&arguments("--run-time 1h --log-memory 1"))
        .good()
        .out;
    assert!(text.starts_with("containment: "), "{text}");
    assert!(text.contains("No checkpoint is made"), "{text}");
    assert!(text.contains("too much"), "{text}");
    assert!(!text.contains("-0"), "{text}");
    assert!(
        text.lines().last().unwrap().starts_with("verdict: "),
        "{text}"
    );
}

#[test]
fn nothing_is_written_where_not_all_files_can_be() {
    let desk = desk();
    let mesh = std::fs::read_to_string(desk.path("mesh.txt")).unwrap();
    for (options, status, problem) in [
        ("--redundancy scr --set-size 1", 1, "expected 2 or more"),
        ("-o no/o.yaml", 1, "no/o.yaml"),
        ("--redundancy scr --redundancy-config no/x", 1, "no/x"),
        ("-o ./g.txt", 2, "is --output, too"),
        ("-o mesh.txt", 2, "is the profile, too"),
    ] {
        let options = format!("--groups-output g.txt {options}");
        let refusal = desk.run(&arguments(&options)).refusal(status);
        assert!(refusal.contains(problem), "{options}: {refusal}");
        assert!(!desk.path("g.txt").exists(), "{options}");
    }
    assert_eq!(
        std::fs::read_to_string(desk.path("mesh.txt")).unwrap(),
        mesh
    );
}

#[test]
fn groups_can_be_given_by_number_sizes_or_file() {
    let desk = desk();
    let sizes = |options: &str| {
        let found = report(&desk, options);
        let divisions = found["as_placed"]["divisions"].as_array().unwrap().clone();
        assert_eq!(divisions.len(), 1);
        divisions[0]["cut"]["sizes"].clone()
    };
    assert_eq!(sizes("--groups 2"), serde_json::json!([8, 8]));
    assert_eq!(sizes("--groups 4,12"), serde_json::json!([4, 12]));
    let lines: String = (0..16).map(|rank| format!("{}\n", rank % 2 * 7)).collect();
    desk.write("own.txt", &lines);
    assert_eq!(sizes("--groups own.txt"), serde_json::json!([8, 8]));
}

#[test]
fn questions_without_an_answer_are_refused_in_one_line() {
    let desk = desk();
    desk.write("racks.txt", "node0 r0\nnode1 r0\n");
    desk.write("wrong.txt", "node0 r0 r1\n");
    for (options, status, words) in [
        ("--groups 5", 2, "--groups: 5 groups were asked for"),
        ("--groups 4,4", 2, "these are 8 ranks of 16"),
        ("--groups many", 2, "--groups many: is no file"),
        (
            "--mtbf 0",
            1,
            "an MTBF of 0 seconds: expected a finite time above 0",
        ),
        ("--mtbf=-1", 2, "is no time; write one such as 90"),
        ("--mtbf inf", 2, "is no time; write one such as 90"),
        ("--checkpoint-time 0", 1, "a checkpoint of 0 seconds"),
        ("--run-time 0", 1, "a run of 0 seconds"),
        ("--domain rack", 2, "its levels are"),
        (
            "--domain racks.txt",
            1,
            "racks.txt: has no domain of host node2",
        ),
        (
            "--domain wrong.txt",
            1,
            "wrong.txt:1: expected a host and its failure domain",
        ),
        ("--log-memory 2GiB", 2, "give --run-time"),
        (
            "--redundancy fti --set-size 3",
            1,
            "a divisor of the number of hosts, 4",
        ),
        ("--redundancy scr --set-size 1", 1, "sets of 1 members"),
        ("--redundancy veloc --set-size 4", 2, "leave it out"),
    ] {
        let said = desk.run(&arguments(options)).refusal(status);
        assert!(said.contains(words), "{options}: {said}");
    }
    desk.write("silent.txt", &matrix(4, |_, _| false));
    let silent = ["map", "silent.txt", "--topology", "2:2:1", "--containment"];
    assert!(!desk.run(&silent).refusal(1).is_empty());
}

/// A desk with a ring of 16 hosts of one rank each, `ring.txt`, in four racks, `racks.txt`.
fn racks() -> Desk {
    let desk = Desk::new();
    let next = |rank: usize, other: usize| (rank + 1) % 16 == other || (other + 1) % 16 == rank;
    desk.write("ring.txt", &matrix(16, next));
    let lines: String = (0..16)
        .map(|host| format!("node{host} rack{}\n", host / 4))
        .collect();
    desk.write("racks.txt", &lines);
    desk
}

#[test]
fn sets_in_one_rack_are_dealt_over_all_racks_and_the_files_say_how() {
    let desk = racks();
    let options = "map ring.txt --topology 16:1:1 --strategy identity --containment --json \
                   --domain racks.txt --redundancy scr --set-size 4 --spread-output dealt.yaml \
                   --redundancy-config scr.conf";
    let options: Vec<&str> = options.split_whitespace().collect();
    let found = desk.run(&options).good().json()["containment"]["redundancy"].clone();
    // A failing rack takes a whole set of four hosts; a host takes one member.
    let breaking = |which: &str| -> Vec<u64> {
        let all = found[which].as_array().unwrap().iter();
        all.map(|one| one["breaking"].as_u64().unwrap()).collect()
    };
    assert_eq!(breaking("today"), [0, 4]);
    assert_eq!(found["today"][1]["inside"], 4);
    assert_eq!(breaking("dealt"), [0, 0]);
    assert_eq!(breaking("by_group"), [0, 0]);
    let hosts = found["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 16);
    let rack = |host: &Value| {
        let number: usize = host
            .as_str()
            .unwrap()
            .trim_start_matches("node")
            .parse()
            .unwrap();
        number / 4
    };
    for set in hosts.chunks(4) {
        let mut racks: Vec<usize> = set.iter().map(rack).collect();
        racks.sort_unstable();
        assert_eq!(racks, [0, 1, 2, 3]);
    }
    let placement = PlacementFile::read(&desk.path("dealt.yaml")).unwrap();
    let leaves: Vec<String> = placement
        .assignment
        .iter()
        .map(|leaf| format!("node{leaf}"))
        .collect();
    assert_eq!(
        leaves,
        hosts
            .iter()
            .map(|host| host.as_str().unwrap())
            .collect::<Vec<_>>()
    );
    let config = desk.text("scr.conf");
    assert!(config.contains("GROUPS=node5 DOMAIN=rack1\n"), "{config}");
    assert!(
        config.contains("GROUP=DOMAIN TYPE=XOR SET_SIZE=4\n"),
        "{config}"
    );
}

#[test]
fn the_three_libraries_have_reports_of_their_own() {
    let desk = racks();
    for (library, words) in [
        ("scr", "redundancy sets of SCR"),
        ("fti", "redundancy sets of FTI"),
        ("veloc", "CAUTION: VELOC's manual has failure_domain"),
    ] {
        let options = format!(
            "map ring.txt --topology 16:1:1 --containment --domain racks.txt --redundancy {library}"
        );
        let options: Vec<&str> = options.split_whitespace().collect();
        let text = desk.run(&options).good().out;
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn scr_is_told_of_hosts_that_have_no_rank() {
    let desk = racks();
    let lines: String = (0..20)
        .map(|host| format!("node{host} rack{}\n", host / 4))
        .collect();
    desk.write("racks.txt", &lines);
    let options = "map ring.txt --topology 20:1:1 --containment --domain racks.txt \
                   --redundancy scr --redundancy-config scr.conf";
    let options: Vec<&str> = options.split_whitespace().collect();
    desk.run(&options).good();
    let config = desk.text("scr.conf");
    for host in 0..20 {
        let line = format!("GROUPS=node{host} DOMAIN=rack{}\n", host / 4);
        assert!(config.contains(&line), "{config}");
    }
}

#[test]
fn unequal_hosts_are_reported_though_they_cannot_change_places() {
    let desk = racks();
    desk.write("three.txt", "node0 r0\nnode1 r0\nnode2 r1\n");
    // Hosts of 6, 6 and 4 ranks: two lines of two, of hosts in one rack.
    let options = "map ring.txt --topology 3:6:1 --strategy identity --containment --domain \
                   three.txt --redundancy scr --set-size 2";
    let options: Vec<&str> = options.split_whitespace().collect();
    let text = desk.run(&options).good().out;
    for words in [
        "1 of 2 domains (domain) lose checkpoints",
        "hosts cannot be dealt: host 2 has 4 ranks",
    ] {
        assert!(text.contains(words), "{text}");
    }
    let mut dealt = options.clone();
    dealt.extend(["--spread-output", "dealt.yaml"]);
    let refusal = desk.run(&dealt).refusal(1);
    assert!(refusal.contains("host 2 has 4 ranks"), "{refusal}");
}

#[test]
fn sets_are_reported_as_launched_too_where_the_placement_moves_ranks() {
    let report = &report(&desk(), "--redundancy fti --set-size 2")["redundancy"];
    for order in ["launched", "today"] {
        assert_eq!(report[order][0]["breaking"], 0, "{order}");
        assert_eq!(report[order][0]["sets"], 8, "{order}");
    }
}

#[test]
fn failures_inside_of_hosts_are_said_to_leave_out_those_of_hosts() {
    let desk = desk();
    let options = "map mesh.txt --topology 4:2:2 --containment --domain";
    let text = |level| {
        let options: Vec<&str> = options.split_whitespace().chain([level]).collect();
        desk.run(&options).good().out
    };
    assert!(text("socket").contains("this counts only failures inside of hosts"));
    assert!(!text("host").contains("inside of hosts"));
}

#[test]
fn waves_are_compared_with_logging_where_the_time_of_the_run_is_known() {
    let desk = desk();
    let found = report(&desk, "--run-time 1h --checkpoint-time 60s --mtbf 4y");
    let rows = found["logging"]["rows"].as_array().unwrap();
    let own: Vec<&Value> = rows.iter().filter(|row| row["is_own"] == true).collect();
    // Four hosts: a failure a year, which the table has already.
    assert_eq!((rows.len(), own.len()), (6, 1));
    assert_eq!(own[0]["mtbf"], 31_557_600.0);
    let text = desk.run(&arguments("--run-time 1h")).good().out;
    assert!(text.contains("against logging of all messages"), "{text}");
    assert_eq!(report(&desk, "")["logging"], Value::Null);
}
