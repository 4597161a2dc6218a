//! Programs that try to distinguish a replayed world from the native one: those of `jobs/world`, in
//! C and in Fortran by its three interfaces. Each ends in a comment with its number of ranks, its
//! purpose, and the known pitfalls that it tests; this file runs them accordingly.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use treepie_profile::Profile;
use treepie_tests::expected::{assert_same_pairs, pairs};
use treepie_tests::permutations::{as_list, moving_all, seed};
use treepie_tests::results::Attempt;
use treepie_tests::{
    Job, Library, Mpi, Outcome, artifacts, assert_same_output, under_all_mpis, under_each_mpi,
};

/// The interfaces for which each Fortran source is compiled.
const INTERFACES: [&str; 3] = ["mpif", "mpi", "f08"];

fn folder() -> PathBuf {
    artifacts::repository().join("tests/jobs/world")
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

/// Contents of a source's last comment.
struct Configuration {
    ranks: Vec<usize>,
    arguments: Vec<String>,
    /// Names of MPIs that cannot run it.
    not: Vec<String>,
}

impl Configuration {
    #[track_caller]
    fn of(source: &str) -> Self {
        let path = folder().join(source);
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let words = |key: &str| -> Vec<String> {
            text.lines()
                .filter_map(|line| line.trim_start_matches([' ', '*', '!']).strip_prefix(key))
                .flat_map(|rest| rest.split_whitespace().map(str::to_owned))
                .collect()
        };
        for key in ["PROVES:", "PITFALLS:"] {
            assert!(!words(key).is_empty(), "{source} does not say {key}");
        }
        let ranks: Vec<usize> = words("RANKS:")
            .iter()
            .filter_map(|word| word.parse().ok())
            .collect();
        assert!(!ranks.is_empty(), "{source} does not say RANKS:");
        Configuration {
            ranks,
            arguments: words("ARGUMENTS:"),
            not: words("NOT:")
                .iter()
                .map(|word| word.trim_end_matches(':').to_owned())
                .take_while(|word| MPIS.contains(&word.as_str()))
                .collect(),
        }
    }
}

const MPIS: [&str; 7] = [
    "openmpi",
    "mpich",
    "openmpi-5",
    "openmpi-6",
    "mpich-5",
    "standard-abi",
    "intel",
];

/// `who` for `who.c`; `who.mpi` and the other interfaces for `who.F90`.
fn programs(source: &str) -> Vec<String> {
    match source.rsplit_once('.') {
        Some((name, "F90")) => INTERFACES
            .map(|interface| format!("{name}.{interface}"))
            .to_vec(),
        Some((name, _)) => vec![name.to_owned()],
        None => vec![source.to_owned()],
    }
}

/// The jobs of a source, each with its number of ranks.
#[track_caller]
fn jobs(mpi: Mpi, source: &str, directory: &Path) -> Vec<(Job, usize)> {
    let configuration = Configuration::of(source);
    if configuration.not.iter().any(|name| name == mpi.name()) {
        println!("{source} says that {mpi} cannot run it, with or without the library");
        return Vec::new();
    }
    let file = directory.join("shared.dat").display().to_string();
    let mut jobs = Vec::new();
    for program in programs(source) {
        for &ranks in &configuration.ranks {
            let job = configuration
                .arguments
                .iter()
                .map(|word| if word == "FILE" { &file } else { word })
                .fold(Job::new(mpi, ranks, &program), |job, word| {
                    job.argument(word)
                });
            jobs.push((job, ranks));
        }
    }
    jobs
}

/// Modes of the library in which a source is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Modes {
    /// Counting and another order of ranks in one run; under all MPIs like [`Modes::Each`].
    Together,
    /// Both together, each alone, and neither.
    Each,
}

/// Configurations of the library that must not be noticed.
fn uses(modes: Modes, ranks: usize, directory: &Path) -> Vec<Library> {
    let profile = directory.join("job.profile.yaml");
    let permutation = moving_all(ranks, seed());
    let both = Library::Set(vec![
        ("TREEPIE_MODE", "replay".into()),
        ("TREEPIE_PERMUTATION", as_list(&permutation)),
        ("TREEPIE_OUTPUT", profile.display().to_string()),
    ]);
    if modes == Modes::Together && !cfg!(feature = "all-mpis") {
        return vec![both];
    }
    vec![
        both,
        Library::Off,
        Library::Profile(profile),
        Library::Permuted(permutation),
    ]
}

