//! Replaced collectives whose messages use memory that the ranks of a host share.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use treepie_base::list;
use treepie_tests::permutations::seed;
use treepie_tests::strategies::{self, replaced};
use treepie_tests::{
    Job, Library, Mpi, Outcome, artifacts, assert_same_output, under_all_mpis, under_each_mpi,
};

/// A job of `ranks` ranks on this host with these collectives.
fn through_memory(mpi: Mpi, ranks: usize, name: &str, collectives: &str) -> Job {
    let clusters = vec!["0"; ranks].join(",");
    in_clusters(mpi, name, collectives, &clusters)
}

fn in_clusters(mpi: Mpi, name: &str, collectives: &str, clusters: &str) -> Job {
    Job::new(mpi, clusters.split(',').count(), name)
        .with(replaced(collectives, clusters))
        .variable("TREEPIE_TRANSPORT", "memory")
}

/// Checks the first rank's message on the world's segment.
fn says_that_all_share(outcome: &Outcome, ranks: usize) {
    let line = format!("transport: {ranks} of {ranks} ranks share the memory of their host");
    assert!(outcome.stderr.contains(&line), "{}", outcome.told());
}

fn every_strategy_leaves_what_the_host_leaves(mpi: Mpi) {
    let arrangements = ["0,0,0,0", "0,1,0,1", "0,1,1,2"];
    for round in strategies::rounds_under(mpi) {
        let strategies = strategies::of_round(round);
        let outcome = in_clusters(
            mpi,
            "collective_equality",
            &strategies,
            arrangements[round % 3],
        )
        .argument((seed() + round as u64).to_string())
        .variable("TREEPIE_LOG", "info")
        .run()
        .succeeded();
        says_that_all_share(&outcome, 4);
    }
}

fn every_strategy_moves_what_ranks_describe_each_in_its_way(mpi: Mpi) {
    let calls = if cfg!(feature = "all-mpis") { 600 } else { 40 };
    for round in strategies::rounds_under(mpi) {
        let ranks = strategies::ranks_of_round(round);
        through_memory(mpi, ranks, "collective_types", &strategies::of_round(round))
            .argument((seed() + round as u64).to_string())
            .argument(calls.to_string())
            .argument("backwards")
            .run()
            .succeeded()
            .silent();
    }
}

fn every_predefined_operation_leaves_what_the_host_leaves(mpi: Mpi) {
    let forced = "allreduce=recursive-doubling,reduce=binomial,scan=hillis-steele,\
                  reduce-scatter-block=recursive-halving";
    through_memory(mpi, 4, "collective_operations", forced)
        .run()
        .succeeded()
        .silent();
}

/// Two ranks on each of two cores, which are then the clusters: leaders are on both.
fn cores_that_ranks_are_bound_to_are_clusters_and_leave_what_the_host_leaves(mpi: Mpi) {
    let status = fs::read_to_string("/proc/self/status").expect("the process's status");
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let units = list::parse(allowed.expect("a list").trim()).expect("numbers");
    let (first, last) = (units[0], units[units.len() - 1]);
    let siblings = format!("/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list");
    let siblings = fs::read_to_string(siblings).expect("a list");
    let siblings = list::parse(siblings.trim()).expect("numbers");
    let script = format!(
        "case \"$OMPI_COMM_WORLD_RANK$PMI_RANK\" in 0|2) on={first} ;; *) on={last} ;; esac; \
         exec taskset -c $on \"$0\" \"$@\""
    );
    for round in 0..4 {
        let outcome = Job::of(mpi, 4, "sh")
            .argument("-c")
            .argument(&script)
            .argument(artifacts::job(mpi, "collective_equality"))
            .argument(seed().to_string())
            .with(Library::Set(vec![
                ("TREEPIE_MODE", "replay".into()),
                ("TREEPIE_COLLECTIVES", strategies::of_round(round)),
                ("TREEPIE_TRANSPORT", "memory".into()),
                ("TREEPIE_LOG", "info".into()),
            ]))
            .run()
            .succeeded();
        says_that_all_share(&outcome, 4);
        let told = outcome
            .stderr
            .contains("collectives: ranks are bound to parts of hosts");
        assert_eq!(told, !siblings.contains(&last), "{}", outcome.told());
    }
}

