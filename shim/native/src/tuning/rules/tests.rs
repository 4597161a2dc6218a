use std::collections::BTreeMap;

use std::path::Path;

use crate::knobs::variables::Component;
use crate::tuning::file::Tuning;
use crate::tuning::row::Row;
use crate::tuning::rules::mpi_tuning::MpiTuning;
use crate::tuning::rules::selection::Selection;
use crate::tuning::rules::writing::mpi_tuning;
use treepie_base::FileContents;
use treepie_collective::Operation;
use treepie_collective::Operation::*;

fn row(operation: Operation, bytes: u64, algorithm: &str, seconds: f64) -> Row {
    Row {
        operation,
        ranks: 4,
        from_bytes: bytes,
        algorithm: (algorithm != "default").then(|| algorithm.to_owned()),
        seconds,
        native_seconds: 1.0,
        undecided: false,
        others: BTreeMap::new(),
        plan: None,
        plans: BTreeMap::new(),
        slower_than: BTreeMap::new(),
    }
}

fn tuning(library: &str, rows: Vec<Row>) -> Tuning {
    let mut tuning = Tuning {
        library: library.parse().unwrap(),
        ranks: 4,
        hosts: 1,
        commutative: false,
        library_file: None,
        notes: Vec::new(),
        rows,
    };
    tuning.on_read(Path::new("a.yaml")).unwrap();
    tuning
}

/// Returns the lines without comments.
fn bare(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or("").trim());
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn rules_of_open_mpi_hold_for_the_measured_sizes_of_communicators_alone() {
    let rows = vec![
        row(Bcast, 8, "default", 1.0),
        row(Bcast, 1024, "chain", 0.5),
        row(Bcast, 4096, "chain", 0.5),
        row(Allgather, 16, "ring", 0.5),
        row(Allgather, 64, "default", 1.0),
        row(Scan, 8, "default", 1.0),
    ];
    let made = mpi_tuning(&tuning("open-mpi 4.1.4", rows), None, |_| true);
    let rest = ["5", "1", "0 0 0 0"];
    let first = ["3", "1", "1", "0 0 0 0", "4"];
    let allgather = ["3", "0 0 0 0", "64 4 0 0", "256 0 0 0"];
    let bcast = ["2", "0 0 0 0", "1024 2 0 0"];
    let parts = [
        &["2", "0"][..],
        &first,
        &allgather,
        &rest,
        &["7"],
        &first,
        &bcast,
        &rest,
    ];
    let expected = parts.concat();
    assert_eq!(bare(rules_of(&made, Component::Tuned)), expected);
    assert_eq!(made.rules.len(), 1);
    assert_eq!((made.settings, made.left_out), (vec![], vec![]));
}

/// Bytes are the total of all blocks for an allgather. Calls without measurements are not named.
#[test]
fn rules_of_open_mpi_6_are_json_and_name_what_they_are_for() {
    let rows = vec![
        row(Bcast, 8, "default", 1.0),
        row(Bcast, 1024, "chain", 0.5),
        row(ReduceScatterBlock, 8, "default", 1.0),
        row(Allgather, 16, "bruck-k-fanout", 0.5),
        row(Allgather, 64, "default", 1.0),
    ];
    let made = mpi_tuning(&tuning("open-mpi 6.0.0", rows), None, |_| true);
    let text = rules_of(&made, Component::Tuned);
    let found: serde_json::Value = serde_json::from_str(text).unwrap();
    let of_four = |rule: serde_json::Value| serde_json::json!([{"comm_size_min": 4, "comm_size_max": 4, "rules": [rule]}]);
    let expected = serde_json::json!({
        "rule_file_version": 3,
        "module": "tuned",
        "collectives": {
            "bcast": of_four(serde_json::json!(
                {"msg_size_min": 1024, "msg_size_max": "inf", "alg": "chain"}
            )),
            "allgather": of_four(serde_json::json!(
                {"msg_size_min": 64, "msg_size_max": 255, "alg": "bruck-k-fanout"}
            )),
        },
    });
    assert_eq!(found, expected);
    assert_eq!((made.settings, made.left_out), (vec![], vec![]));
}

fn rules_of(made: &MpiTuning, component: Component) -> &str {
    let mut rules = made.rules.iter();
    let found = rules.find(|(of, _)| *of == component);
    &found.unwrap_or_else(|| panic!("{made:?}")).1
}

