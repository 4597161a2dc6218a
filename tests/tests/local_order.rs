//! Ranks of a host that ascend with the launcher's local numbers: what takes its device by its rank
//! on the host has the one that it had.

use std::ffi::OsString;

use treepie_tests::hosts::Hosts;
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, under_each_mpi};

const RANKS: usize = 4;

/// The launcher's number of each rank's process.
fn processes(outcome: &Outcome) -> Vec<usize> {
    let process = |line: &str| line.rsplit(' ').next()?.parse().ok();
    let found: Option<Vec<usize>> = outcome.stdout.lines().map(process).collect();
    found.unwrap_or_else(|| panic!("{}", outcome.told()))
}

fn reversed(mpi: Mpi) -> Job {
    Job::new(mpi, RANKS, "launched").with(Library::Permuted(vec![3, 2, 1, 0]))
}

fn ranks_ascend_on_a_host_where_devices_are_named_or_the_setting_says_so(mpi: Mpi) {
    let named = reversed(mpi).variable("ROCR_VISIBLE_DEVICES", "0,1");
    let outcome = named.clone().run().succeeded();
    assert_eq!(processes(&outcome), [0, 1, 2, 3]);
    let said = outcome.messages();
    assert_eq!(said.len(), 1, "{}", outcome.told());
    for part in ["ROCR_VISIBLE_DEVICES", "TREEPIE_LOCAL_ORDER=ignore"] {
        assert!(said[0].contains(part), "{said:?}");
    }
    let kept = reversed(mpi).variable("TREEPIE_LOCAL_ORDER", "keep");
    let outcome = kept.run().succeeded().silent();
    assert_eq!(processes(&outcome), [0, 1, 2, 3]);
    let ignored = named.variable("TREEPIE_LOCAL_ORDER", "ignore");
    let outcome = ignored.run().succeeded().silent();
    assert_eq!(processes(&outcome), [3, 2, 1, 0]);
    let outcome = reversed(mpi).run().succeeded().silent();
    assert_eq!(processes(&outcome), [3, 2, 1, 0]);
}

/// Hosts change their ranks, and the ranks of each are in order.
fn hosts_have_the_ranks_that_they_were_given(mpi: Mpi) {
    let hosts = Hosts {
        name: "lo",
        count: 2,
        ranks_each: 2,
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut words: Vec<OsString> = vec![artifacts::command().into()];
    let options = ["replay", "--keep-local-order", "--permutation", "3,2,1,0"];
    words.extend(options.map(Into::into));
    words.push("--".into());
    words.extend(hosts.launcher(mpi, RANKS));
    words.push(artifacts::job(mpi, "launched").into());
    let outcome = hosts.run(folder.path(), words).succeeded();
    assert_eq!(processes(&outcome), [2, 3, 0, 1], "{}", outcome.told());
}

under_each_mpi!(
    ranks_ascend_on_a_host_where_devices_are_named_or_the_setting_says_so,
    hosts_have_the_ranks_that_they_were_given,
);