/// Messages of all lengths: in one block, in many, and copied once.
fn long_and_short_messages_arrive_whole_one_after_the_other(mpi: Mpi) {
    for (ranks, collectives) in [
        (
            2,
            "barrier=dissemination,bcast=binomial,allreduce=recursive-doubling",
        ),
        (
            4,
            "barrier=recursive-doubling,bcast=scatter-allgather,allreduce=ring",
        ),
        (
            5,
            "barrier=flat,bcast=chain,allreduce=reduce-scatter-allgather",
        ),
    ] {
        through_memory(mpi, ranks, "transport_times", collectives)
            .argument("2")
            .argument("1")
            .argument(
                "barrier:0,bcast:8,bcast:80000,bcast:3000000,allreduce:8,allreduce:4000,\
                 allreduce:1000000",
            )
            .run()
            .succeeded()
            .silent();
    }
}

fn wrong_calls_end_as_with_the_host_and_right_ones_after_them_are_right(mpi: Mpi) {
    let plain = Job::new(mpi, 4, "collective_errors").run().succeeded();
    let job = in_clusters(mpi, "collective_errors", "auto", "0,1,0,1");
    assert_same_output(&plain, &job.run().succeeded().silent());
}

/// Data left in a ring by a call that was wrong on one rank is not received by later calls.
fn a_call_that_failed_on_one_rank_leaves_nothing_for_those_after_it(mpi: Mpi) {
    for mismatch in ["wrong-on-one", "returned"] {
        let outcome = in_clusters(mpi, "collective_mismatches", "bcast=grid-flat", "0,0,1,1")
            .argument(mismatch)
            .run()
            .succeeded()
            .silent();
        let done = outcome.stdout.matches(" is done").count();
        assert_eq!(done, 4, "{mismatch}: {}", outcome.told());
    }
}

fn communicators_are_freed_with_their_segments_and_may_be_many(mpi: Mpi) {
    let job = through_memory(
        mpi,
        2,
        "collective_communicators",
        "bcast=flat,allreduce=ring",
    );
    let outcome = job.argument("200").argument("600").run().succeeded();
    assert_eq!(outcome.stdout, "all right\n", "{}", outcome.told());
}

/// A job on three ranks with a system that refuses `what`, on one rank or on all.
fn refused(mpi: Mpi, what: &str, on: Option<usize>) -> Outcome {
    let refusals = artifacts::job(mpi, "refusals.so");
    let both = format!("{}:{}", artifacts::library().display(), refusals.display());
    let collectives = "barrier=dissemination,bcast=binomial,allreduce=ring";
    let mut job = through_memory(mpi, 3, "transport_times", collectives)
        .argument("2")
        .argument("1")
        .variable("LD_PRELOAD", both)
        .variable("TREEPIE_LOG", "info")
        .variable("REFUSED", what)
        // The MPIs themselves need no settings. UCX 1.13 without `cma` alone hangs in MPI_Finalize.
        .variable("OMPI_MCA_btl_vader_single_copy_mechanism", "none")
        .variable("UCX_TLS", "posix,self");
    if let Some(rank) = on {
        job = job.variable("REFUSED_ON", rank);
    }
    job.run().succeeded()
}

const NO_MEMORY: &str = "the ranks of a host share no memory, messages go through the MPI: ";

fn where_memory_is_refused_or_full_all_ranks_use_messages_and_one_says_why(mpi: Mpi) {
    for (what, reason) in [
        ("memfd_create", "memfd_create of "),
        ("fallocate", "No space left on device"),
    ] {
        let outcome = refused(mpi, what, None);
        let told = outcome.stderr.matches(NO_MEMORY).count();
        assert_eq!(told, 1, "{}", outcome.told());
        assert!(outcome.stderr.contains(reason), "{}", outcome.told());
        let shared = outcome.stderr.contains("share the memory");
        assert!(!shared, "{}", outcome.told());
    }
}

fn where_copies_are_refused_on_one_rank_long_messages_go_through_blocks(mpi: Mpi) {
    let outcome = refused(mpi, "process_vm_readv", Some(1));
    says_that_all_share(&outcome, 3);
    assert!(
        !outcome.stderr.contains("copied once"),
        "{}",
        outcome.told()
    );
}

