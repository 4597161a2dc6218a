//! The counts of the library equal those of Open MPI's own monitoring, which is below MPI's
//! interface and independent of Treepie's.
//!
//! The two accounts are of two runs of the same job: otherwise the library's own messages at the
//! end of a job would be counted, too. The monitoring of Open MPI 4.1 has flaws, which the tests
//! name: it misses persistent sends, counts the request of a get as a message, and crashes in
//! neighbourhood collectives (for those the job's own account is the reference, see `profiles.rs`).
//! Models of collectives are in `collective_models`.

use treepie_profile::Profile;
use treepie_tests::expected::{self, Pairs, assert_same_pairs, pairs};
use treepie_tests::monitoring::monitored;
use treepie_tests::{Job, Mpi};
use treepie_traffic::TrafficMatrix;

#[track_caller]
fn profiled(job: Job) -> Profile {
    job.profiled().1
}

fn job(ranks: usize, name: &str, arguments: &[String]) -> Job {
    let job = Job::new(Mpi::OpenMpi, ranks, name);
    arguments.iter().fold(job, |job, word| job.argument(word))
}

// --- layers that are counted --------------------------------------------------

/// Point-to-point sends of the application by Open MPI's monitoring.
///
/// A run with persistent sends only, which it misses, shows Open MPI's own sends with the
/// application's tag for the creation of intercommunicators.
#[track_caller]
fn sent_point_to_point(ranks: usize) -> Pairs {
    let forms = |which: &str| job(ranks, "p2p_forms", &[which.to_owned()]);
    let (_, truth) = monitored(forms("once"));
    let (_, own) = monitored(forms("persistent"));
    let mut sent = pairs(&truth.point_to_point);
    for (pair, (messages, bytes)) in pairs(&own.point_to_point) {
        let both = sent.entry(pair).or_default();
        *both = (both.0 - messages, both.1.saturating_sub(bytes));
    }
    sent
}

/// Open MPI's own messages contain the job's number in decimal digits, which is related to the
/// launcher's process identifier: if two runs are on both sides of a power of ten, which is rare,
/// the next two are not.
#[test]
fn point_to_point_is_what_open_mpi_counts_but_for_its_own_messages() {
    for ranks in [2, 5, 8] {
        let forms = job(ranks, "p2p_forms", &["once".to_owned()]);
        let found = pairs(&profiled(forms).point_to_point);
        let mut expected = sent_point_to_point(ranks);
        if expected != found {
            expected = sent_point_to_point(ranks);
        }
        assert_same_pairs(&found, &expected, "the library, Open MPI's monitoring");
    }
}

#[test]
fn one_sided_traffic_is_what_open_mpi_counts_but_for_the_requests_of_gets() {
    for ranks in [4, 5] {
        let (outcome, truth) = monitored(job(ranks, "one_sided", &[]));
        let requests = expected::matrix(&outcome.stdout, "requests", ranks);
        let mut expected = pairs(&truth.one_sided);
        for (&(from, to), (messages, _)) in &mut expected {
            *messages -= requests[from][to];
        }
        expected.retain(|_, &mut sent| sent != (0, 0));
        let profile = profiled(job(ranks, "one_sided", &[]));
        let what = "the library, Open MPI's monitoring";
        assert_same_pairs(&pairs(&profile.one_sided), &expected, what);
    }
}

// --- the thesis's benchmark ----------------------------------------------------

/// Messages of CG by the digest's generator A.5, which gives its matrix A.3.
fn cg_messages(ranks: usize, iterations: u64) -> Vec<Vec<u64>> {
    let rows = 1 << (ranks.ilog2() / 2);
    let columns = ranks / rows;
    let (sums, transposed) = (79 * (iterations + 1), 26 * (iterations + 1));
    let mut messages = vec![vec![0; ranks]; ranks];
    for (me, sent) in messages.iter_mut().enumerate() {
        let (row, column) = (me / columns, me % columns);
        let mut group = columns;
        while group > 1 {
            let partner = (column + group / 2) % group + column / group * group;
            sent[row * columns + partner] += sums;
            group /= 2;
        }
        let exchange = match columns == rows {
            true => me % rows * rows + me / rows,
            false => 2 * (me / 2 % rows * rows + me / 2 / rows) + me % 2,
        };
        sent[exchange] += transposed;
    }
    messages
}

fn messages_of(matrix: &TrafficMatrix) -> Vec<Vec<u64>> {
    let ranks = matrix.order();
    let row = |from| (0..ranks).map(|to| matrix.get(from, to).messages).collect();
    (0..ranks).map(row).collect()
}

#[test]
fn cg_on_8_ranks_gives_the_matrix_of_the_thesis_figure_2_4() {
    let profile = profiled(job(8, "cg", &["75".to_owned()]));
    let of_the_thesis = [
        [1976, 6004, 6004, 0, 0, 0, 0, 0],
        [6004, 1976, 0, 6004, 0, 0, 0, 0],
        [6004, 0, 0, 6004, 1976, 0, 0, 0],
        [0, 6004, 6004, 0, 0, 1976, 0, 0],
        [0, 0, 1976, 0, 0, 6004, 6004, 0],
        [0, 0, 0, 1976, 6004, 0, 0, 6004],
        [0, 0, 0, 0, 6004, 0, 1976, 6004],
        [0, 0, 0, 0, 0, 6004, 6004, 1976],
    ];
    assert_eq!(messages_of(&profile.point_to_point), of_the_thesis);
    assert_eq!(cg_messages(8, 75), of_the_thesis);
}

#[test]
fn cg_on_64_ranks_gives_the_generators_matrix() {
    let profile = profiled(job(64, "cg", &["0".to_owned()]));
    assert_eq!(messages_of(&profile.point_to_point), cg_messages(64, 0));
}

#[test]
fn cg_under_mpich_gives_the_generators_matrix() {
    let job = Job::new(Mpi::Mpich, 8, "cg").argument("0");
    assert_eq!(
        messages_of(&profiled(job).point_to_point),
        cg_messages(8, 0)
    );
}
