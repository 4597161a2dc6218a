//! `treepie hosts`: orders of hosts on a torus and on fat trees, against the links that are counted
//! here and the least that there can be.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::Value;
use support::Desk;

/// Names of this number of hosts, sorted as text: n1, n10, n11, ..., n2.
fn sorted_as_text(hosts: usize) -> String {
    let mut names: Vec<String> = (1..=hosts).map(|number| format!("n{number}")).collect();
    names.sort();
    names.join(",")
}

/// Links between two nodes of a torus with rings of `side`.
fn on_torus(side: usize, [mut a, mut b]: [usize; 2]) -> usize {
    let mut links = 0;
    while a != b {
        let apart = (a % side).abs_diff(b % side);
        links += apart.min(side - apart);
        (a, b) = (a / side, b / side);
    }
    links
}

/// Links between two nodes of a fat tree. The switches of each level, leaves first, have these
/// numbers of children.
fn on_tree(children: &[usize], [mut a, mut b]: [usize; 2]) -> usize {
    let mut levels = 0;
    for children in children {
        if a == b {
            break;
        }
        (a, b) = (a / children, b / children);
        levels += 1;
    }
    2 * levels
}

/// Mean number of links of a ring through the hosts in this order.
fn ring(order: &str, links: &dyn Fn([usize; 2]) -> usize) -> f64 {
    let number = |name: &str| name[1..].parse::<usize>().unwrap() - 1;
    let nodes: Vec<usize> = order.split(',').map(number).collect();
    let next = nodes.iter().cycle().skip(1);
    let all: usize = nodes.iter().zip(next).map(|(&a, &b)| links([a, b])).sum();
    all as f64 / nodes.len() as f64
}

/// A ring through all leaves of a tree takes each of its links twice, or more.
fn least_on_tree(children: &[usize]) -> f64 {
    let hosts: usize = children.iter().product();
    let below = children.iter().scan(hosts, |nodes, children| {
        let links = *nodes;
        *nodes /= children;
        Some(links)
    });
    2.0 * below.sum::<usize>() as f64 / hosts as f64
}

fn names(answer: &Value) -> String {
    let hosts = answer["hosts"].as_array().unwrap().iter();
    hosts.flat_map(Value::as_str).collect::<Vec<_>>().join(",")
}

#[test]
fn a_ring_takes_the_least_links_on_a_torus_and_on_fat_trees() {
    let desk = Desk::new();
    type Links = Box<dyn Fn([usize; 2]) -> usize>;
    let tree = |children: &'static [usize]| Box::new(|pair| on_tree(children, pair)) as Links;
    let torus = |side: usize| Box::new(move |pair| on_torus(side, pair)) as Links;
    for (network, hosts, links, least) in [
        ("torus:4x4x4", 64, torus(4), 1.0),
        ("torus:8x8x8", 512, torus(8), 1.0),
        (
            "fat-tree:2;8,8;1,8",
            64,
            tree(&[8, 8]),
            least_on_tree(&[8, 8]),
        ),
        (
            "fat-tree:3;4,4,4;1,2,2",
            64,
            tree(&[4, 4, 4]),
            least_on_tree(&[4, 4, 4]),
        ),
        (
            "fat-tree:3;8,8,8;1,8,8",
            512,
            tree(&[8, 8, 8]),
            least_on_tree(&[8, 8, 8]),
        ),
    ] {
        let given = sorted_as_text(hosts);
        let words = ["hosts", "--json", "--network", network, "--hosts", &given];
        let answer = desk.run(&words).good().json();
        let order = names(&answer);
        let told = |at: usize| answer["hops"][at].as_f64().unwrap();
        assert_eq!(told(0), ring(&given, &links), "{network}");
        assert_eq!(told(1), ring(&order, &links), "{network}");
        assert_eq!(told(1), least, "{network}");
        assert!(told(0) > 1.15 * least, "{network}: {}", told(0));
        let mut sorted: Vec<&str> = order.split(',').collect();
        sorted.sort_unstable();
        assert_eq!(sorted.join(","), given, "{network}");
        assert_eq!(answer["master"], order.split(',').next().unwrap());
    }
}

#[test]
fn groups_of_ranks_get_files_and_what_does_not_fit_is_refused() {
    let desk = Desk::new();
    let hosts = sorted_as_text(64);
    let ordered = |options: &[&str]| {
        let all = ["hosts", "--network", "torus:4x4x4", "--hosts", &hosts];
        desk.run(&[&all[..], options].concat())
    };
    let groups = ordered(&[
        "--pattern",
        "tp8,dp64",
        "--ranks-per-host",
        "8",
        "-o",
        "h.slurm",
    ]);
    groups.good();
    assert_eq!(desk.text("h.slurm").lines().count(), 512);
    let refused = ordered(&["--pattern", "halo:8x9"]).refusal(2);
    assert!(
        refused.contains("halo:8x9 has 72 ranks, and the hosts have 64"),
        "{refused}"
    );
    let unknown = ordered(&["--pattern", "rings"]).refusal(2);
    assert!(
        unknown.contains("`rings` is no pattern; write ring, tree"),
        "{unknown}"
    );
}
