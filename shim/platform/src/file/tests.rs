#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::magpie::MagpieClusters;
use super::{PlatformFile, latencies, logp_mpi};
use crate::TransferMethod;
use crate::{GivenPlatform, PartialPlatform};
use std::path::Path;
use treepie_base::{Cluster, FileError, Header, text};
use treepie_traffic::windows::EpochKind;

const SMALL: &str = "\
treepie: platform
version: 1
hosts:
- {name: a1, ranks: 0-3}
- {name: b1, ranks: 4-7}
clusters:
- {name: a, hosts: [a1], leader: 0}
- {name: b, hosts: [b1], ranks: 4-7, leader: 4}
links:
- from: a
  to: b
  latency_us: 10000
  samples:
  - 0 5
  - 65536 5600 20000
  - 1048576 90000
";

fn read(text: &str) -> Result<PlatformFile, FileError> {
    PlatformFile::from_text(Path::new("p.yaml"), text)
}

#[test]
fn a_platform_written_by_hand_is_read() {
    let platform = read(SMALL).unwrap().platform;
    assert_eq!((platform.ranks(), platform.clusters().len()), (8, 2));
    let link = platform.between(Cluster(1), Cluster(0));
    assert!((link.latency() - 10e-3).abs() < 1e-12);
    assert!((link.gap(65536) - 5.6e-3).abs() < 1e-12);
    assert_eq!(link.eager_limit(), Some(0));
}

#[test]
fn overheads_that_are_left_out_are_those_of_the_smallest_message_and_in_memory_the_gap() {
    let levels = "leader: 0, levels: [{level: node, latency_us: 1, samples: [0 2, 1024 9]}]}";
    let platform = read(&SMALL.replacen("leader: 0}", levels, 1))
        .unwrap()
        .platform;
    let link = platform.between(Cluster(0), Cluster(1));
    let measured = [link.send(65536), link.receive(1 << 20)];
    assert!(
        measured
            .iter()
            .all(|overhead| (overhead - 5e-6).abs() < 1e-12)
    );
    let memory = &platform.clusters()[Cluster(0)].levels[0].link;
    assert!((memory.send(1024) - 9e-6).abs() < 1e-12);
}

/// A list of clusters from a user.
const LIST: &str = "\
treepie: platform
version: 1
clusters:
- {name: lyon, hosts: [a1, a2]}
- {name: nancy, hosts: [b1]}
";

#[test]
fn a_list_of_clusters_by_the_names_of_hosts_is_taken_by_jobs_alone() {
    let path = Path::new("p.yaml");
    let GivenPlatform::Partial(list) = PlatformFile::given(path, LIST).unwrap() else {
        panic!("all links are missing");
    };
    let names = ["b1", "a2", "a1", "a2"].map(str::to_owned);
    let GivenPlatform::Partial(of_job) = list.for_job(&names).unwrap() else {
        panic!("all links are missing");
    };
    let contents = of_job.contents();
    let [lyon, other] = [0, 1].map(Cluster);
    assert_eq!(contents.ranks_of(lyon), [1, 2, 3]);
    assert_eq!(contents.ranks_of(other), [0]);
    assert_eq!(
        (
            contents.clusters[lyon].leader,
            contents.clusters[other].leader
        ),
        (1, 0)
    );
    // On one host no link is missing.
    let alone = list.for_job(&names[..1]).unwrap();
    assert!(matches!(alone, GivenPlatform::Complete(_)));
    // Predictions need all links.
    let error = read(LIST).unwrap_err().to_string();
    assert!(error.starts_with("p.yaml: hosts: have no ranks"), "{error}");
    // A platform without missing parts is complete.
    let whole = PlatformFile::given(path, SMALL).unwrap();
    assert_eq!(
        whole,
        GivenPlatform::Complete(read(SMALL).unwrap().platform)
    );
    let twice = PlatformFile::given(path, &LIST.replace("[b1]", "[b1, a1]")).unwrap_err();
    assert!(
        twice.to_string().contains("a1 is in cluster lyon already"),
        "{twice}"
    );
}

