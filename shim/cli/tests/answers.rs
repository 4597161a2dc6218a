//! Answers of the reporting subcommands on a known job.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Desk, halo, is_picture};
use treepie_base::Leaf;
use treepie_placement::file::PlacementFile;
use treepie_profile::Profile;

/// A desk with `app.profile.yaml`, and the answer of `map` on it.
fn mapped(options: &[&str]) -> (Desk, support::Answer) {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    let arguments = [&["map", "app.profile.yaml", "--topology", "4:2:2"], options].concat();
    let answer = desk.run(&arguments).good();
    (desk, answer)
}

#[test]
fn a_map_of_a_bad_order_keeps_heavy_neighbours_in_a_node() {
    let (_desk, answer) = mapped(&[]);
    let expected = "\
app.profile.yaml: 16 ranks on 4 nodes x 2 sockets x 2 cores
  strategy: treematch, the best of those tried

  bytes sent                      before    share      after   share   change
  between nodes (network)       1.52 MiB  100.0 %     24 KiB   1.5 %  -98.5 %
  between sockets (same node)        0 B    0.0 %    512 KiB  32.8 %      new
  between cores (same socket)        0 B    0.0 %      1 MiB  65.6 %      new
  all of it                     1.52 MiB            1.52 MiB              0 %
  DistComm (bytes x hops)      4 792 320           2 170 880          -54.7 %

  most loaded link   before   after   change
  of a node         390 KiB   8 KiB  -97.9 %
  of a socket       196 KiB  68 KiB  -65.3 %

  between nodes: 12 pairs of ranks, were 24; heaviest 0-4 2 KiB, 1-13 2 KiB, 2-6 2 KiB, 2-14 2 KiB
  proved optimal: no placement has a lower DistComm

app.placement.yaml: written; apply it with `treepie replay app.placement.yaml -- ...`
verdict: gain: saves 54.7 % of DistComm, as much as any placement; 100.0 % of the bytes went between nodes, 1.5 % do with it
";
    assert_eq!(answer.out, expected);
    assert_eq!(answer.err, "");
}

#[test]
fn a_map_for_programs_has_the_documented_fields() {
    let (desk, answer) = mapped(&["--json"]);
    let json = answer.json();
    assert_eq!(json["ranks"], 16);
    assert_eq!(json["cores"], 16);
    assert_eq!(json["strategy"], "treematch");
    assert_eq!(json["cost"]["objective"], "DistComm of size");
    assert_eq!(json["levels"][0]["name"], "node");
    assert_eq!(json["levels"][0]["arity"], 4);
    assert_eq!(json["levels"][0]["distance"], 6.0);
    assert_eq!(json["levels"][0]["bytes_after"], 24.0 * 1024.0);
    let file = PlacementFile::read(&desk.path("app.placement.yaml")).unwrap();
    assert_eq!(json["assignment"], serde_json::json!(file.assignment));
    assert_eq!(json["cost"]["placement"], file.costs.unwrap().after);
}

#[test]
fn the_placement_names_its_profile_and_gives_each_process_the_rank_of_its_core() {
    let (desk, _) = mapped(&["-o", "elsewhere.yaml"]);
    let file = PlacementFile::read(&desk.path("elsewhere.yaml")).unwrap();
    assert_eq!(file.profile.as_deref(), Some("app.profile.yaml"));
    assert_eq!(file.leaf_of_process, Leaf::list(0..16));
    for (process, &rank) in file.permutation.iter_enumerated() {
        assert_eq!(file.assignment[rank], Leaf(process.0));
    }
    assert!(!desk.path("app.placement.yaml").exists());
}

#[test]
fn on_a_larger_machine_ranks_stay_on_the_cores_where_processes_run() {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    let answer = desk
        .run(&["map", "app.profile.yaml", "--topology", "8:2:2"])
        .good();
    assert!(
        answer
            .out
            .contains("on the 16 of 32 cores where processes run"),
        "{}",
        answer.out
    );
    let file = PlacementFile::read(&desk.path("app.placement.yaml")).unwrap();
    assert!(file.assignment.iter().all(|core| core.0 < 16));
}

#[test]
fn a_good_order_is_left_as_it_is() {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    desk.run(&["map", "app.profile.yaml", "--topology", "4:2:2"])
        .good();
    let placement = PlacementFile::read(&desk.path("app.placement.yaml")).unwrap();
    replayed(&placement)
        .write(&desk.path("replayed.profile.yaml"))
        .unwrap();
    let answer = desk
        .run(&["map", "replayed.profile.yaml", "--topology", "4:2:2"])
        .good();
    assert!(answer.out.contains("strategy: identity"), "{}", answer.out);
    assert!(
        answer.out.contains("the ranks are well where they are"),
        "{}",
        answer.out
    );
}

