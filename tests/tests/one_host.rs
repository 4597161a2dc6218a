//! Collectives on one host under the guard, with memory that its ranks share: the trials, the cases
//! left to the MPI, and right results in all.

use std::path::Path;

use treepie_collective::Operation;
use treepie_guard::State;
use treepie_profile::{GuardedCell, Profile};
use treepie_tests::permutations::seed;
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, longer, under_each_mpi};

/// A job that calls collectives by `auto`, with memory, under this guard.
fn by_auto(job: Job, guard: &str, arguments: &[&str], profile: &Path) -> Job {
    let job = arguments.iter().fold(job, |job, &word| job.argument(word));
    job.with(Library::Set(vec![
        ("TREEPIE_MODE", "replay".into()),
        ("TREEPIE_COLLECTIVES", "auto".into()),
        ("TREEPIE_GUARD", guard.into()),
        ("TREEPIE_TRANSPORT", "memory".into()),
        ("TREEPIE_LOG", "info".into()),
        ("TREEPIE_OUTPUT", profile.display().to_string()),
    ]))
}

/// Runs it; all its results must be right.
#[track_caller]
fn run(job: Job, guard: &str, arguments: &[&str]) -> (Outcome, Profile) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("one-host.profile.yaml");
    let outcome = by_auto(job, guard, arguments, &path).run().succeeded();
    assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
    let profile = Profile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    (outcome, profile)
}

/// The cells in which a plan was tried.
fn plans(profile: &Profile) -> Vec<&GuardedCell> {
    let is_plan = |cell: &&GuardedCell| {
        let plan = cell.plan.as_ref();
        let is_ours = plan.is_some_and(|plan| !plan.algorithm.starts_with("native:"));
        is_ours && cell.plan_seconds.is_some()
    };
    profile.guard.iter().filter(is_plan).collect()
}

fn has_run_a_plan(profile: &Profile) -> bool {
    let mut records = profile.collectives.iter();
    records.any(|record| record.plan.is_some())
}

/// The MPI's messages use the loop-back interface, so that each takes many times as long.
#[test]
fn a_plan_in_memory_is_adopted_where_open_mpi_has_none() {
    let run = |calls: &str| {
        let job = Job::new(Mpi::OpenMpi, 2, "guarded").variable("OMPI_MCA_btl", "self,tcp");
        run(job, "on", &["one", "allreduce", calls])
    };
    let is_adopted = |cell: &&GuardedCell| cell.state == State::Adopted;
    let has_adopted = |(_, profile): &(Outcome, Profile)| plans(profile).iter().any(is_adopted);
    let (outcome, profile) = longer(&["20000", "200000", "1000000"], run, has_adopted);
    let found = plans(&profile);
    let adopted = found.iter().find(|cell| is_adopted(cell));
    let adopted = adopted.unwrap_or_else(|| panic!("{:#?}\n{}", profile.guard, outcome.told()));
    assert_eq!(adopted.operation, Operation::Allreduce);
    assert!(has_run_a_plan(&profile));
}

fn without_a_guard_the_mpi_runs_all_of_them(mpi: Mpi) {
    let job = Job::new(mpi, 2, "guarded");
    let (_, profile) = run(job, "off", &["one", "allreduce", "3000"]);
    assert!(profile.guard.is_empty() && !has_run_a_plan(&profile));
}

/// If one rank cannot share memory, all do without it, and so without plans.
fn where_one_rank_shares_no_memory_no_plan_is_tried(mpi: Mpi) {
    let refusals = artifacts::job(mpi, "refusals.so");
    let both = format!("{}:{}", artifacts::library().display(), refusals.display());
    let job = Job::new(mpi, 3, "guarded");
    let refused = |job: Job| {
        job.variable("LD_PRELOAD", both)
            .variable("REFUSED", "memfd_create")
            .variable("REFUSED_ON", 0)
    };
    let (outcome, profile) = run(refused(job), "on", &["one", "scan", "2000"]);
    let line = "share no memory, messages go through the MPI";
    assert!(outcome.stderr.contains(line), "{}", outcome.told());
    assert!(plans(&profile).is_empty() && !has_run_a_plan(&profile));
}

/// On ranks that share cores, the trials depend on the durations of calls.
fn all_operations_leave_what_the_mpi_leaves_on_two_to_eight_ranks(mpi: Mpi) {
    for (ranks, arguments) in [
        (2, ["operations", "", "1000"]),
        (4, ["operations", "", "130"]),
        (8, ["one", "allreduce", "400"]),
    ] {
        run(Job::new(mpi, ranks, "guarded"), "on", &arguments);
    }
}

fn messages_of_all_sizes_arrive_whole_while_plans_are_tried(mpi: Mpi) {
    let seed = seed().to_string();
    for (ranks, rounds) in [(2, "600"), (3, "150")] {
        let arguments = ["sizes", &seed, rounds];
        run(Job::new(mpi, ranks, "guarded"), "on", &arguments);
    }
}

/// One rank has its own core, the other may run anywhere.
fn ranks_may_be_bound_differently(mpi: Mpi) {
    let script = r#"[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || taskset -cp 0 $$ >/dev/null
        exec "$0" "$@""#;
    let job = Job::of(mpi, 2, "sh")
        .argument("-c")
        .argument(script)
        .argument(artifacts::job(mpi, "guarded"));
    let (outcome, _) = run(job, "on", &["operations", "300"]);
    let line = "2 of 2 ranks share the memory of their host";
    assert!(outcome.stderr.contains(line), "{}", outcome.told());
}

/// Data that ranks describe differently, communicators that end at any point, and wrong calls.
fn other_programs_of_the_guard_end_as_without_memory(mpi: Mpi) {
    for arguments in [
        &["signatures", "600"][..],
        &["freed"],
        &["kept"],
        &["wrong", "800"],
    ] {
        run(Job::new(mpi, 3, "guarded"), "on", arguments);
    }
}

under_each_mpi!(
    without_a_guard_the_mpi_runs_all_of_them,
    where_one_rank_shares_no_memory_no_plan_is_tried,
    all_operations_leave_what_the_mpi_leaves_on_two_to_eight_ranks,
    messages_of_all_sizes_arrive_whole_while_plans_are_tried,
    ranks_may_be_bound_differently,
    other_programs_of_the_guard_end_as_without_memory,
);