#[test]
fn clusters_without_links_are_read_back_as_they_were_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("clusters.yaml");
    let member = |rank: usize, name: &str| (rank, name.to_owned());
    let clusters = [
        vec![member(0, "a1"), member(2, "a1")],
        vec![member(1, "b1")],
    ];
    let partial = PartialPlatform::from_clusters(&clusters).unwrap();
    PlatformFile::write_partial(&path, &Header::default(), &partial).unwrap();
    let read = PlatformFile::given(&path, &text::read(&path).unwrap()).unwrap();
    assert_eq!(read, GivenPlatform::Partial(partial));
}

#[test]
fn contention_counts_among_the_ranks_that_it_was_fitted_to_and_others_are_told() {
    let contention = "leader: 0, contention: {gamma: 2, delta_us: 100, threshold: 1024}}";
    let platform = read(&SMALL.replacen("leader: 0}", contention, 1))
        .unwrap()
        .platform;
    // Four ranks are in the cluster.
    assert_eq!(platform.clusters()[Cluster(0)].contention.unwrap().ranks, 4);
    assert!(platform.unused_contention().is_empty());
    assert!(platform.scaled(10).unused_contention().is_empty());
    let larger = platform.scaled(16);
    let (cluster, fitted, ranks) = larger.unused_contention()[0];
    assert_eq!((cluster.name.as_str(), fitted, ranks), ("a", 4, 8));
}

#[test]
fn a_platform_reads_back_as_it_was_written() {
    let file = PlatformFile {
        header: Header {
            producer: "treepie 0.1.0".into(),
            date: "2026-11-21T04:03:48Z".into(),
        },
        mpi: Some("Open MPI v4.1.4".into()),
        ..read(SMALL).unwrap()
    };
    let text = file.to_text(Path::new("p.yaml")).unwrap();
    assert_eq!(read(&text).unwrap(), file);
}

#[test]
fn each_wrong_field_is_named_with_what_to_do() {
    for (old, new, expected) in [
        (
            "leader: 4",
            "leader: 1",
            "p.yaml: clusters[1].leader: rank 1 is not in this cluster",
        ),
        (
            "ranks: 4-7, leader",
            "ranks: 4-8, leader",
            "p.yaml: clusters[1].ranks: are 4-8, and its hosts have the ranks 4-7; correct one of them",
        ),
        (
            "{name: b1, ranks: 4-7}",
            "{name: b1, ranks: 3-6}",
            "p.yaml: hosts[1]: rank 3 is on a1 already; keep it on one host",
        ),
        (
            "latency_us: 10000",
            "latency_us: 0",
            "p.yaml: links[0]: the latency is 0; a number above 0 was expected",
        ),
        (
            "- 0 5\n",
            "- 0 -5\n",
            "p.yaml: links[0]: the sample of 0 bytes has -0.000005 for its gap; a number from 0 was expected",
        ),
        (
            "- 0 5\n",
            "- 7\n",
            "p.yaml: links[0].samples[0]: `` is no line of `bytes gap_us handshake_us send_us receive_us confidence_us`; write at least the first two",
        ),
        (
            "to: b",
            "to: c",
            "p.yaml: links[0].to: no cluster is called c; name one of `clusters`",
        ),
        (
            "hosts: [b1]",
            "hosts: [b2]",
            "p.yaml: clusters[1].hosts: no host is called b2; name one of `hosts`",
        ),
    ] {
        let text = SMALL.replace(old, new);
        assert_ne!(text, SMALL, "{old}");
        assert_eq!(read(&text).unwrap_err().to_string(), expected);
    }
    let without_links = SMALL.split("links:").next().unwrap();
    assert_eq!(
        read(without_links).unwrap_err().to_string(),
        "p.yaml: links: there is none between a and b; measure it, or write one"
    );
}