/// Bytes are those of a block there, and operations that HAN does not have are not in its file.
#[test]
fn han_leaves_over_several_hosts_what_an_algorithm_of_tuned_is_the_fastest_for() {
    let rows = vec![
        row(Allgather, 16, "ring", 0.5),
        row(Allgather, 64, "default", 1.0),
        row(Alltoall, 8, "pairwise", 0.5),
        row(Bcast, 8, "default", 1.0),
    ];
    let mut tuning = tuning("open-mpi 5.0.11", rows);
    let one_host = mpi_tuning(&tuning, None, |_| true);
    assert_eq!(one_host.rules.len(), 1);
    tuning.hosts = 2;
    let made = mpi_tuning(&tuning, None, |_| true);
    let lines = bare(rules_of(&made, Component::Han));
    let sizes = [
        "3", "1", "1", "0 han", "4", "3", "0 han", "16 tuned", "64 han",
    ];
    let expected = [
        &["1", "0", "1", "global_communicator"][..],
        &sizes,
        &["5", "1", "0 han"],
    ];
    assert_eq!(lines, expected.concat());
    let of_tuned = bare(rules_of(&made, Component::Tuned));
    assert!(of_tuned.contains(&"64 4 0 0".to_owned()));
    tuning.library = "open-mpi 4.1.4".parse().unwrap();
    assert_eq!(mpi_tuning(&tuning, None, |_| true).rules.len(), 1);
}

#[test]
fn a_scatter_has_one_rule_for_all_bytes_since_only_the_root_knows_them() {
    let mut small = row(Scatter, 8, "binomial", 0.5);
    let mut large = row(Scatter, 4096, "default", 1.0);
    large.others.insert("binomial".to_owned(), 1.01);
    let both = tuning("open-mpi 4.1.4", vec![small.clone(), large.clone()]);
    let made = mpi_tuning(&both, None, |_| true);
    let rules = bare(rules_of(&made, Component::Tuned));
    assert!(rules.contains(&"0 2 0 0".to_owned()));
    // Slower for long blocks: the default stays, and the row is reported as left out.
    large.others.insert("binomial".to_owned(), 1.5);
    small.seconds = 0.1;
    let made = mpi_tuning(&tuning("open-mpi 4.1.4", vec![small, large]), None, |_| {
        true
    });
    assert_eq!((made.rules, made.left_out), (vec![], vec![0]));
}

#[test]
fn mpich_is_told_an_algorithm_that_is_never_slower() {
    let mut short = row(Bcast, 8, "default", 1.0);
    short.others.insert("binomial".to_owned(), 1.0);
    short.others.insert("nb".to_owned(), 3.0);
    let long = row(Bcast, 1024, "binomial", 0.5);
    let mut longer = row(Bcast, 9999, "nb", 0.2);
    longer.others.insert("binomial".to_owned(), 0.9);
    let rows = vec![short, long, longer, row(Alltoall, 8, "scattered", 0.5)];
    let tuning = tuning("mpich 4.0.2", rows);
    let made = mpi_tuning(&tuning, None, |_| true);
    let text: Vec<String> = made
        .settings
        .iter()
        .map(|(n, v)| format!("{n}={v}"))
        .collect();
    assert_eq!(
        text,
        [
            "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE=0",
            "MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial",
            "MPIR_CVAR_ALLTOALL_DEVICE_COLLECTIVE=0",
            "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM=scattered",
        ]
    );
    assert_eq!((made.rules, made.left_out), (vec![], vec![2]));
    let none = mpi_tuning(&tuning, None, |operation| operation == Scan);
    assert!(none.is_empty());
}

#[test]
fn intel_is_told_ranges_of_bytes_and_ranks() {
    let rows = vec![
        row(Allreduce, 8, "ring", 0.5),
        row(Allreduce, 1024, "default", 1.0),
        row(Allreduce, 4096, "preset-20", 0.5),
    ];
    let made = mpi_tuning(&tuning("intel-mpi 2021.18.1", rows), None, |_| true);
    let value = "8:8-1023@4-4;20:4096-2147483647@4-4".to_owned();
    assert_eq!(
        made.settings,
        [("I_MPI_ADJUST_ALLREDUCE".to_owned(), value)]
    );
}

#[test]
fn rows_that_would_give_wrong_results_or_none_are_refused() {
    let with = |row: Row, commutative: bool| {
        let mut tuning = tuning("open-mpi 4.1.4", Vec::new());
        tuning.commutative = commutative;
        tuning.rows = vec![row];
        let refused = tuning.on_read(Path::new("a.yaml")).err();
        refused.map(|error| error.to_string())
    };
    let order = with(row(Allreduce, 8, "ring", 0.5), false).unwrap();
    assert!(order.contains("do not commute"), "{order}");
    assert_eq!(with(row(Allreduce, 8, "ring", 0.5), true), None);
    let ranks = with(row(Alltoall, 8, "two_proc", 0.5), true).unwrap();
    assert!(ranks.contains("not for 4 ranks"), "{ranks}");
    let unknown = with(row(Alltoall, 8, "rnig", 0.5), true).unwrap();
    assert!(unknown.contains("no algorithm `rnig`"), "{unknown}");
}

