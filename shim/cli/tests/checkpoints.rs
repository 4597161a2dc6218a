//! `treepie predict --protocols`: the cost of waves of checkpoints.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::Value;
use support::{Desk, is_picture};

const PLATFORM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../profiles/two-clusters.platform.yaml"
);

/// `treepie predict` on two clusters of two hosts with four ranks each, with these options.
fn arguments(options: &str) -> Vec<&str> {
    let command = ["predict", PLATFORM];
    command
        .into_iter()
        .chain(options.split_whitespace())
        .collect()
}

fn rows(desk: &Desk, options: &str) -> Vec<Value> {
    let mut arguments = arguments(options);
    arguments.push("--json");
    let answer = desk.run(&arguments).good().json();
    answer["rows"].as_array().unwrap().clone()
}

fn number(row: &Value, path: &str) -> f64 {
    row.pointer(path).unwrap().as_f64().unwrap()
}

#[test]
fn blocking_waves_add_their_time_and_non_blocking_ones_next_to_none() {
    let desk = Desk::new();
    let found = rows(
        &desk,
        "--protocols all --interval 60s,120s --work 250s -o times.svg",
    );
    assert_eq!(found.len(), 10);
    assert!(is_picture(&desk.path("times.svg")));
    let blocking = &found[0];
    assert_eq!(blocking["protocol"], "blocking");
    let waves = number(blocking, "/waves");
    let added = number(blocking, "/seconds") - number(blocking, "/without_checkpoints");
    assert!(waves >= 4.0, "{blocking}");
    assert!(
        (added / waves - number(blocking, "/wave/seconds")).abs() < 1e-6,
        "{blocking}"
    );
    assert_eq!(number(blocking, "/wave/messages"), 240.0);
    // 16 ranks share 1.6 GB, and have 15 MB each.
    assert_eq!(number(blocking, "/wave/bytes"), 1.6e9 + 16.0 * 15e6);
    let non_blocking = found
        .iter()
        .find(|row| row["protocol"] == "non-blocking")
        .unwrap();
    assert!(number(non_blocking, "/wave/lost") < 0.1 * number(blocking, "/wave/lost"));
}

#[test]
fn the_table_says_what_it_is_and_names_the_limit_of_each_number_of_servers() {
    let desk = Desk::new();
    let options = "--protocols blocking --servers 1,4 --local-disk 1G -o servers.png";
    let text = desk.run(&arguments(options)).good().out;
    assert!(text.contains("no checkpoint is made"), "{text}");
    assert!(text.contains("assumptions"), "{text}");
    let limits: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("  blocking"))
        .collect();
    assert!(limits[0].ends_with("a server's card"), "{text}");
    assert!(limits[1].ends_with("a host's card"), "{text}");
    assert!(is_picture(&desk.path("servers.png")));
}

#[test]
fn a_server_in_another_cluster_is_slower_than_one_in_each() {
    let desk = Desk::new();
    let near = &rows(&desk, "--protocols blocking --servers a0,b0")[0];
    let far = &rows(&desk, "--protocols blocking --servers a0")[0];
    assert!(number(far, "/wave/save") > 2.0 * number(near, "/wave/save"));
    let limit = far["wave"]["limit"].as_str().unwrap();
    assert!(limit.contains("cluster"), "{limit}");
}

#[test]
fn what_can_t_be_answered_is_one_line() {
    let desk = Desk::new();
    let refused = |options: &str, status| desk.run(&arguments(options)).refusal(status);
    let never = refused("--protocols blocking --interval 1s", 1);
    assert!(never.contains("never ends"), "{never}");
    assert!(never.contains("longer than a wave"), "{never}");
    // In a table, the message is in a row.
    let table = desk
        .run(&arguments("--protocols blocking --interval 1s,1h"))
        .good()
        .out;
    assert!(table.contains("never ends"), "{table}");
    for (options, expected) in [
        ("--servers nowhere", "no host nowhere"),
        ("--servers 0", "no checkpoint server"),
        ("--servers=-1", "number above 0"),
        ("--interval 0", "--interval"),
        ("--interval=-5s", "--interval"),
        ("--image 0", "above 0"),
        ("--local-disk 0", "above 0"),
        ("--server-disk 0", "above 0"),
        ("--loggers 0", "no event logger"),
        ("--collective bcast", "--collective"),
        ("-o times.txt", "times.txt"),
    ] {
        let line = refused(&format!("--protocols all {options}"), 2);
        assert!(line.contains(expected), "{options}: {line}");
    }
    let many = refused("--protocols non-blocking --ranks 1025", 1);
    assert!(many.contains("at most 1024 ranks"), "{many}");
    let unknown = refused("--protocols sometimes", 2);
    assert!(unknown.contains("blocking"), "{unknown}");
    let alone = refused("--collective bcast --interval 5s", 2);
    assert!(alone.contains("--protocols"), "{alone}");
}
