//! Wrong input: one line with the error, from one rank; then the job runs as without the library,
//! or not at all with `strict`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use treepie_base::{Header, Leaf, Rank};
use treepie_placement::file::{PlacementFile, StoredPlacement};
use treepie_tests::{Job, Library, Mpi, assert_same_output, under_each_mpi};
use treepie_topology::Topology;

const RANKS: usize = 3;

/// Settings that cannot be honoured, and words that the message must have.
struct Wrong {
    settings: Vec<(&'static str, String)>,
    words: Vec<String>,
}

fn wrong(settings: &[(&'static str, &str)], words: &[&str]) -> Wrong {
    Wrong {
        settings: settings
            .iter()
            .map(|&(name, value)| (name, value.to_owned()))
            .collect(),
        words: words.iter().map(|&word| word.to_owned()).collect(),
    }
}

/// A valid placement for three ranks.
fn placement() -> PlacementFile {
    let body = StoredPlacement {
        profile: None,
        ranks: RANKS,
        strategy: "treematch".into(),
        costs: None,
        bytes_by_level: Vec::new(),
        topology: Topology::from_arities("2:2").expect("two nodes of two cores"),
        assignment: Leaf::list([1, 3, 0]),
        leaf_of_process: Leaf::list([0, 1, 3]),
        permutation: Rank::list([2, 0, 1]),
    };
    let header = Header::now("treepie 0.1.0");
    PlacementFile { header, body }
}

/// Writes a placement with one part of its text replaced.
#[track_caller]
fn edited(directory: &Path, name: &str, old: &str, new: &str) -> PathBuf {
    let path = directory.join(name);
    let text = placement()
        .to_text(&path)
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(text.contains(old), "{text}");
    fs::write(&path, text.replace(old, new)).expect("the directory is writable");
    path
}

/// Replays of invalid files.
fn wrong_files(directory: &Path) -> Vec<Wrong> {
    let whole = placement()
        .to_text(Path::new("whole"))
        .unwrap_or_else(|error| panic!("{error}"));
    let written = |name: &str, contents: &[u8]| {
        let path = directory.join(name);
        fs::write(&path, contents).expect("the directory is writable");
        path
    };
    let mut four = placement();
    four.ranks = 4;
    four.assignment = Leaf::list([0, 1, 2, 3]);
    four.leaf_of_process = Leaf::list([0, 1, 2, 3]);
    four.permutation = Rank::list([0, 1, 2, 3]);
    let four_path = directory.join("four.yaml");
    four.write(&four_path)
        .unwrap_or_else(|error| panic!("{error}"));

    let files: Vec<(PathBuf, &[&str])> = vec![
        (directory.join("missing.yaml"), &["no such file"]),
        (directory.to_owned(), &["cannot be read"]),
        (written("empty.yaml", b""), &["treepie: placement"]),
        (
            written("binary.yaml", b"\x7fELF\x02\x01\xff\xfe\x00"),
            &["not"],
        ),
        (
            written("prose.yaml", b"Dear reader, this is no placement."),
            &["treepie: placement"],
        ),
        (
            written("cut.yaml", &whole.as_bytes()[..whole.len() * 2 / 3]),
            &[],
        ),
        (
            written("cut-in-a-list.yaml", &whole.as_bytes()[..whole.len() - 4]),
            &["permutation"],
        ),
        (
            edited(directory, "newer.yaml", "version: 1", "version: 99"),
            &["99", "newer"],
        ),
        (
            edited(
                directory,
                "kind.yaml",
                "treepie: placement",
                "treepie: topology",
            ),
            &["topology", "placement"],
        ),
        (
            edited(directory, "field.yaml", "strategy:", "strategie:"),
            &["strategie"],
        ),
        (four_path, &["4 ranks", "3"]),
        (
            edited(
                directory,
                "core-twice.yaml",
                "assignment: 1,3,0",
                "assignment: 1,1,0",
            ),
            &["assignment", "1"],
        ),
        (
            edited(
                directory,
                "core-outside.yaml",
                "assignment: 1,3,0",
                "assignment: 1,7,0",
            ),
            &["assignment", "7"],
        ),
        (
            edited(
                directory,
                "rank-twice.yaml",
                "permutation: 2,0,1",
                "permutation: 2,2,1",
            ),
            &["permutation", "2"],
        ),
        (
            edited(
                directory,
                "rank-outside.yaml",
                "permutation: 2,0,1",
                "permutation: 2,0,9",
            ),
            &["permutation", "9"],
        ),
        (
            edited(
                directory,
                "short.yaml",
                "assignment: 1,3,0",
                "assignment: 1,3",
            ),
            &["assignment"],
        ),
    ];
    files
        .into_iter()
        .map(|(path, words)| {
            let mut wrong = wrong(
                &[
                    ("TREEPIE_MODE", "replay"),
                    ("TREEPIE_PLACEMENT", &path.display().to_string()),
                ],
                words,
            );
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            wrong.words.extend(name);
            wrong
        })
        .collect()
}

/// Invalid values of variables.
fn wrong_values(directory: &Path) -> Vec<Wrong> {
    let permutation = |text: &'static str, words: &[&str]| {
        let mut all = vec!["TREEPIE_PERMUTATION"];
        all.extend(words);
        wrong(
            &[("TREEPIE_MODE", "replay"), ("TREEPIE_PERMUTATION", text)],
            &all,
        )
    };
    let configuration = directory.join("configuration.yaml");
    fs::write(
        &configuration,
        "treepie: configuration\nversion: 1\nmod: profile\n",
    )
    .expect("the directory is writable");
    let unwritable = directory.join("no-such-directory/job.profile.yaml");
    let a_file = directory.join("a-file");
    fs::write(&a_file, "").expect("the directory is writable");
    vec![
        wrong(
            &[("TREEPIE_MODE", "profil")],
            &["TREEPIE_MODE", "profil", "profile", "replay", "off"],
        ),
        permutation("0,1", &["2", "3"]),
        permutation("0,1,1", &["1"]),
        permutation("0,1,3", &["3"]),
        permutation("0,one,2", &["one"]),
        wrong(
            &[("TREEPIE_MODE", "replay")],
            &["replay", "TREEPIE_PLACEMENT"],
        ),
        wrong(
            &[
                ("TREEPIE_MODE", "replay"),
                ("TREEPIE_PERMUTATION", "2,1,0"),
                ("TREEPIE_PLACEMENT", "x.yaml"),
            ],
            &["placement and permutation"],
        ),
        wrong(
            &[("TREEPIE_MODE", "profile"), ("TREEPIE_STRICT", "perhaps")],
            &["TREEPIE_STRICT", "perhaps"],
        ),
        wrong(
            &[("TREEPIE_MODE", "profile"), ("TREEPIE_LOG", "loud")],
            &["TREEPIE_LOG", "loud", "debug"],
        ),
        wrong(
            &[("TREEPIE_CONFIG", "/no/such/file.yaml")],
            &["/no/such/file.yaml", "no such file"],
        ),
        wrong(
            &[("TREEPIE_CONFIG", &configuration.display().to_string())],
            &["configuration.yaml", "mod", "mode"],
        ),
        wrong(
            &[
                ("TREEPIE_MODE", "profile"),
                ("TREEPIE_OUTPUT", &unwritable.display().to_string()),
            ],
            &["no-such-directory", "cannot be written"],
        ),
        wrong(
            &[
                ("TREEPIE_MODE", "profile"),
                (
                    "TREEPIE_OUTPUT",
                    &a_file.join("job.profile.yaml").display().to_string(),
                ),
            ],
            &["a-file", "cannot be written"],
        ),
        wrong(
            &[
                ("TREEPIE_MODE", "profile"),
                ("TREEPIE_OUTPUT", &directory.display().to_string()),
            ],
            &["cannot be written"],
        ),
        // Reported by one rank for all.
        wrong(
            &[
                ("TREEPIE_MODE", "replay"),
                ("TREEPIE_PERMUTATION", "0,1,2"),
                ("TREEPIE_PAGES", &a_file.join("pages").display().to_string()),
            ],
            &["pages: ", "a-file/pages"],
        ),
    ]
}

/// Names of other kinds of files: a pipe without writers and readers, and devices without end.
fn no_files(directory: &Path) -> Vec<Wrong> {
    let pipe = directory.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "no pipe");
    let pipe = pipe.display().to_string();
    let is_pipe = [&*pipe, "is a pipe, not a file"];
    let mut cases = vec![
        wrong(&[("TREEPIE_CONFIG", &pipe)], &is_pipe),
        wrong(
            &[("TREEPIE_CONFIG", "/dev/full")],
            &["/dev/full", "is a device, not a file"],
        ),
        wrong(
            &[("TREEPIE_MODE", "profile"), ("TREEPIE_OUTPUT", &pipe)],
            &[&pipe, "cannot be written", "nobody reads from it"],
        ),
        wrong(
            &[("TREEPIE_MODE", "profile"), ("TREEPIE_OUTPUT", "/dev/full")],
            &["/dev/full", "cannot be written", "No space left"],
        ),
    ];
    let of_replays = [
        vec![("TREEPIE_PLACEMENT", &*pipe)],
        vec![("TREEPIE_PERMUTATION", "2,1,0"), ("TREEPIE_ORDER", &pipe)],
        vec![("TREEPIE_COLLECTIVES", "auto"), ("TREEPIE_PLATFORM", &pipe)],
        vec![("TREEPIE_REORDER", "graph"), ("TREEPIE_NETWORK", &pipe)],
    ];
    cases.extend(of_replays.into_iter().map(|mut settings| {
        settings.push(("TREEPIE_MODE", "replay"));
        wrong(&settings, &is_pipe)
    }));
    cases
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

/// All names below a directory, with their sizes.
fn tree(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut found: Vec<(PathBuf, u64)> = fs::read_dir(directory)
        .expect("the directory is there")
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.path(), entry.metadata().ok()?.len()))
        })
        .collect();
    found.sort();
    found
}

