//! Refused arguments of `treepie map`, and matrices with little information.
#![allow(clippy::unwrap_used)]

mod support;

use support::Desk;

/// The matrix of the thesis' worked example (figure 2.6).
const WORKED_EXAMPLE: &str = "\
0 1000 10 1 100 1 1 1
1000 0 1000 1 1 100 1 1
10 1000 0 1000 1 1 100 1
1 1 1000 0 1 1 1 100
100 1 1 1 0 1000 10 1
1 100 1 1 1000 0 1000 1
1 1 100 1 10 1000 0 1000
1 1 1 100 1 1 1000 0
";

/// A desk with `m.txt`.
fn desk(matrix: &str) -> Desk {
    let desk = Desk::new();
    desk.write("m.txt", matrix);
    desk
}

fn refusal(desk: &Desk, options: &str, status: i32) -> String {
    let mut arguments = vec!["map", "m.txt"];
    arguments.extend(options.split_whitespace());
    desk.run(&arguments).refusal(status)
}

/// The core of each rank on a tree.
fn cores_of(desk: &Desk, matrix: &str, tree: &str) -> Vec<usize> {
    let answer = desk.run(&["map", matrix, "--tree", tree, "--json"]).good();
    serde_json::from_value(answer.json()["assignment"].clone()).unwrap()
}

const SWITCHES: &str = "\
SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[2-3]
SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-3] Switches=s[0-1]
";

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let desk = desk(WORKED_EXAMPLE);
    desk.write("loads", "1 2 x\n");
    desk.write("few", "1 2\n");
    desk.write("negative", "1 2 3 4 5 6 7 -8\n");
    desk.write("slurm.txt", SWITCHES);
    for (options, status, expected) in [
        (
            "--tree 2:3",
            1,
            "8 ranks do not fit on 6 cores that may be used: use more nodes or fewer ranks, or \
             let cores take several (slots)",
        ),
        (
            "--tree 2:2:2 --exclude 7",
            1,
            "8 ranks do not fit into the 7 slots of the cores that may be used: allow more slots \
             or cores, or use fewer ranks",
        ),
        (
            "--tree 2:2:2 --fix 0=5 --exclude 5 --slots 2",
            1,
            "rank 0 is fixed to core 5, which is excluded: fix it to another core or let that one \
             be used",
        ),
        (
            "--tree 2:2:2 --fix 0",
            2,
            "--fix 0: RANK=CORE was expected, such as 0=3",
        ),
        (
            "--tree 2:2:2 --fix 0=1 --fix 0=2",
            2,
            "--fix 0=2: rank 0 is fixed to another core already: keep one",
        ),
        (
            "--tree 2:2:2 --exclude 3-1",
            2,
            "--exclude 3-1: the range `3-1` runs backwards; write the smaller number first",
        ),
        (
            "--tree 2:0",
            2,
            "--tree 2:0: level 2 has a node without children: every arity is at least 1",
        ),
        (
            "--hierarchy 2:x",
            2,
            "--hierarchy 2:x: level 1 of topology \"x:2\" is \"x\": expected the number of \
             children of every node of that level, as in \"4:2:2\"",
        ),
        (
            "--tree 2:2:2 --distances 100:10:1",
            2,
            "--distances 100:10:1: 10 comes after 100: distances are written from the cores up \
             and do not shrink towards the root",
        ),
        (
            "--tree 2:2:2 --strategy tmlb-min-weight",
            1,
            "the strategy tmlb-min-weight balances loads: give the load of each rank",
        ),
        (
            "--tree 2:2:2 --strategy tmlb-min-weight --loads loads",
            1,
            "loads:1: `x` is not a number; write the load of each rank, such as 1.5",
        ),
        (
            "--tree 2:2:2 --strategy tmlb-min-weight --loads few",
            1,
            "2 loads are given for 8 ranks: give one for each",
        ),
        (
            "--tree 2:2:2 --strategy tmlb-tree-based --loads negative",
            1,
            "the load of rank 7 is -8: loads are finite and not negative",
        ),
        (
            "--tree 2:2:2 --current few",
            1,
            "2 leaves are given for 8 ranks: give one for each",
        ),
        (
            "--tree 3:2:2 --network slurm.txt",
            1,
            "slurm.txt: has 4 hosts, and the topology 3 machines: name the hosts in a topology \
             file, or describe as many",
        ),
        (
            "--tree 2:2:2 --time-limit soon",
            2,
            "invalid value 'soon' for '--time-limit <TIME>': `soon` is no time; write one such as 90, \
             60s, 10min, 2h or 90d; `treepie map --help` shows the usage",
        ),
        (
            "--tree 2:2:2 --topology 2:2",
            2,
            "the argument '--tree <ARITIES>' cannot be used with '--topology <TOPOLOGY>'; \
             `treepie map --help` shows the usage",
        ),
    ] {
        assert_eq!(refusal(&desk, options, status), expected, "{options}");
        assert!(!desk.path("m.placement.yaml").exists(), "{options}");
    }
}

#[test]
fn matrices_that_are_none_are_refused_and_those_that_say_little_are_placed() {
    let desk = desk("");
    for (name, text, expected) in [
        ("negative.txt", "0 1\n-1 0\n", "negative.txt:2"),
        ("infinite.txt", "0 inf\n1 0\n", "infinite.txt:1"),
        ("huge.txt", "0 1e308\n1e308 0\n", "the affinities add up to"),
        ("ragged.txt", "0 1\n1\n", "ragged.txt:2"),
        ("empty.txt", "", "empty.txt:1: "),
        (
            "none.mtx",
            "%%MatrixMarket matrix coordinate integer general\n0 0 0\n",
            "none.mtx:2: expected a number of ranks from 1",
        ),
    ] {
        desk.write(name, text);
        let refusal = desk.run(&["map", name, "--tree", "2:2"]).refusal(1);
        assert!(refusal.starts_with(expected), "{refusal}");
    }
    for (name, text) in [
        ("one.txt", "0\n"),
        ("silent.txt", "0 0 0\n0 0 0\n0 0 0\n"),
        ("apart.txt", "0 1 0 0\n1 0 0 0\n0 0 0 1\n0 0 1 0\n"),
    ] {
        desk.write(name, text);
        for tree in ["1:4", "2:2", "1:1:5", "4:1"] {
            let cores = cores_of(&desk, name, tree);
            assert_eq!(cores, (0..cores.len()).collect::<Vec<_>>(), "{name} {tree}");
        }
    }
}