/// An attempt would end the process by a signal. MPICH itself does not start with such a limit.
#[test]
fn a_limit_on_files_that_one_rank_has_is_no_end_but_one_line() {
    let mpi = Mpi::OpenMpi;
    let script = r#"if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ]; then ulimit -f 40; fi
        exec "$0" bcast:10:1 allreduce:1000 barrier:0"#;
    let outcome = Job::of(mpi, 3, "sh")
        .argument("-c")
        .argument(script)
        .argument(artifacts::job(mpi, "collective_calls"))
        .with(replaced(
            "bcast=binomial,allreduce=ring,barrier=flat",
            "0,0,0",
        ))
        .variable("TREEPIE_TRANSPORT", "memory")
        // MPIs themselves have longer files there.
        .variable("OMPI_MCA_btl", "self,tcp")
        .variable("OMPI_MCA_gds", "hash")
        .run()
        .succeeded();
    let told = outcome.messages();
    assert_eq!(told.len(), 1, "{}", outcome.told());
    assert!(told[0].contains("ulimit -f"), "{}", outcome.told());
}

/// The receiver has the message first: the sender would wait for ever if it only polled memory.
fn who_waits_in_memory_lets_the_mpi_go_on_with_long_messages(mpi: Mpi) {
    let collectives = "barrier=dissemination,bcast=binomial,allreduce=recursive-doubling";
    let outcome = through_memory(mpi, 2, "long_send", collectives)
        .variable("TREEPIE_LOG", "info")
        .run()
        .succeeded();
    says_that_all_share(&outcome, 2);
    assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
}

/// The processes that have a segment of Treepie's and this variable.
fn holders(mark: &str) -> Vec<u32> {
    let holds = |id: &u32| {
        let read = |what: &str| fs::read(format!("/proc/{id}/{what}")).unwrap_or_default();
        let has =
            |text: &[u8], words: &str| text.windows(words.len()).any(|at| at == words.as_bytes());
        has(&read("environ"), mark) && has(&read("maps"), "/memfd:treepie")
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(holds).collect()
}

/// Files in `/dev/shm` that could be ours.
fn named_segments() -> usize {
    let entries = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().contains("treepie"))
        // The directory of pages stays (TREEPIE_PAGES).
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .count()
}

/// A rank is killed while others wait for it in a ring: the job ends, and the memory is released.
fn a_segment_is_gone_when_a_rank_was_killed(mpi: Mpi) {
    let mark = format!("TRANSPORT_TEST={mpi}-{}", std::process::id());
    let (name, value) = mark.split_once('=').unwrap_or_default();
    let job = through_memory(mpi, 3, "transport_times", "barrier=dissemination")
        .argument("1000")
        .argument("1000")
        .argument("barrier:0")
        .variable(name, value);
    thread::scope(|scope| {
        let running = scope.spawn(|| job.run());
        let until = Instant::now() + Duration::from_secs(60);
        let ranks = loop {
            let ranks = holders(&mark);
            if ranks.len() == 3 {
                break ranks;
            }
            assert!(
                Instant::now() < until,
                "the ranks share no memory: {ranks:?}"
            );
            thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(named_segments(), 0, "memory has no name");
        // SAFETY: a running rank of this job.
        unsafe { libc::kill(ranks[1] as libc::pid_t, libc::SIGKILL) };
        let outcome = running.join().expect("the job ends");
        assert!(!outcome.status.success(), "{}", outcome.told());
    });
    let until = Instant::now() + Duration::from_secs(10);
    while !holders(&mark).is_empty() {
        assert!(Instant::now() < until, "who holds it: {:?}", holders(&mark));
        thread::sleep(Duration::from_millis(20));
    }
}

under_all_mpis!(
    every_strategy_leaves_what_the_host_leaves,
    long_and_short_messages_arrive_whole_one_after_the_other,
    who_waits_in_memory_lets_the_mpi_go_on_with_long_messages,
    a_segment_is_gone_when_a_rank_was_killed,
);

under_each_mpi!(
    cores_that_ranks_are_bound_to_are_clusters_and_leave_what_the_host_leaves,
    every_strategy_moves_what_ranks_describe_each_in_its_way,
    every_predefined_operation_leaves_what_the_host_leaves,
    wrong_calls_end_as_with_the_host_and_right_ones_after_them_are_right,
    a_call_that_failed_on_one_rank_leaves_nothing_for_those_after_it,
    communicators_are_freed_with_their_segments_and_may_be_many,
    where_memory_is_refused_or_full_all_ranks_use_messages_and_one_says_why,
    where_copies_are_refused_on_one_rank_long_messages_go_through_blocks,
);