fn one_line_says_what_is_wrong_and_the_job_runs_on(mpi: Mpi, cases: impl Fn(&Path) -> Vec<Wrong>) {
    let directory = directory();
    let plain = Job::new(mpi, RANKS, "ring").run().succeeded();
    for case in cases(directory.path()) {
        let before = tree(directory.path());
        let outcome = Job::new(mpi, RANKS, "ring")
            .with(Library::Set(case.settings))
            .run();
        assert_same_output(&plain, &outcome);
        let messages = outcome.messages();
        assert_eq!(
            messages.len(),
            1,
            "one line was expected: {}",
            outcome.told()
        );
        for word in &case.words {
            assert!(
                messages[0].contains(word.as_str()),
                "'{word}' is not in: {}\n({})",
                messages[0],
                outcome.description
            );
        }
        assert_eq!(tree(directory.path()), before, "{}", outcome.description);
        assert_eq!(
            outcome.files,
            Vec::<String>::new(),
            "{}",
            outcome.description
        );
    }
}

fn a_wrong_file_is_named(mpi: Mpi) {
    one_line_says_what_is_wrong_and_the_job_runs_on(mpi, wrong_files);
}

fn what_is_no_file_is_neither_read_nor_waited_for(mpi: Mpi) {
    one_line_says_what_is_wrong_and_the_job_runs_on(mpi, no_files);
}

