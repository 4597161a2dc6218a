//! Other tools in the chain of MPI's names, before the library and after it: a small one of our
//! own, and Debian's EZTrace; and libraries for which a permutation matters.

use std::path::Path;
use tempfile::TempDir;
use treepie_profile::Profile;
use treepie_tests::expected::pairs;
use treepie_tests::permutations::{as_list, seed, shuffled};
use treepie_tests::{Job, Mpi, artifacts, assert_same_output, under_all_mpis, under_each_mpi};

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

/// A tool that defines MPI's names and calls the others, before the library and after it: it has
/// the same counts as alone, for the application's ranks; and so does the library.
///
/// PITFALLS: 19
fn another_tool_and_the_library_do_not_disturb_each_other(mpi: Mpi) {
    let (tool, library) = (artifacts::job(mpi, "tool.so"), artifacts::library());
    let (tool, library) = (tool.display(), library.display());
    let run = |preload: String, mode: &str, permutation: &str, output: &Path| {
        let job = Job::new(mpi, 4, "ring")
            .variable("LD_PRELOAD", preload)
            .variable("TREEPIE_MODE", mode)
            .variable("TREEPIE_OUTPUT", output.display());
        match permutation {
            "" => job,
            list => job.variable("TREEPIE_PERMUTATION", list),
        }
        .run()
        .succeeded()
        .silent()
    };
    let directory = directory();
    let output = directory.path().join("job.profile.yaml");
    let alone = run(tool.to_string(), "off", "", &output);
    assert!(alone.stdout.contains("tool: rank 3"), "{}", alone.told());
    let (_, counted) = Job::new(mpi, 4, "ring").profiled();
    let permutation = shuffled(4, seed());
    for preload in [format!("{tool}:{library}"), format!("{library}:{tool}")] {
        for (mode, list) in [
            ("profile", String::new()),
            ("replay", as_list(&permutation)),
        ] {
            let both = run(preload.clone(), mode, &list, &output);
            assert_same_output(&alone, &both);
            let profile = Profile::read(&output).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                pairs(&profile.point_to_point),
                pairs(&counted.point_to_point),
                "{preload}, {mode}"
            );
        }
    }
}

/// A tool after the library that sends its own messages in each of the application's receives: none
/// of them is counted for the application.
///
/// PITFALLS: 19
fn what_a_tool_behind_the_library_sends_is_not_counted(mpi: Mpi) {
    let (library, tool) = (artifacts::library(), artifacts::job(mpi, "tool.so"));
    let directory = directory();
    let output = directory.path().join("job.profile.yaml");
    let job = || Job::new(mpi, 3, "p2p_forms").argument("once");
    let (_, counted) = job().profiled();
    job()
        .variable(
            "LD_PRELOAD",
            format!("{}:{}", library.display(), tool.display()),
        )
        .variable("TOOL_TALKS", 1)
        .variable("TREEPIE_MODE", "profile")
        .variable("TREEPIE_OUTPUT", output.display())
        .run()
        .succeeded()
        .silent();
    let profile = Profile::read(&output).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        pairs(&profile.point_to_point),
        pairs(&counted.point_to_point)
    );
}

/// EZTrace keeps a table of all communicators: after the library it would see a world whose
/// creation it did not see, and so it is only after it for a profile.
///
/// PITFALLS: 19
fn eztrace_and_the_library_do_not_disturb_each_other(mpi: Mpi) {
    let tool = artifacts::eztrace(mpi).display().to_string();
    let library = artifacts::library().display().to_string();
    let directory = directory();
    let output = directory.path().join("job.profile.yaml");
    let run = |preload: &str, mode: &str| -> Vec<String> {
        let outcome = Job::new(mpi, 3, "ring")
            .variable("LD_PRELOAD", preload)
            .variable(
                "EZTRACE_TRACE_DIR",
                directory.path().join("trace").display(),
            )
            .variable("TREEPIE_MODE", mode)
            .variable("TREEPIE_PERMUTATION", "1,2,0")
            .variable("TREEPIE_OUTPUT", output.display())
            .run()
            .succeeded();
        // EZTrace prints messages with the process and the thread.
        let of_job = |line: &&str| !line.is_empty() && !line.starts_with("[P");
        outcome
            .stdout
            .lines()
            .filter(of_job)
            .map(str::to_owned)
            .collect()
    };
    // EZTrace gathers its data at rank 0, by its own messages.
    let to_others = |profile: &Profile| {
        let mut pairs = pairs(&profile.point_to_point);
        pairs.retain(|&(_, to), _| to != 0);
        pairs
    };
    let alone = run(&tool, "off");
    assert!(!alone.is_empty());
    let (_, counted) = Job::new(mpi, 3, "ring").profiled();
    for (preload, mode) in [
        (format!("{tool}:{library}"), "profile"),
        (format!("{tool}:{library}"), "replay"),
        (format!("{library}:{tool}"), "profile"),
    ] {
        assert_eq!(run(&preload, mode), alone, "{preload}, {mode}");
        let profile = Profile::read(&output).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            to_others(&profile),
            to_others(&counted),
            "{preload}, {mode}"
        );
    }
}

/// Any file loaded under their names represents libraries that keep checkpoints on nodes.
fn libraries_whose_redundancy_sets_follow_new_ranks_are_named_in_one_line(mpi: Mpi) {
    let directory = directory();
    for (file, name, word) in [
        ("libscr.so.3", "SCR", "scr"),
        ("libfti.so", "FTI", "fti"),
        ("libveloc-client.so", "VELOC", "veloc"),
    ] {
        let there = directory.path().join(file);
        std::fs::copy(artifacts::yielding(), &there).expect("a library can be copied");
        let run = |permutation: &str| {
            let preload = format!("{}:{}", artifacts::library().display(), there.display());
            let job = Job::new(mpi, 3, "ring").variable("LD_PRELOAD", preload);
            let job = job.variable("TREEPIE_MODE", "replay");
            job.variable("TREEPIE_PERMUTATION", permutation)
                .run()
                .succeeded()
        };
        let expected = format!(
            "treepie: {name} makes its redundancy sets of the new ranks; `treepie map PROFILE \
             --containment --redundancy {word}` says which failures break them"
        );
        let moved = run("1,2,0");
        assert_eq!(moved.messages(), [expected], "{}", moved.told());
        run("0,1,2").silent();
    }
}

under_all_mpis!(
    another_tool_and_the_library_do_not_disturb_each_other,
    what_a_tool_behind_the_library_sends_is_not_counted,
);

// EZTrace is Debian's; messages on libraries do not depend on the MPI.
under_each_mpi!(
    eztrace_and_the_library_do_not_disturb_each_other,
    libraries_whose_redundancy_sets_follow_new_ranks_are_named_in_one_line,
);
