//! Damaged files of every kind: valid texts in which letters are changed, lines lost or doubled,
//! and numbers replaced by ones that break readers. A reader always returns: either a value, or one
//! line that begins with the file's name. It neither panics nor exhausts memory.
#![allow(clippy::unwrap_used)] // a test may panic

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;
use treepie_base::{list, permutation};
use treepie_choice::measured;
use treepie_placement::file::PlacementFile;
use treepie_platform::file::magpie::MagpieClusters;
use treepie_platform::file::{PlatformFile, latencies, logp_mpi};
use treepie_platform::grid::Grid;
use treepie_profile::Profile;
use treepie_profile::settings::Settings;
use treepie_topology::formats;
use treepie_traffic::Matrix;
use treepie_traffic::formats::{Format, matrix_market};

mod damage;
use damage::{MOST_MEMORY, damaged, damages, is_answer, peak_memory};

fn ready_made(ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_str().unwrap().ends_with(ending));
    paths.sort();
    assert!(!paths.is_empty(), "{ending}");
    paths
}

/// Returns the same matrix in every format that is written, and in Open MPI's format of counts.
fn matrices() -> Vec<(Format, String)> {
    let pairs = (0..6).flat_map(|a| [(a, (a + 1) % 6, 2.5), (a, (a + 3) % 6, 7.0)]);
    let both = pairs.flat_map(|(a, b, value)| [(a, b, value), (b, a, value)]);
    let matrix = Matrix::from_entries(6, both).unwrap();
    let whole = matrix.entries().map(|(a, b, value)| (a, b, value.ceil()));
    let whole = Matrix::from_entries(6, whole).unwrap();
    let written = Format::ENDINGS.map(|ending| {
        let format = Format::from_path(Path::new(&format!("m{ending}"))).unwrap();
        let mut text = Vec::new();
        format.write(&whole, &mut text).unwrap();
        (format, String::from_utf8(text).unwrap())
    });
    let counted = "# POINT TO POINT\n\
        E\t0\t1\t108 bytes\t27 msgs sent\t10,0,0,17\n\
        I\t0\t1\t12 bytes\t3 msgs sent\t1,0,0,2\n\
        # OSC\nS\t1\t0\t800 bytes\t1 msgs sent\nR\t0\t1\t8 bytes\t1 msgs sent\n\
        # COLLECTIVES\nC\t1\t0\t16 bytes\t2 msgs sent\n";
    let counted = (Format::Monitoring, counted.to_owned());
    written.into_iter().chain([counted]).collect()
}

#[test]
fn the_texts_that_are_damaged_are_valid() {
    for (format, text) in matrices() {
        let read = format.read(text.as_bytes(), "f");
        assert!(read.is_ok(), "{format}: {read:?}");
    }
    let path = Path::new("f");
    assert!(formats::from_text(path, SLURM, None).is_ok());
    assert!(MagpieClusters::from_text(path, MAGPIE).is_ok());
    assert!(logp_mpi::from_text(path, LOGP).is_ok());
    assert!(latencies::from_text(path, LATENCIES).is_ok());
    assert!(measured::from_text(path, MEASURED).is_ok());
}

const SLURM: &str = "\
SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-5]
SwitchName=s2 Level=1 LinkSpeed=1 Nodes=tux[0-5] Switches=s[0-1]
";
const MAGPIE: &str =
    "cluster 0\nprocess 0 1 2 3\ncluster 1\nprocess 4 5\n# Min edge 0-1 = 59.962273\n";