/// Open MPI 4.1 loses a process that it spawns in one of about 45 runs, with or without the
/// library: `PMIx_Init` does not return there. Such a run is ended and repeated.
#[track_caller]
fn run(job: &Job, source: &str) -> Outcome {
    if job.mpi() == Mpi::OpenMpi && source.starts_with("spawning") {
        let short = job.clone().limit(Duration::from_secs(30));
        for _ in 0..3 {
            match catch_unwind(AssertUnwindSafe(|| short.run())) {
                Ok(outcome) => return outcome,
                Err(_) => println!("{source} once more: Open MPI may have lost a process"),
            }
        }
    }
    job.run()
}

/// The jobs of a source print the same without the library and in these modes.
#[track_caller]
fn sees_no_difference_in(modes: Modes, mpi: Mpi, source: &str) {
    let directory = directory();
    for (job, ranks) in jobs(mpi, source, directory.path()) {
        let plain = run(&job, source).succeeded();
        assert!(!plain.stdout.is_empty(), "{}", plain.told());
        for library in uses(modes, ranks, directory.path()) {
            let attempt = Attempt::new(mpi, job.language(), &library.mode(), &job.title());
            let outcome = run(&job.clone().with(library), source).silent();
            assert_same_output(&plain, &outcome);
            attempt.passed();
        }
    }
}

#[track_caller]
fn sees_no_difference(mpi: Mpi, source: &str) {
    sees_no_difference_in(Modes::Together, mpi, source);
}

fn handlers_are_handed_the_world_and_got_back_as_set(mpi: Mpi) {
    sees_no_difference(mpi, "handlers.c");
}

fn errors_are_the_hosts_own(mpi: Mpi) {
    sees_no_difference(mpi, "errors.c");
}

/// The first rank that reports it may vary; the end of the job, its status, and that nothing runs
/// after the error, may not.
#[track_caller]
fn ends_as_it_does_plainly(job: &Job, ranks: usize, directory: &Path, behind: &str) {
    // Intel's launcher itself sometimes dies of SIGPIPE if two ranks abort simultaneously, with or
    // without the library.
    let run = |job: &Job| -> Outcome {
        let is_lost =
            |outcome: &Outcome| job.mpi() == Mpi::Intel && outcome.status.code().is_none();
        let again = (0..3).map(|_| job.run()).find(|outcome| !is_lost(outcome));
        again.unwrap_or_else(|| job.run())
    };
    let plain = run(job);
    assert!(!plain.status.success(), "{}", plain.told());
    for library in uses(Modes::Together, ranks, directory) {
        let outcome = run(&job.clone().with(library));
        let told = outcome.told();
        assert_eq!(plain.status.code(), outcome.status.code(), "{told}");
        assert!(!outcome.stdout.contains(behind), "{told}");
        // The message of MPICH's launchers on a rank that crashed.
        let crashed = |of: &Outcome| of.stdout.contains("BAD TERMINATION");
        assert!(crashed(&plain) || !crashed(&outcome), "{told}");
    }
}

fn errors_are_fatal_at_first(mpi: Mpi) {
    let directory = directory();
    for (job, ranks) in jobs(mpi, "fatal.c", directory.path()) {
        ends_as_it_does_plainly(&job, ranks, directory.path(), "after the error");
    }
}

fn calls_before_the_start_and_after_the_end_are_the_hosts_errors(mpi: Mpi) {
    let directory = directory();
    for (job, ranks) in jobs(mpi, "outside.c", directory.path()) {
        let early = job.clone().argument("early");
        for job in [job, early] {
            ends_as_it_does_plainly(&job, ranks, directory.path(), "sent after");
        }
    }
}

fn attributes_are_the_worlds_and_callbacks_are_told_so(mpi: Mpi) {
    sees_no_difference_in(Modes::Each, mpi, "attributes.c");
}

fn communicators_made_from_the_world_have_its_ranks(mpi: Mpi) {
    sees_no_difference_in(Modes::Each, mpi, "communicators.c");
}

fn topologies_have_the_worlds_ranks(mpi: Mpi) {
    sees_no_difference(mpi, "topologies.c");
}

fn windows_have_the_worlds_ranks(mpi: Mpi) {
    sees_no_difference(mpi, "windows.c");
}

fn files_are_written_in_the_worlds_order(mpi: Mpi) {
    sees_no_difference(mpi, "files.c");
}

fn senders_are_found_out_as_the_worlds_ranks(mpi: Mpi) {
    sees_no_difference(mpi, "matching.c");
}

fn process_sets_have_the_worlds_order(mpi: Mpi) {
    sees_no_difference(mpi, "sessions.c");
}