/// The profile of the same job during a replay: same ranks, other processes.
fn replayed(placement: &PlacementFile) -> Profile {
    let mut profile = halo();
    for (process, &rank) in placement.permutation.iter_enumerated() {
        profile.process_of_rank[rank] = process;
    }
    profile
}

#[test]
fn two_profiles_show_what_a_replay_has_really_changed() {
    let (desk, _) = mapped(&[]);
    let placement = PlacementFile::read(&desk.path("app.placement.yaml")).unwrap();
    replayed(&placement)
        .write(&desk.path("replayed.profile.yaml"))
        .unwrap();
    let arguments = [
        "compare",
        "app.profile.yaml",
        "replayed.profile.yaml",
        "--topology",
        "4:2:2",
    ];
    let answer = desk
        .run(&[&arguments[..], &["-o", "both.png"]].concat())
        .good();
    let expected = "\
before: app.profile.yaml
after:  replayed.profile.yaml

  sent            messages before  after  bytes before     after
  point-to-point               48     48      1.52 MiB  1.52 MiB
  all                          48     48      1.52 MiB  1.52 MiB

measured on 4 nodes x 2 sockets x 2 cores

  bytes sent                      before    share      after   share   change
  between nodes (network)       1.52 MiB  100.0 %     24 KiB   1.5 %  -98.5 %
  between sockets (same node)        0 B    0.0 %    512 KiB  32.8 %      new
  between cores (same socket)        0 B    0.0 %      1 MiB  65.6 %      new
  all of it                     1.52 MiB            1.52 MiB              0 %
  DistComm (bytes x hops)      4 792 320           2 170 880          -54.7 %
";
    assert_eq!(answer.out, expected);
    assert!(is_picture(&desk.path("both.png")));
    let json = desk
        .run(&[&arguments[..], &["--json"]].concat())
        .good()
        .json();
    assert_eq!(json["levels"][0]["bytes_after"], 24.0 * 1024.0);
    assert_eq!(json["after"]["permuted"], true);
}

#[test]
fn two_placements_are_compared_by_cost_and_by_cores() {
    let (desk, _) = mapped(&["-o", "good.yaml"]);
    let options = [
        "--topology",
        "4:2:2",
        "--strategy",
        "packed",
        "-o",
        "packed.yaml",
    ];
    desk.run(&[&["map", "app.profile.yaml"][..], &options].concat())
        .good();
    let answer = desk.run(&["compare", "packed.yaml", "good.yaml"]).good();
    assert!(
        answer.out.contains("packed                      treematch"),
        "{}",
        answer.out
    );
    assert!(answer.out.contains("-54.7 %"), "{}", answer.out);
    assert!(
        answer.out.contains("of 16 ranks are on other cores"),
        "{}",
        answer.out
    );
    let mixed = desk
        .run(&["compare", "good.yaml", "app.profile.yaml"])
        .refusal(2);
    assert_eq!(
        mixed,
        "good.yaml is a placement and app.profile.yaml is a profile; give two profiles or two placements"
    );
    let matrix = desk.run(&["compare", "app.mtx", "good.yaml"]).refusal(2);
    assert_eq!(
        matrix,
        "app.mtx is a matrix, which does not state where ranks ran; give two profiles or two placements, \
         or see the matrix with `treepie show`"
    );
}

#[test]
fn pictures_are_drawn_in_both_formats_for_profiles_and_placements() {
    let (desk, _) = mapped(&["--picture", "map.svg"]);
    desk.run(&["show", "app.profile.yaml", "-o", "profile.svg"])
        .good();
    desk.run(&["show", "app.profile.yaml", "-o", "profile.png"])
        .good();
    desk.run(&["show", "app.placement.yaml", "-o", "placement.png"])
        .good();
    for name in ["map.svg", "profile.svg", "profile.png", "placement.png"] {
        assert!(is_picture(&desk.path(name)), "{name}");
    }
    let svg = desk.text("map.svg");
    for words in [
        "before",
        "after (treematch)",
        "receiving process",
        "bytes sent",
        "red lines: nodes",
    ] {
        assert!(svg.contains(words), "{words}");
    }
}

#[test]
fn a_picture_of_an_unknown_format_is_refused_before_anything_is_computed() {
    let desk = Desk::new();
    let refusal = desk
        .run(&["map", "missing.yaml", "--picture", "map.gif"])
        .refusal(2);
    assert_eq!(
        refusal,
        "map.gif: is no picture's name; end it in .svg or .png"
    );
}