const LOGP: &str = "\
# logp_test.Send.Recv
# Latency = 32.66
1113829432 0 5.3e-06 4.3e-06 0.4e-06 2.4e-06 1.4e-06 0.9e-06 1.4e-06
1113829433 1024 9.3e-06 4.3e-06 0.4e-06 2.4e-06 1.4e-06 0.9e-06 9.4e-06
";
const LATENCIES: &str = "0,5,60\n5,0,61\n60,61,0\n";
const MEASURED: &str = "# collective,strategy,bytes,segment,seconds\nbcast,chain,1048576,16384,0.12\nbcast,flat,8,,0.01\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_damaged_matrix_is_read_or_refused_in_one_line(damages in damages()) {
        for (format, text) in matrices() {
            let text = damaged(&text, &damages);
            let answer = is_answer(format.read(text.as_bytes(), "f"), "f:");
            prop_assert!(answer.is_ok(), "{}: {:?}\n{}", format, answer, text);
        }
        let counts = "%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 5\n3 1 7\n";
        let counts = damaged(counts, &damages);
        prop_assert_eq!(is_answer(matrix_market::read_counts(counts.as_bytes(), "f"), "f:"), Ok(()));
        prop_assert!(peak_memory() < MOST_MEMORY);
    }

    #[test]
    fn a_damaged_file_of_treepie_is_read_or_refused_in_one_line(
        which in any::<Index>(), damages in damages()
    ) {
        let paths = ready_made(".yaml");
        let path = &paths[which.index(paths.len())];
        let text = damaged(&std::fs::read_to_string(path).unwrap(), &damages);
        // A profile's matrices are beside it, and may be the subject of the message.
        let name = path.to_str().unwrap().trim_end_matches(".yaml");
        let answers = [
            is_answer(Profile::from_text(path, &text), name),
            is_answer(PlacementFile::from_text(path, &text), name),
            is_answer(PlatformFile::from_text(path, &text), name),
            is_answer(treepie_topology::file::from_text(path, &text), name),
            is_answer(formats::from_text(path, &text, None), name),
            is_answer(Grid::from_text(path, &text), name),
            is_answer(Settings::from_text(path, &text), name),
        ];
        for answer in answers {
            prop_assert_eq!(answer, Ok(()), "{}", text);
        }
        prop_assert!(peak_memory() < MOST_MEMORY);
    }

    #[test]
    fn a_damaged_matrix_beside_a_profile_is_read_or_refused_in_one_line(damages in damages()) {
        let folder = tempfile::tempdir().unwrap();
        for path in ready_made(".mtx").into_iter().chain(ready_made("pairs.profile.yaml")) {
            let mut text = std::fs::read_to_string(&path).unwrap();
            if text.starts_with("%%") {
                text = damaged(&text, &damages);
            }
            std::fs::write(folder.path().join(path.file_name().unwrap()), text).unwrap();
        }
        let read = Profile::read(&folder.path().join("pairs.profile.yaml"));
        prop_assert_eq!(is_answer(read, folder.path().to_str().unwrap()), Ok(()));
    }

    #[test]
    fn a_damaged_text_of_another_tool_is_read_or_refused_in_one_line(damages in damages()) {
        let path = Path::new("f.txt");
        let done = |text| damaged(text, &damages);
        let answers = [
            is_answer(formats::from_text(path, &done(SLURM), None), "f.txt"),
            is_answer(MagpieClusters::from_text(path, &done(MAGPIE)), "f.txt"),
            is_answer(logp_mpi::from_text(path, &done(LOGP)), "f.txt"),
            is_answer(latencies::from_text(path, &done(LATENCIES)), "f.txt"),
            is_answer(measured::from_text(path, &done(MEASURED)), "f.txt"),
        ];
        for answer in answers {
            prop_assert_eq!(answer, Ok(()));
        }
        prop_assert!(peak_memory() < MOST_MEMORY);
    }

    #[test]
    fn a_damaged_list_is_read_or_refused_in_one_line(damages in damages()) {
        for text in ["0-3,8,12-15", "2,0,1", "4-7,0-3"] {
            let text = damaged(text, &damages);
            prop_assert_eq!(is_answer(list::parse(&text), ""), Ok(()));
            prop_assert_eq!(is_answer(permutation::parse(&text), ""), Ok(()));
        }
    }
}

#[test]
fn a_number_of_ranks_that_no_machine_has_is_refused_before_memory_is_taken() {
    let ranks = 1_u64 << 40;
    for (format, text) in [
        (
            Format::MatrixMarket,
            format!("%%MatrixMarket matrix coordinate real general\n{ranks} {ranks} 1\n1 1 1\n"),
        ),
        (Format::Metis, format!("{ranks} 1 001\n2 1\n1 1\n")),
        (
            Format::Scotch,
            format!("0\n{ranks} 2\n0 010\n1 1 1\n1 1 0\n"),
        ),
        (
            Format::Monitoring,
            format!("E\t0\t{ranks}\t1 bytes\t1 msgs sent\n"),
        ),
    ] {
        let answer = format.read(text.as_bytes(), "f");
        assert!(answer.is_err(), "{format}");
        assert_eq!(is_answer(answer, "f:"), Ok(()), "{format}");
    }
    assert!(list::parse(&format!("0-{ranks}")).is_err());
    assert!(peak_memory() < MOST_MEMORY);
}

#[test]
fn a_file_that_names_itself_over_and_over_is_refused_without_taking_the_memory() {
    let mut text = "treepie: topology\nversion: 1\na0: &a0 [x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let names = vec![format!("*a{}", level - 1); 8].join(", ");
        text += &format!("a{level}: &a{level} [{names}]\n");
    }
    text += "tree: *a19\n";
    let path = Path::new("f.yaml");
    let answer = treepie_topology::file::from_text(path, &text);
    assert!(answer.is_err());
    assert_eq!(is_answer(answer, "f.yaml"), Ok(()));
    let nested = format!(
        "treepie: topology\nversion: 1\ntree: {}",
        "[".repeat(100_000)
    );
    let answer = treepie_topology::file::from_text(path, &nested);
    assert!(answer.is_err());
    assert_eq!(is_answer(answer, "f.yaml"), Ok(()));
    assert!(peak_memory() < MOST_MEMORY);
}