#[test]
fn a_platform_of_other_hosts_is_told_apart_from_one_that_fits() {
    let platform = read(SMALL).unwrap().platform;
    let hosts = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let same = hosts(&["a1", "a1", "a1", "a1", "b1", "b1", "b1", "b1"]);
    assert_eq!(platform.for_job(&same).unwrap(), platform);
    let [a, b] = [0, 1].map(Cluster);
    let fewer = platform.for_job(&hosts(&["b1", "a1"])).unwrap();
    assert_eq!(
        (fewer.ranks(), fewer.ranks_of(a), fewer.ranks_of(b)),
        (2, vec![1], vec![0])
    );
    let one = platform.for_job(&hosts(&["b1", "b1"])).unwrap();
    assert_eq!(one.clusters().len(), 1);
    assert_eq!(
        platform
            .for_job(&hosts(&["a1", "z9"]))
            .unwrap_err()
            .to_string(),
        "was measured on other hosts: it does not know z9, where rank 1 runs; measure this \
         platform with `treepie probe`"
    );
    assert!(platform.check_latencies(&[(a, b, 11e-3)], 1.5).is_ok());
    assert_eq!(
        platform
            .check_latencies(&[(a, b, 50e-6)], 1.5)
            .unwrap_err()
            .to_string(),
        "does not fit what is here: from a to b it has a latency of 10000.0 us and \
         50.0 us were measured now; measure it again with `treepie probe`"
    );
}