fn a_wrong_value_is_named(mpi: Mpi) {
    one_line_says_what_is_wrong_and_the_job_runs_on(mpi, wrong_values);
}

/// The placement from which the invalid ones are made is valid: they are refused only for the
/// changes.
fn the_right_placement_is_taken(mpi: Mpi) {
    let directory = directory();
    let path = directory.path().join("right.yaml");
    placement()
        .write(&path)
        .unwrap_or_else(|error| panic!("{error}"));
    let plain = Job::new(mpi, RANKS, "ring").run().succeeded();
    let outcome = Job::new(mpi, RANKS, "ring")
        .with(Library::Placed(path))
        .run()
        .silent();
    assert_same_output(&plain, &outcome);
}

/// With `strict`, the job ends inside MPI_Init, and none of it has run.
fn a_strict_job_ends_before_the_application_starts(mpi: Mpi) {
    let directory = directory();
    let missing = directory.path().join("missing.yaml");
    let output = directory.path().join("no-such-directory/job.profile.yaml");
    for mut settings in [
        vec![
            ("TREEPIE_MODE", "replay".to_owned()),
            ("TREEPIE_PLACEMENT", missing.display().to_string()),
        ],
        vec![
            ("TREEPIE_MODE", "replay".to_owned()),
            ("TREEPIE_PERMUTATION", "0,1".to_owned()),
        ],
        vec![
            ("TREEPIE_MODE", "profile".to_owned()),
            ("TREEPIE_OUTPUT", output.display().to_string()),
        ],
        vec![("TREEPIE_MODE", "nonsense".to_owned())],
    ] {
        settings.push(("TREEPIE_STRICT", "true".to_owned()));
        let outcome = Job::new(mpi, RANKS, "ring")
            .with(Library::Set(settings))
            .run();
        assert!(!outcome.status.success(), "{}", outcome.told());
        assert_eq!(outcome.stdout, "", "{}", outcome.told());
        assert_eq!(outcome.messages().len(), 1, "{}", outcome.told());
        assert_eq!(outcome.files, Vec::<String>::new());
    }
}