#[test]
fn a_profile_is_shown_with_layers_and_busiest_pairs() {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    let answer = desk.run(&["show", "app.profile.yaml"]).good();
    let expected = "\
app.profile.yaml: profile of 16 ranks on mygale, Open MPI v4.1.4
  2026-11-21T04:03:48Z
  ./halo2d 100

  layer           messages     bytes    share
  point-to-point        48  1.52 MiB  100.0 %
  all                   48  1.52 MiB  100.0 %

48 ordered pairs of ranks communicate; most bytes go
  from -> to  messages   bytes  share
  0 -> 5             1  64 KiB  4.1 %
";
    assert!(answer.out.starts_with(expected), "{}", answer.out);
    let json = desk
        .run(&["show", "app.profile.yaml", "--json"])
        .good()
        .json();
    assert_eq!(json["top_pairs"][0]["bytes"], 65536);
}

#[test]
fn a_placement_is_shown_block_by_block() {
    let (desk, _) = mapped(&[]);
    let answer = desk.run(&["show", "app.placement.yaml"]).good();
    assert!(
        answer
            .out
            .contains("placement of 16 ranks on 4 nodes x 2 sockets x 2 cores"),
        "{}",
        answer.out
    );
    assert!(
        answer.out.contains("made from app.profile.yaml"),
        "{}",
        answer.out
    );
    assert_eq!(
        answer.out.matches("socket 0: ").count(),
        4,
        "{}",
        answer.out
    );
    let json = desk
        .run(&["show", "app.placement.yaml", "--json"])
        .good()
        .json();
    assert_eq!(json["assignment"].as_array().unwrap().len(), 16);
}

#[test]
fn topologies_and_configurations_are_shown_too() {
    let desk = Desk::new();
    desk.write(
        "cluster.yaml",
        "treepie: topology\nversion: 1\narities: 4:2:2\n",
    );
    desk.write(
        "run.yaml",
        "treepie: configuration\nversion: 1\nmode: profile\nlog: info\n",
    );
    let tree = desk.run(&["show", "cluster.yaml"]).good().out;
    assert!(
        tree.starts_with("cluster.yaml: 4 nodes x 2 sockets x 2 cores\n"),
        "{tree}"
    );
    let synthetic = desk
        .run(&["show", "hwloc:pack:2 core:4", "--json"])
        .good()
        .json();
    assert_eq!(synthetic["arities"], serde_json::json!([2, 4]));
    let settings = desk.run(&["show", "run.yaml"]).good().out;
    assert!(settings.contains("  TREEPIE_MODE=profile\n"), "{settings}");
    assert!(settings.contains("  TREEPIE_LOG=info\n"), "{settings}");
}

#[test]
fn a_profile_becomes_a_matrix_and_a_matrix_can_be_mapped() {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    desk.run(&[
        "convert",
        "app.profile.yaml",
        "-o",
        "app.mtx",
        "--metric",
        "msg",
    ])
    .good();
    desk.run(&["convert", "app.mtx", "-o", "again.mtx"]).good();
    assert_eq!(desk.text("app.mtx"), desk.text("again.mtx"));
    let shown = desk.run(&["show", "app.mtx"]).good().out;
    let first = "app.mtx: matrix of 16 ranks, 48 ordered pairs communicate, 48 in all\n  \
                 what kinds of calls sent that is not in the file: no shares of layers\n\n";
    assert!(shown.starts_with(first), "{shown}");
    desk.run(&["map", "app.mtx", "--topology", "4:2:2"]).good();
    let placement = PlacementFile::read(&desk.path("app.placement.yaml")).unwrap();
    assert_eq!(placement.ranks, 16);
    let refusal = desk
        .run(&["convert", "app.mtx", "-o", "app.docx"])
        .refusal(2);
    assert!(
        refusal.starts_with("app.docx: no format has this ending that can be written"),
        "{refusal}"
    );
}

#[test]
fn what_cannot_be_mapped_is_refused_in_one_line() {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    for (topology, status, expected) in [
        ("2:2", 1, "mygale has 4 cores and 16 processes ran there"),
        ("4:0", 2, "--topology 4:0: "),
        ("missing.yaml", 1, "missing.yaml: there is no such file"),
        ("missing.xml", 1, ""),
        (
            "app.profile.yaml",
            1,
            "app.profile.yaml: this is a profile, a topology was expected",
        ),
        ("hwloc:nonsense", 1, ""),
    ] {
        let refusal = desk
            .run(&["map", "app.profile.yaml", "--topology", topology])
            .refusal(status);
        assert!(refusal.starts_with(expected), "{topology}: {refusal}");
        assert!(!desk.path("app.placement.yaml").exists());
    }
    let refusal = desk
        .run(&[
            "map",
            "app.profile.yaml",
            "--topology",
            "4:2:2",
            "-o",
            "no/where.yaml",
        ])
        .refusal(1);
    assert!(
        refusal.starts_with("no/where.yaml: cannot be written"),
        "{refusal}"
    );
}