#[test]
fn the_cluster_file_of_figure_3_3_is_read_and_written() {
    let text = "cluster 0\nprocess 0 1 2 3 6 7 8 9 11 12 17\ncluster 1\nprocess 4 5\n\
                cluster 2\nprocess 10 13 14 15 16\n# Min edge 0-1 = 59.962273\n";
    let path = Path::new("magpie_clusters");
    let found = MagpieClusters::from_text(path, text).unwrap();
    assert_eq!(found.clusters[Cluster(1)], [4, 5]);
    assert_eq!(found.least_edges.len(), 1);
    assert_eq!(
        MagpieClusters::from_text(path, &found.to_text()).unwrap(),
        found
    );
    for (wrong, message) in [
        (
            "cluster 0\nprocess 0 0\n",
            "magpie_clusters: process: rank 0 is listed twice; keep it in one cluster",
        ),
        (
            "process 0\n",
            "magpie_clusters:1: there are processes before the first `cluster` line; write it",
        ),
        (
            "cluster 0\nprocess 0 x\n",
            "magpie_clusters:2: `x` is no rank; write whole numbers",
        ),
    ] {
        let error = MagpieClusters::from_text(path, wrong).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn the_table_of_figure_4_7_is_read() {
    let text = "# logp_test.Send.Recv\n# Latency = 32.66\n\
        # time bytes os os_min os_cnfint or or_min or_cnfint g\n\
        1113829432 0 5.3e-6 4.3e-6 0.4e-6 2.4e-6 1.4e-6 0.9e-6 1.4e-6\n\
        1113829432 1024 6.3e-6 5.2e-6 1.0e-6 4.4e-6 3.3e-6 0.4e-6 29.2e-6\n\
        1113829433 1048576 8.5095e-3 8.4665e-3 0.2588e-3 9.0407e-3 9.0144e-3 0.1601e-3 9.1020e-3\n";
    let path = Path::new("lan.logp");
    let link = logp_mpi::from_text(path, text).unwrap();
    assert!((link.latency() - 32.66e-6).abs() < 1e-15);
    assert_eq!(link.gap(1 << 20), 9.1020e-3);
    // Halfway between two samples, half of both.
    let middle = link.gap((1024 + (1 << 20)) / 2);
    assert!((middle - (29.2e-6 + 9.1020e-3) / 2.0).abs() < 1e-9);
    assert_eq!(
        logp_mpi::from_text(path, "0 0 1\n")
            .unwrap_err()
            .to_string(),
        "lan.logp:1: has 3 words; the nine of `time bytes os os_min os_cnfint or or_min or_cnfint \
         g` were expected"
    );
    assert_eq!(
        logp_mpi::from_text(path, "# nothing\n")
            .unwrap_err()
            .to_string(),
        "lan.logp: Latency: is missing; a line `# Latency = 32.66` was expected"
    );
}

#[test]
fn latencies_that_are_none_are_refused_with_their_line() {
    let path = Path::new("l.csv");
    for (text, expected) in [
        (
            "",
            "l.csv:1: has no rows; one row of latencies for each node was expected",
        ),
        (
            "0,50\n50,0,3\n",
            "l.csv:2: row 1 has 3 numbers and the first has 2; the matrix must be square, with one \
             row and one column for each node",
        ),
        (
            "0,50,50\n50,0,50\n",
            "l.csv:2: there are 2 rows of 3 numbers; the matrix must be square",
        ),
        (
            "0,-50\n-50,0\n",
            "l.csv:1: the latency from node 0 to node 1 is -50; write microseconds above 0, or 0 \
             for no link",
        ),
        (
            "# comment\n0,50\n0,0\n",
            "l.csv:2: there is a latency from node 0 to node 1 and none back; measure both \
             directions, or write 0 for both",
        ),
        (
            "0,x\n50,0\n",
            "l.csv:1: `x` is no number; write microseconds",
        ),
    ] {
        let error = latencies::from_text(path, text).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text:?}");
    }
    let matrix = latencies::from_text(path, "0, 50\n70, 0\n").unwrap().matrix;
    let links: Vec<_> = matrix.links().collect();
    assert!(
        (links[0].2 - 60e-6).abs() < 1e-15,
        "the mean of both directions"
    );
    let named = latencies::from_text(path, "# NWS\nn1, n2\n0, 50\n70, 0\n").unwrap();
    assert_eq!(
        (named.names, named.matrix.order()),
        (vec!["n1".to_owned(), "n2".to_owned()], 2)
    );
    let error = latencies::from_text(path, "n1\n0,50\n70,0\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "l.csv:1: names 1 node, and the rows have 2 numbers; name all nodes, or none"
    );
}

/// A link with methods of transfer, in a cluster.
const WITH_WAYS: &str = "\
treepie: platform
version: 1
hosts:
- {name: a1, ranks: 0-1}
clusters:
- name: a
  hosts: [a1]
  leader: 0
  levels:
  - level: node
    latency_us: 2
    samples: [0 1]
    ways:
      epochs_us: {fence: 12.5, lock-all: 3}
      put: [8 2.1 0.4, 64 2.2 0.5]
      put-joined: [8 2.5 0.01]
";

#[test]
fn ways_of_a_link_are_written_as_they_were_read() {
    let file = read(WITH_WAYS).unwrap();
    let link = &file.platform.clusters()[Cluster(0)].levels[0].link;
    let ways = link.ways().unwrap();
    let put = ways.cost(TransferMethod::Put, 64.0).unwrap();
    assert!((put.one - 2.2e-6).abs() < 1e-15 && (put.further - 0.5e-6).abs() < 1e-15);
    assert!((ways.epochs()[&EpochKind::Fence] - 12.5e-6).abs() < 1e-15);
    let again = read(&file.to_text(Path::new("p.yaml")).unwrap()).unwrap();
    assert_eq!(again, file);
    for (old, new, expected) in [
        (
            "put: [8 2.1 0.4,",
            "put: [8 2.1,",
            "p.yaml: clusters[0].levels[0].ways.put[0]: `8 2.1` is no line of `bytes one_us \
             further_us`; write three numbers",
        ),
        (
            "64 2.2 0.5",
            "8 2.2 0.5",
            "p.yaml: clusters[0].levels[0].ways: put has two samples of 8 bytes; keep one of them",
        ),
    ] {
        let error = read(&WITH_WAYS.replace(old, new)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

proptest! {
    #[test]
    fn no_text_panics_and_every_message_is_one_line(text in "(?s)[0-9,.a-z# \n-]{0,120}") {
        let path = Path::new("x");
        let messages = [
            latencies::from_text(path, &text).err(),
            logp_mpi::from_text(path, &text).err(),
            MagpieClusters::from_text(path, &text).err(),
            read(&text).err(),
        ];
        for message in messages.into_iter().flatten() {
            prop_assert!(!message.to_string().contains('\n'), "{}", message);
        }
    }
}