/// A list that is not a permutation is refused before the application starts, by every rank alike:
/// no rank of a strict job continues, and all ranks of any other run plainly.
fn what_is_no_permutation_is_refused_by_every_rank_alike(mpi: Mpi) {
    let directory = directory();
    let file = |name: &str, permutation: &str| {
        let path = edited(
            directory.path(),
            name,
            "permutation: 2,0,1",
            &format!("permutation: {permutation}"),
        );
        ("TREEPIE_PLACEMENT", path.display().to_string())
    };
    let plain = Job::new(mpi, RANKS, "who").run().succeeded();
    for named in [
        file("twice.yaml", "2,0,2"),
        file("outside.yaml", "3,0,1"),
        file("short.yaml", "1,0"),
        ("TREEPIE_PERMUTATION", "1,1,0".to_owned()),
    ] {
        let mut settings = vec![("TREEPIE_MODE", "replay".to_owned()), named];
        let run = |settings: &[(&'static str, String)]| {
            let library = Library::Set(settings.to_vec());
            let outcome = Job::new(mpi, RANKS, "who").with(library).run();
            assert_eq!(outcome.messages().len(), 1, "{}", outcome.told());
            assert!(
                outcome.messages()[0].contains("permutation")
                    || outcome.messages()[0].contains("PERMUTATION"),
                "{}",
                outcome.told()
            );
            outcome
        };
        assert_same_output(&plain, &run(&settings));
        settings.push(("TREEPIE_STRICT", "true".to_owned()));
        let refused = run(&settings);
        assert!(!refused.status.success(), "{}", refused.told());
        assert_eq!(refused.stdout, "", "{}", refused.told());
    }
}

/// An unknown variable is probably a typing error: it is reported, and the valid settings apply.
fn a_mistyped_variable_is_named_and_the_rest_holds(mpi: Mpi) {
    let directory = directory();
    let path = directory.path().join("job.profile.yaml");
    let outcome = Job::new(mpi, RANKS, "ring")
        .with(Library::Profile(path.clone()))
        .variable("TREEPIE_PERMUTATOIN", "2,1,0")
        .run()
        .succeeded();
    let messages = outcome.messages();
    assert_eq!(messages.len(), 1, "{}", outcome.told());
    assert!(
        messages[0].contains("TREEPIE_PERMUTATOIN") && messages[0].contains("TREEPIE_PERMUTATION"),
        "{}",
        messages[0]
    );
    assert!(path.exists(), "{}", outcome.told());
}

/// The output can be written when the job starts, but not when it ends.
fn a_profile_that_cannot_be_written_at_the_end_is_said_and_not_half_written(mpi: Mpi) {
    let directory = directory();
    let output = directory.path().join("later/job.profile.yaml");
    fs::create_dir(directory.path().join("later")).expect("the directory is writable");
    // The job's own rank 0 removes the directory while it runs.
    let outcome = Job::new(mpi, RANKS, "remove_directory")
        .argument(directory.path().join("later"))
        .with(Library::Profile(output))
        .run()
        .succeeded();
    assert_eq!(outcome.messages().len(), 1, "{}", outcome.told());
    assert!(
        outcome.messages()[0].contains("later/job.profile"),
        "{}",
        outcome.told()
    );
    assert_eq!(tree(directory.path()), Vec::new());
}

fn messages_can_be_turned_off(mpi: Mpi) {
    Job::new(mpi, RANKS, "ring")
        .with(Library::Permuted(vec![0, 1]))
        .variable("TREEPIE_LOG", "off")
        .run()
        .succeeded()
        .silent();
}

under_each_mpi!(
    a_wrong_file_is_named,
    a_wrong_value_is_named,
    what_is_no_file_is_neither_read_nor_waited_for,
    the_right_placement_is_taken,
    what_is_no_permutation_is_refused_by_every_rank_alike,
    a_strict_job_ends_before_the_application_starts,
    a_mistyped_variable_is_named_and_the_rest_holds,
    a_profile_that_cannot_be_written_at_the_end_is_said_and_not_half_written,
    messages_can_be_turned_off,
);
