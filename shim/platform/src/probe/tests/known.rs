//! Platforms that are known already, and clusters without some of their links.

use treepie_base::Cluster;

use super::simulated::{LAN, SimulatedLink, WAN, alone, grid, near, on_all, probed};
use crate::description::Platform;
use crate::link::Link;
use crate::partial::{GivenPlatform, PartialPlatform};
use crate::probe::{Options, check, complete};

#[test]
fn a_platform_that_was_measured_elsewhere_is_told_from_one_that_fits() {
    let platform = probed(alone(9), Options::default(), grid);
    let (same, known) = (platform.clone(), platform.clone());
    let answers = on_all(9, grid, move |messenger| check(messenger, &same, 2.0));
    assert_eq!(answers[0], Some(Ok(())));
    assert!(answers[1..].iter().all(Option::is_none));
    // The same hosts, five times as far from each other.
    let farther = |from, to| SimulatedLink {
        latency: 5.0 * grid(from, to).latency,
        ..grid(from, to)
    };
    let answers = on_all(9, farther, move |messenger| check(messenger, &known, 2.0));
    let error = answers[0].clone().unwrap().unwrap_err().to_string();
    assert!(
        error.starts_with("does not fit what is here: from cluster"),
        "{error}"
    );
    // Other hosts.
    let names = |name: &str| vec![name.to_owned(); 9];
    let error = platform.for_job(&names("m1")).unwrap_err().to_string();
    assert!(error.starts_with("was measured on other hosts: it does not know m1"));
}

/// The clusters of [`grid`] from elsewhere, by the names of hosts.
fn named_clusters() -> PartialPlatform {
    let of = |cluster: usize| {
        let ranks = (0..9).filter(|rank| rank % 3 == cluster);
        ranks.map(|rank| (rank, format!("n{rank}"))).collect()
    };
    PartialPlatform::from_clusters(&[0, 1, 2].map(of)).unwrap()
}

fn completed(known: &PartialPlatform) -> Platform {
    let names: Vec<String> = (0..9).map(|rank| format!("n{rank}")).collect();
    let GivenPlatform::Partial(known) = known.for_job(&names).unwrap() else {
        panic!("links are missing");
    };
    let reports = on_all(9, grid, move |messenger| {
        let identity = &alone(9)[messenger.rank];
        complete(messenger, identity, &Options::default(), &known).unwrap()
    });
    reports.into_iter().next().unwrap().unwrap().platform
}

#[test]
fn of_clusters_from_elsewhere_the_links_are_measured_and_no_latencies_between_hosts() {
    let platform = completed(&named_clusters());
    let clusters = [0, 1, 2].map(Cluster);
    let ranks = clusters.map(|cluster| platform.ranks_of(cluster));
    assert_eq!(ranks, [[0, 3, 6], [1, 4, 7], [2, 5, 8]]);
    for from in clusters {
        let within = platform.clusters()[from].within.as_ref().unwrap();
        near(within.latency(), LAN.latency, 0.05);
        for to in clusters.into_iter().filter(|&to| to != from) {
            near(platform.between(from, to).latency(), WAN.latency, 0.05);
        }
    }
    let probing = platform.contents().probing.as_ref().unwrap();
    assert_eq!(probing.latency_pairs, 0);
    assert!(probing.left_out.is_empty(), "{:?}", probing.left_out);
}

#[test]
fn links_that_are_known_stay_and_only_those_that_are_missing_are_measured() {
    let mut contents = named_clusters().contents().clone();
    let slow = Link::linear(1.0, 1e-3, 1e-6).unwrap();
    let [first, lyon, last] = [0, 1, 2].map(Cluster);
    contents.clusters[lyon].name = "lyon".to_owned();
    contents.clusters[lyon].within = Some(slow.clone());
    contents.links.insert((last, first), slow.clone());
    let platform = completed(&PartialPlatform::new(contents).unwrap());
    assert_eq!(platform.clusters()[lyon].name, "lyon");
    assert_eq!(platform.clusters()[lyon].within, Some(slow.clone()));
    assert_eq!(platform.between(first, last), &slow);
    assert_eq!(platform.between(last, first), &slow);
    near(platform.between(first, lyon).latency(), WAN.latency, 0.05);
    let within = platform.clusters()[first].within.as_ref().unwrap();
    near(within.latency(), LAN.latency, 0.05);
}

#[test]
fn clusters_from_elsewhere_without_a_host_of_the_job_are_refused_by_its_name() {
    let error = named_clusters().for_job(&["m7".to_owned()]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("does not know m7, where rank 0 runs")
    );
    // If the job runs on one host of each of two clusters, no link inside is missing.
    let given = named_clusters().for_job(&["n4".to_owned(), "n2".to_owned()]);
    let GivenPlatform::Partial(partial) = given.unwrap() else {
        panic!("the link between is missing");
    };
    assert_eq!(partial.contents().clusters.len(), 2);
}
