//! Damaged files of every kind: valid texts in which letters are changed, lines
//! lost or doubled, and numbers replaced by what breaks readers. Whatever comes,
//! a reader answers: with what it read, or with one line that begins with the
//! file's name. It neither panics nor takes all memory.
#![allow(clippy::unwrap_used)] // a test may panic

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use treepie_core::affinity::Matrix;
use treepie_core::affinity::formats::{Format, matrix_market};
use treepie_core::files::configuration::Settings;
use treepie_core::files::platform::{latencies, logp_mpi, magpie::MagpieClusters, measured};
use treepie_core::files::{
    PlacementFile, PlatformFile, Profile, grid::Grid, list, network, permutation, topology,
};

/// What numbers and words are replaced by.
const NASTY: [&str; 22] = [
    "-1",
    "0",
    "1e999",
    "-0.0",
    "NaN",
    "inf",
    "4294967296",
    "18446744073709551616",
    "16777216",
    "16777217",
    "0-16777215",
    "n[0-99999999]",
    "",
    " ",
    "\n",
    "\t",
    ",,",
    "[[[[[[[[",
    "{a: {a: {a: 1}}}",
    "&a [*a, *a]",
    "é\u{0}",
    "%",
];

/// One thing that happens to a text.
#[derive(Debug, Clone)]
enum Damage {
    Letter(Index, char),
    Word(Index, &'static str),
    LineLost(Index),
    LineDoubled(Index),
    CutOff(Index),
}

impl Damage {
    fn strategy() -> impl Strategy<Value = Damage> {
        prop_oneof![
            (any::<Index>(), any::<char>()).prop_map(|(at, letter)| Damage::Letter(at, letter)),
            (any::<Index>(), select(NASTY.to_vec())).prop_map(|(at, word)| Damage::Word(at, word)),
            (any::<Index>(), select(NASTY.to_vec())).prop_map(|(at, word)| Damage::Word(at, word)),
            any::<Index>().prop_map(Damage::LineLost),
            any::<Index>().prop_map(Damage::LineDoubled),
            any::<Index>().prop_map(Damage::CutOff),
        ]
    }

    fn done_to(&self, text: &str) -> String {
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        match self {
            _ if text.is_empty() => return String::new(),
            Damage::Letter(at, letter) => {
                let mut letters: Vec<char> = text.chars().collect();
                let at = at.index(letters.len());
                letters[at] = *letter;
                return letters.into_iter().collect();
            }
            Damage::Word(at, word) => return with_word(text, at, word),
            Damage::LineLost(at) => {
                lines.remove(at.index(lines.len()));
            }
            Damage::LineDoubled(at) => {
                let at = at.index(lines.len());
                lines.insert(at, lines[at]);
            }
            Damage::CutOff(at) => {
                let letters = text.chars().count();
                return text.chars().take(at.index(letters)).collect();
            }
        }
        lines.concat()
    }
}

/// The text with one of its words replaced; what parts words stays.
fn with_word(text: &str, at: &Index, word: &str) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || ".-_".contains(letter);
    let mut words: Vec<(usize, usize)> = Vec::new();
    for (place, letter) in text.char_indices().filter(|&(_, letter)| is_part(letter)) {
        let end = place + letter.len_utf8();
        match words.last_mut() {
            Some(last) if last.1 == place => last.1 = end,
            _ => words.push((place, end)),
        }
    }
    if words.is_empty() {
        return text.to_owned();
    }
    let (start, end) = words[at.index(words.len())];
    format!("{}{word}{}", &text[..start], &text[end..])
}

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    prop::collection::vec(Damage::strategy(), 1..4)
}

fn damaged(text: &str, damages: &[Damage]) -> String {
    let done = |text: String, damage: &Damage| damage.done_to(&text);
    damages.iter().fold(text.to_owned(), done)
}

/// A refusal is one line that names the file.
fn is_answer<T, E: std::fmt::Display>(answer: Result<T, E>, file: &str) -> Result<(), String> {
    match answer {
        Ok(_) => Ok(()),
        Err(error) => {
            let said = error.to_string();
            let good = said.starts_with(file) && !said.contains('\n') && said.len() < 2000;
            if good { Ok(()) } else { Err(said) }
        }
    }
}

/// The most memory that this process ever had, in bytes.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kilobytes: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}

/// A file of some hundred letters may announce up to 16 million ranks, which
/// costs hundreds of megabytes, in each of the threads that tests run on.
const MOST_MEMORY: usize = 4 << 30;

fn ready_made(ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_str().unwrap().ends_with(ending));
    paths.sort();
    assert!(!paths.is_empty(), "{ending}");
    paths
}

/// The same matrix in every format that is written, and what Open MPI counted.
fn matrices() -> Vec<(Format, String)> {
    let pairs = (0..6).flat_map(|a| [(a, (a + 1) % 6, 2.5), (a, (a + 3) % 6, 7.0)]);
    let both = pairs.flat_map(|(a, b, value)| [(a, b, value), (b, a, value)]);
    let matrix = Matrix::from_entries(6, both).unwrap();
    let whole = matrix.entries().map(|(a, b, value)| (a, b, value.ceil()));
    let whole = Matrix::from_entries(6, whole).unwrap();
    let written = Format::ENDINGS.map(|ending| {
        let format = Format::of_path(Path::new(&format!("m{ending}"))).unwrap();
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
    assert!(network::from_text(path, SLURM).is_ok());
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
const MEASURED: &str = "# collective,strategy,bytes,segment,seconds\nbcast,rank-pipeline,1048576,16384,0.12\nbcast,flat,8,,0.01\n";

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
        // A profile's matrices lie beside it, and may be what is complained about.
        let name = path.to_str().unwrap().trim_end_matches(".yaml");
        let answers = [
            is_answer(Profile::from_text(path, &text), name),
            is_answer(PlacementFile::from_text(path, &text), name),
            is_answer(PlatformFile::from_text(path, &text), name),
            is_answer(topology::from_text(path, &text), name),
            is_answer(network::from_text(path, &text), name),
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
            is_answer(network::from_text(path, &done(SLURM)), "f.txt"),
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
fn a_file_that_names_itself_over_and_over_is_refused_without_taking_the_memory() {
    let mut text = "treepie: topology\nversion: 1\na0: &a0 [x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let names = vec![format!("*a{}", level - 1); 8].join(", ");
        text += &format!("a{level}: &a{level} [{names}]\n");
    }
    text += "tree: *a19\n";
    let path = Path::new("f.yaml");
    let answer = topology::from_text(path, &text);
    assert!(answer.is_err());
    assert_eq!(is_answer(answer, "f.yaml"), Ok(()));
    let nested = format!(
        "treepie: topology\nversion: 1\ntree: {}",
        "[".repeat(100_000)
    );
    let answer = topology::from_text(path, &nested);
    assert!(answer.is_err());
    assert_eq!(is_answer(answer, "f.yaml"), Ok(()));
    assert!(peak_memory() < MOST_MEMORY);
}
