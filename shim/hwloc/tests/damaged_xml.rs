//! hwloc's files with something wrong in them: read, or refused in one line.
#![allow(clippy::unwrap_used)] // a test may panic

use std::path::PathBuf;

use proptest::prelude::*;
use proptest::sample::Index;
use treepie_hwloc::Source;

#[path = "../../core/tests/damage/mod.rs"]
mod damage;
use damage::{MOST_MEMORY, damaged, damages, is_answer, peak_memory};

fn fixtures() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_damaged_file_of_hwloc_is_read_or_refused_in_one_line(
        which in any::<Index>(), damages in damages()
    ) {
        let fixtures = fixtures();
        let text = std::fs::read_to_string(&fixtures[which.index(fixtures.len())]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("machine.xml");
        std::fs::write(&path, damaged(&text, &damages)).unwrap();
        let read = Source::Xml(path.clone()).read();
        if let Ok(machine) = &read {
            prop_assert!(machine.topology().leaf_count() > 0);
        }
        prop_assert_eq!(is_answer(read, path.to_str().unwrap()), Ok(()));
        prop_assert!(peak_memory() < MOST_MEMORY);
    }

    #[test]
    fn a_damaged_description_is_read_or_refused_in_one_line(damages in damages()) {
        for text in ["pack:2 core:4 pu:2", "group:2 pack:2 l3:2 core:3 pu:1"] {
            let text = damaged(text, &damages);
            prop_assert_eq!(is_answer(Source::Synthetic(text).read(), "synthetic topology"), Ok(()));
        }
    }
}