/// Library with a selection of few operations among other texts.
const LIBRARY: &str = "ELF\0algorithm=MPIR_Bcast_intra_tree\0algorithm=MPIR_Alltoall_intra_scattered\0\
    {\"collective=bcast\":{\"comm_type=intra\":{\"algorithm=MPIDI_POSIX_mpi_bcast\":{}}}}\0\
    {\"collective=bcast\":{\"comm_type=intra\":{\"comm_hierarchy=parent\":{\"composition=A\":{}},\
    \"comm_hierarchy=any\":{\"composition=C\":{}}}},\
    \"collective=alltoall\":{\"composition=B\":{}}}\0\
    {\"collective=bcast\":{\"comm_type=intra\":{\"algorithm=MPIR_Bcast_intra_smp\":{}},\
    \"comm_type=inter\":{\"algorithm=MPIR_Bcast_inter\":{}}},\
    \"collective=alltoall\":{\"comm_type=intra\":{\"algorithm=MPIR_Alltoall_intra_pairwise\":{}}}}\0\
    {\"collective=bcast\": damaged\0";

#[test]
fn files_of_mpich_s_selection_differ_from_its_own_for_what_was_measured_alone() {
    let own = Selection::in_bytes(LIBRARY.as_bytes()).unwrap();
    let rows = vec![
        row(Bcast, 8, "default", 1.0),
        row(Bcast, 1024, "tree", 0.5),
        row(Bcast, 4096, "default", 1.0),
        row(Alltoall, 8, "scattered", 0.5),
        // The library does not know it.
        row(Allgather, 8, "ring", 0.5),
    ];
    let made = mpi_tuning(&tuning("mpich 5.0.2", rows), Some(&own), |_| true);
    assert_eq!((made.settings, made.left_out), (vec![], vec![3]));
    let bare = |text: &str| {
        text.split_whitespace()
            .collect::<String>()
            .replace(":{}", "")
    };
    let [
        (Component::Algorithms, algorithms),
        (Component::Compositions, compositions),
    ] = &made.rules[..]
    else {
        panic!("{:?}", made.rules);
    };
    let smp = "{\"algorithm=MPIR_Bcast_intra_smp\"}";
    let tree = "{\"algorithm=MPIR_Bcast_intra_tree\":{\"tree_type=kary\",\"k=2\",\
        \"is_non_blocking=1\",\"topo_overhead=200\",\"topo_diff_groups=2800\",\
        \"topo_diff_switches=1900\",\"topo_same_switches=1600\"}}";
    let pairwise = "{\"algorithm=MPIR_Alltoall_intra_pairwise\"}";
    let scattered = format!(
        "{{\"is_sendbuf_inplace=no\":{{\"algorithm=MPIR_Alltoall_intra_scattered\"}},\
         \"is_sendbuf_inplace=yes\":{pairwise}}}"
    );
    let by_ranks = |old: &str, own: &str| {
        format!("{{\"comm_size<=3\":{old},\"comm_size<=4\":{own},\"comm_size=any\":{old}}}")
    };
    // Bytes are the total of all ranks.
    let steps = |old: &str, own: &str| {
        format!(
            "{{\"total_msg_size<4096\":{old},\"total_msg_size<16384\":{own},\
             \"total_msg_size=any\":{old}}}"
        )
    };
    let from = |old: &str, own: &str| {
        format!("{{\"total_msg_size<32\":{old},\"total_msg_size=any\":{own}}}")
    };
    let expected = format!(
        "{{\"collective=bcast\":{{\"comm_type=intra\":{},\"comm_type=inter\":\
         {{\"algorithm=MPIR_Bcast_inter\"}}}},\"collective=alltoall\":{{\"comm_type=intra\":{}}}}}",
        by_ranks(smp, &steps(smp, tree)),
        by_ranks(pairwise, &from(pairwise, &scattered)),
    );
    assert_eq!(bare(algorithms), expected);
    // Measured calls were not divided, which is the default for unknown ones.
    let old = "{\"comm_hierarchy=parent\":{\"composition=A\"},\"comm_hierarchy=any\":\
        {\"composition=C\"}}";
    let bcast = by_ranks(old, &steps(old, "{\"composition=C\"}"));
    assert!(bare(compositions).contains(&bcast), "{compositions}");
    assert_eq!(Selection::in_bytes(&LIBRARY.as_bytes()[..400]), None);
    // The library that a tuning names may be any file.
    assert_eq!(Selection::of_library(Path::new("/dev/zero")), None);
}