fn prepared_collectives_have_the_worlds_ranks(mpi: Mpi) {
    sees_no_difference(mpi, "prepared.c");
}

fn extensions_see_the_world(mpi: Mpi) {
    sees_no_difference(mpi, "extensions.c");
}

fn programs_without_mpi_init_run(mpi: Mpi) {
    sees_no_difference(mpi, "sessions_alone.c");
}

fn spawned_children_see_their_parents_ranks(mpi: Mpi) {
    sees_no_difference(mpi, "spawning.c");
}

fn ports_and_sockets_join_the_worlds_ranks(mpi: Mpi) {
    sees_no_difference(mpi, "ports.c");
}

fn threads_see_one_world(mpi: Mpi) {
    sees_no_difference(mpi, "threads.c");
}

fn what_mpi_allows_outside_its_life_works(mpi: Mpi) {
    sees_no_difference(mpi, "lifecycle.c");
}

fn an_mpi_that_was_loaded_out_of_the_global_scope_works(mpi: Mpi) {
    sees_no_difference(mpi, "loaded.c");
}

fn calls_by_the_mpi_librarys_own_handle_see_the_same_world(mpi: Mpi) {
    sees_no_difference(mpi, "by_handle.c");
}

fn special_arguments_keep_their_meaning_in_fortran(mpi: Mpi) {
    sees_no_difference(mpi, "sentinels.F90");
}

fn spawning_in_fortran_keeps_special_arguments(mpi: Mpi) {
    sees_no_difference(mpi, "spawning.F90");
}

fn attributes_and_handlers_in_fortran_are_those_of_c(mpi: Mpi) {
    sees_no_difference(mpi, "callbacks.F90");
}

/// The rank that each process of the launcher runs, as printed by the job `who`.
#[track_caller]
fn rank_of_process(outcome: &Outcome, ranks: usize) -> Vec<usize> {
    let number = |line: &str, start: &str| -> Option<usize> {
        line.strip_prefix(start)?
            .trim()
            .trim_end_matches(':')
            .parse()
            .ok()
    };
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let mut found = vec![usize::MAX; ranks];
    for pair in lines.windows(2) {
        if let (Some(rank), Some(process)) = (number(pair[0], "rank "), number(pair[1], "process "))
        {
            found[process] = rank;
        }
    }
    assert!(!found.contains(&usize::MAX), "{}", outcome.told());
    found
}

#[track_caller]
fn ranks_follow_the_permutation(job: &Job, ranks: usize) {
    let identity: Vec<usize> = (0..ranks).collect();
    assert_eq!(rank_of_process(&job.run().succeeded(), ranks), identity);
    let permutation = moving_all(ranks, seed());
    let permuted = Library::Permuted(permutation.clone());
    let outcome = job.clone().with(permuted).run().succeeded().silent();
    assert_eq!(rank_of_process(&outcome, ranks), permutation);
}

#[track_caller]
fn follows_the_permutation(mpi: Mpi, source: &str) {
    let directory = directory();
    for (job, ranks) in jobs(mpi, source, directory.path()) {
        ranks_follow_the_permutation(&job, ranks);
    }
}

/// All other tests here would pass without any permutation.
fn processes_run_the_ranks_of_the_permutation(mpi: Mpi) {
    follows_the_permutation(mpi, "who.c");
}

fn processes_run_the_ranks_of_the_permutation_in_fortran(mpi: Mpi) {
    follows_the_permutation(mpi, "who.F90");
}

/// All calls of this job use `dlsym` on the MPI library itself.
///
/// PITFALLS: 4
fn calls_by_the_mpi_librarys_own_handle_are_permuted_and_counted(mpi: Mpi) {
    let job = Job::new(mpi, 4, "loaded");
    ranks_follow_the_permutation(&job.clone().argument("who"), 4);
    let (_, profile) = job.profiled();
    let ring = (0..4).map(|rank| ((rank, (rank + 1) % 4), (1, 4)));
    assert_same_pairs(
        &pairs(&profile.point_to_point),
        &ring.collect(),
        "the ring of loaded.c",
    );
    assert_eq!(profile.collectives.len(), 1, "{:?}", profile.collectives);
}

