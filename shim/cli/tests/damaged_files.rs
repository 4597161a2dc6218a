//! Files with errors, of the kinds that the command reads and the core does not: accepted, or
//! refused in one line. This includes hwloc's files, some of which crash a process that reads them.
#![allow(clippy::unwrap_used)] // a test may panic

mod support;

#[path = "../../profile/tests/damage/mod.rs"]
mod damage;

use std::path::PathBuf;

use damage::{damaged, damages};
use proptest::prelude::*;
use proptest::sample::Index;
use support::Desk;

fn fixtures() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../hwloc/tests/fixtures");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 3);
    paths
}

/// `treepie show machine.xml`: its output of the tree, or its refusal.
fn shown(desk: &Desk) -> Result<String, String> {
    let output = desk.treepie(&["show", "machine.xml"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    match output.status.code() {
        Some(0) => Ok(String::from_utf8(output.stdout).unwrap()),
        Some(1) => Err(said),
        _ => panic!("{}: {said}", output.status),
    }
}

#[test]
fn whole_files_are_read() {
    for path in fixtures() {
        let desk = Desk::new();
        desk.write("machine.xml", &std::fs::read_to_string(&path).unwrap());
        let tree = shown(&desk).unwrap();
        assert!(tree.contains("core"), "{}: {tree}", path.display());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_damaged_file_of_hwloc_is_read_or_refused_in_one_line(
        which in any::<Index>(), damages in damages()
    ) {
        let fixtures = fixtures();
        let text = std::fs::read_to_string(&fixtures[which.index(fixtures.len())]).unwrap();
        let desk = Desk::new();
        desk.write("machine.xml", &damaged(&text, &damages));
        match shown(&desk) {
            Ok(tree) => prop_assert!(!tree.is_empty()),
            Err(said) => {
                prop_assert!(said.starts_with("treepie: machine.xml: "), "{}", said);
                prop_assert_eq!(said.trim_end().lines().count(), 1, "{}", said);
            }
        }
    }

    #[test]
    fn a_damaged_list_of_loads_or_cores_is_used_or_refused_in_one_line(
        to_loads in damages(), to_cores in damages()
    ) {
        let desk = Desk::new();
        desk.write("halo.txt", "0 9 0 1\n9 0 1 0\n0 1 0 9\n1 0 9 0\n");
        desk.write("loads", &damaged("1.5 2, 3e0\n0.25 # the last\n", &to_loads));
        desk.write("cores", &damaged("0-1, 3\n2\n", &to_cores));
        let line = "map halo.txt --tree 2:2 --strategy tmlb-min-weight --loads loads --current cores";
        let arguments: Vec<&str> = line.split(' ').collect();
        let output = desk.treepie(&arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => prop_assert!(desk.path("halo.placement.yaml").is_file()),
            Some(1 | 2) => prop_assert_eq!(said.trim_end().lines().count(), 1, "{}", said),
            _ => prop_assert!(false, "{}: {}", output.status, said),
        }
    }
}
