#![allow(clippy::unwrap_used)]
use std::path::Path;

use super::*;
use crate::tree::Topology;
use treepie_base::{Leaf, List, Rank};

/// Appendix A.6: ranks 0 to 15 on the leaves of two nodes of two sockets of four cores.
const FIGURE_1_8: [usize; 16] = [0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15];

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn figure_1_8() -> List<Rank, LauncherSlot> {
    let tree = Topology::from_arities("2:2:4").unwrap();
    let hosts = names(&["fourmi017", "fourmi022"]);
    slots(&tree, &Leaf::list(FIGURE_1_8), Some(&hosts)).unwrap()
}

#[test]
fn the_rank_file_of_figure_1_8_comes_out_byte_for_byte() {
    let expected = "\
rank 0=fourmi017 slot=p0:0
rank 1=fourmi017 slot=p0:1
rank 2=fourmi017 slot=p1:0
rank 3=fourmi017 slot=p1:1
rank 4=fourmi022 slot=p0:0
rank 5=fourmi022 slot=p0:1
rank 6=fourmi022 slot=p1:0
rank 7=fourmi022 slot=p1:1
rank 8=fourmi017 slot=p0:2
rank 9=fourmi017 slot=p0:3
rank 10=fourmi017 slot=p1:2
rank 11=fourmi017 slot=p1:3
rank 12=fourmi022 slot=p0:2
rank 13=fourmi022 slot=p0:3
rank 14=fourmi022 slot=p1:2
rank 15=fourmi022 slot=p1:3
";
    assert_eq!(write(Form::OpenMpiPhysical, &figure_1_8()), expected);
    let logical = expected.replace("slot=p", "slot=");
    assert_eq!(write(Form::OpenMpi, &figure_1_8()), logical);
}

#[test]
fn each_launcher_gets_its_own_form() {
    let slots = figure_1_8();
    assert_eq!(
        write(Form::Hydra, &slots),
        "fourmi017:4\nfourmi022:4\nfourmi017:4\nfourmi022:4\n"
    );
    let slurm = write(Form::Slurm, &slots);
    let lines: Vec<&str> = slurm.lines().collect();
    assert_eq!(lines.len(), 16);
    assert_eq!((lines[3], lines[4]), ("fourmi017", "fourmi022"));
    for form in [Form::Flux, Form::ParaStation, Form::Pbs] {
        assert_eq!(write(form, &slots), slurm, "{form}");
    }
    assert_eq!(
        write(Form::Cray, &slots),
        "0,1,8,9,2,3,10,11,4,5,12,13,6,7,14,15\n"
    );
    assert!(write(Form::Pjm, &slots).starts_with("(0)\n(0)\n(0)\n(0)\n(1)\n"));
}

#[test]
fn one_list_of_cores_serves_hosts_that_are_filled_alike_and_no_others() {
    let binding = Binding::new(&figure_1_8().raw).unwrap();
    assert_eq!(binding.hydra(), "user:0,1,4,5,2,3,6,7");
    assert_eq!(binding.slurm(), "map_cpu:0,1,4,5,2,3,6,7");
    assert_eq!(binding.flux(), "cpu-affinity=map:0;1;4;5;2;3;6;7");
    assert_eq!(binding.pals(), "list:0:1:4:5:2:3:6:7");
    let tree = Topology::from_arities("2:2").unwrap();
    let hosts = names(&["a", "b"]);
    let crossed = slots(&tree, &Leaf::list([0, 1, 3, 2]), Some(&hosts)).unwrap();
    assert_eq!(Binding::new(&crossed.raw), None);
    let fewer = slots(&tree, &Leaf::list([1, 0, 3]), Some(&hosts)).unwrap();
    assert_eq!(Binding::new(&fewer.raw).unwrap().list(), "1,0");
}

#[test]
fn cores_are_the_operating_systems_where_the_tree_knows_them() {
    let machine = Topology::from_arities("2:2").unwrap();
    let machine = machine.with_os_indices(&[0, 2, 1, 3]).unwrap();
    let cluster = Topology::cluster(vec![("a".to_owned(), machine)]).unwrap();
    let found = slots(&cluster, &Leaf::list([1, 2]), None).unwrap();
    assert_eq!(Binding::new(&found.raw).unwrap().list(), "2,1");
    // The rank file counts logically, and is therefore the same.
    assert_eq!(
        write(Form::OpenMpi, &found),
        "rank 0=a slot=0:1\nrank 1=a slot=1:0\n"
    );
}

#[test]
fn hardware_threads_are_counted_by_their_core() {
    let tree = Topology::from_arities("2:2").unwrap();
    let tree = tree.with_level_names(["core", "pu"]).unwrap();
    let found = slots(&tree, &Leaf::list([0, 1, 3]), Some(&names(&["a"]))).unwrap();
    assert_eq!(
        write(Form::OpenMpi, &found),
        "rank 0=a slot=0:0\nrank 1=a slot=0:0\nrank 2=a slot=0:1\n"
    );
}

#[test]
fn what_a_launcher_could_not_use_is_refused() {
    let tree = Topology::from_arities("2:2").unwrap();
    let bare = slots(&tree, &Leaf::list([0]), None).unwrap_err();
    assert!(bare.to_string().contains("--hosts"), "{bare}");
    let few = slots(&tree, &Leaf::list([0]), Some(&names(&["a", "b", "c"]))).unwrap_err();
    assert!(few.to_string().starts_with("3 host names for 2 nodes"));
    let outside = slots(&tree, &Leaf::list([0, 9]), Some(&names(&["a", "b"]))).unwrap_err();
    assert!(outside.to_string().starts_with("rank 1 is on core 9"));
}

#[test]
fn the_form_follows_from_the_name_of_the_file() {
    for (name, form) in [
        ("app.rankfile", Some(Form::OpenMpi)),
        ("rankfile", Some(Form::OpenMpi)),
        ("a.hostfile", Some(Form::Hydra)),
        ("dir/MPICH_RANK_ORDER", Some(Form::Cray)),
        ("MPICH_RANK_ORDER.app", Some(Form::Cray)),
        ("app.txt", None),
    ] {
        assert_eq!(Form::from_path(Path::new(name)), form, "{name}");
    }
}

#[test]
fn a_host_name_that_would_add_a_line_or_a_word_is_refused_by_its_name() {
    let tree = Topology::from_arities("1").unwrap();
    for (host, shown) in [
        ("a slot=0:0\nrank 99=evil", "a slot=0:0\\nrank 99=evil"),
        ("a:4", "a:4"),
        ("+n0", "+n0"),
        ("\u{1b}[31m", "\\u{1b}[31m"),
        ("", ""),
    ] {
        let error = slots(&tree, &Leaf::list([0]), Some(&names(&[host]))).unwrap_err();
        let expected = format!("host `{shown}` has a name that no launcher's file can carry: ");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    assert!(
        slots(
            &tree,
            &Leaf::list([0]),
            Some(&names(&["node-1_a.site.org"]))
        )
        .is_ok()
    );
}