/// Each call is counted once, on any path: through C, or around it; and Fortran's special values
/// have the meaning that they have in C.
fn every_fortran_interface_is_counted_as_c_is(mpi: Mpi) {
    let directory = directory();
    let counted = |source: &str| -> Vec<(String, Profile)> {
        let jobs = jobs(mpi, source, directory.path()).into_iter();
        jobs.map(|(job, _)| (job.title(), job.profiled().1))
            .collect()
    };
    let calls = |profile: &Profile| -> Vec<String> {
        let records = profile.collectives.iter();
        let mut calls: Vec<String> = records.map(|record| format!("{record:?}")).collect();
        calls.sort();
        calls
    };
    let in_c = counted("sentinels.c");
    let (_, in_c) = in_c.first().expect("it says how many ranks it wants");
    assert!(!calls(in_c).is_empty());
    let in_fortran = counted("sentinels.F90");
    assert_eq!(in_fortran.len(), INTERFACES.len());
    for (title, found) in &in_fortran {
        for (layer, expected, found) in [
            ("p2p", &in_c.point_to_point, &found.point_to_point),
            ("one-sided", &in_c.one_sided, &found.one_sided),
            ("neighbourhood", &in_c.neighbourhood, &found.neighbourhood),
        ] {
            let expected = pairs(expected);
            assert!(!expected.is_empty(), "{layer}");
            assert_same_pairs(&pairs(found), &expected, &format!("{title}, {layer}"));
        }
        assert_eq!(calls(found), calls(in_c), "{title}");
    }
}

/// The native message on an abort has the rank that the application knows.
///
/// PITFALLS: 11
fn an_abort_is_told_with_the_applications_rank(mpi: Mpi) {
    let told = |library: Library| -> Option<String> {
        let is_ours = !mpi.is_open_mpi() && library != Library::Absent;
        let job = Job::new(mpi, 3, "abort").argument("1").argument("9");
        let outcome = job.with(library).run();
        assert_eq!(outcome.status.code(), Some(9), "{}", outcome.told());
        let all = format!("{}\n{}", outcome.stdout, outcome.stderr);
        // MPICH's own message has the native rank in a replay.
        if is_ours {
            let line = all.lines().find(|line| line.contains("calls MPI_Abort;"))?;
            return Some(line.split(';').next().unwrap_or(line).to_owned());
        }
        let line = all.lines().find(|line| {
            line.contains("MPI_ABORT was invoked") || line.contains("called MPI_Abort")
        })?;
        // MPICH first prints the node with the native rank, and the context.
        Some(line.split(": ").last().unwrap_or(line).to_owned())
    };
    // Launchers sometimes lose messages of jobs that abort, with or without us.
    let told = |library: Library| (0..8).find_map(|_| told(library.clone()));
    let plain = told(Library::Absent);
    let words = plain.as_deref().unwrap_or_default();
    assert!(words.contains("MPI_COMM_WORLD"), "{plain:?}");
    let permuted = told(Library::Permuted(vec![1, 2, 0]));
    match mpi.is_open_mpi() {
        true => assert_eq!(permuted, plain),
        false => assert_eq!(permuted.as_deref(), Some("treepie: rank 1 calls MPI_Abort")),
    }
}

under_all_mpis!(
    handlers_are_handed_the_world_and_got_back_as_set,
    errors_are_the_hosts_own,
    errors_are_fatal_at_first,
    calls_before_the_start_and_after_the_end_are_the_hosts_errors,
    attributes_are_the_worlds_and_callbacks_are_told_so,
    communicators_made_from_the_world_have_its_ranks,
    topologies_have_the_worlds_ranks,
    windows_have_the_worlds_ranks,
    files_are_written_in_the_worlds_order,
    senders_are_found_out_as_the_worlds_ranks,
    process_sets_have_the_worlds_order,
    prepared_collectives_have_the_worlds_ranks,
    extensions_see_the_world,
    an_abort_is_told_with_the_applications_rank,
    programs_without_mpi_init_run,
    spawned_children_see_their_parents_ranks,
    ports_and_sockets_join_the_worlds_ranks,
    threads_see_one_world,
    what_mpi_allows_outside_its_life_works,
    an_mpi_that_was_loaded_out_of_the_global_scope_works,
    calls_by_the_mpi_librarys_own_handle_see_the_same_world,
    calls_by_the_mpi_librarys_own_handle_are_permuted_and_counted,
    processes_run_the_ranks_of_the_permutation,
);

// The MPIs of PyPI have no mpi_f08 for gfortran, or no Fortran at all.
under_each_mpi!(
    special_arguments_keep_their_meaning_in_fortran,
    attributes_and_handlers_in_fortran_are_those_of_c,
    spawning_in_fortran_keeps_special_arguments,
    processes_run_the_ranks_of_the_permutation_in_fortran,
    every_fortran_interface_is_counted_as_c_is,
);
