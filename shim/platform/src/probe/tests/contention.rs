//! Contention of clusters, by exchanges of all of their ranks.

use super::simulated::{SimulatedLink, alone, grid, near, probed};
use crate::contention::Contention;
use crate::description::Platform;
use crate::probe::Options;

/// A network with this response to a total exchange in each of the three clusters of [`grid`].
fn congested(
    contention: Contention,
) -> impl Fn(usize, usize) -> SimulatedLink + Send + Clone + 'static {
    move |from, to| SimulatedLink {
        contention,
        ..grid(from, to)
    }
}

#[test]
fn the_contention_of_each_cluster_is_found_when_asked_for() {
    let options = Options {
        exchange: true,
        ..Options::default()
    };
    let truth = Contention {
        gamma: 2.5,
        delta: 2e-3,
        threshold: 16 << 10,
        ranks: 0,
    };
    let platform = probed(alone(24), options, congested(truth));
    for cluster in platform.clusters() {
        let found = cluster.contention.unwrap();
        near(found.gamma, truth.gamma, 0.1);
        near(found.delta, truth.delta, 0.2);
        assert_eq!((found.threshold, found.ranks), (truth.threshold, 8));
    }
    let plain = probed(alone(24), Options::default(), congested(truth));
    assert!(
        plain
            .clusters()
            .iter()
            .all(|cluster| cluster.contention.is_none())
    );
}

#[test]
fn clusters_that_no_exchange_fills_get_no_contention_and_a_line_that_says_why() {
    let options = |budget: f64| Options {
        exchange: true,
        budget,
        ..Options::default()
    };
    let lines = |platform: &Platform| {
        assert!(
            platform
                .clusters()
                .iter()
                .all(|cluster| cluster.contention.is_none())
        );
        let probing = platform.contents().probing.as_ref().unwrap();
        let of = |line: &&String| line.starts_with("contention of cluster");
        probing
            .left_out
            .iter()
            .filter(of)
            .cloned()
            .collect::<Vec<String>>()
    };
    // Two ranks in each cluster.
    let few = lines(&probed(alone(6), options(60.0), grid));
    assert_eq!(few.len(), 3);
    assert!(
        few[0].starts_with("contention of cluster0: it has 2 of the 3 ranks"),
        "{few:?}"
    );
    // An exchange that is faster than the links allow.
    let quick = Contention {
        gamma: 0.2,
        ..Contention::NONE
    };
    let idle = lines(&probed(alone(24), options(60.0), congested(quick)));
    assert_eq!(idle.len(), 3);
    assert!(
        idle[0].contains("did not fill the links; nothing is stored"),
        "{idle:?}"
    );
    // No time.
    let late = lines(&probed(alone(24), options(1.0), grid));
    assert_eq!(late.len(), 3);
    assert!(
        late[0].ends_with("nothing is stored, give a longer --time-limit"),
        "{late:?}"
    );
}
