//! `treepie probe` with clusters from other tools.
#![allow(clippy::unwrap_used)]

mod support;

use support::Desk;
use treepie_platform::GivenPlatform;
use treepie_platform::file::PlatformFile;

/// Clusters from other tools become a file that a job completes, if it has names of hosts.
#[test]
fn clusters_from_elsewhere_are_written_with_the_names_of_hosts() {
    let desk = Desk::new();
    desk.write("named.csv", "a1,a2,b1\n0,50,9000\n50,0,9000\n9000,9000,0\n");
    desk.write("bare.csv", "0,50,9000\n50,0,9000\n9000,9000,0\n");
    desk.write("magpie", "cluster 0\nprocess 0 1\ncluster 1\nprocess 2\n");
    let names = ["a1", "a1", "b1"].map(str::to_owned);
    for (arguments, expected) in [
        (
            &["--latencies", "named.csv"][..],
            [vec!["a1", "a2"], vec!["b1"]],
        ),
        (
            &["--latencies", "bare.csv", "--hosts", "a1,x,b1"],
            [vec!["a1", "x"], vec!["b1"]],
        ),
        (
            &["--clusters", "magpie", "--hosts", "a1,a1,b1"],
            [vec!["a1"], vec!["b1"]],
        ),
    ] {
        let answer = desk
            .run(&[&["probe", "-o", "p.yaml"], arguments].concat())
            .good();
        assert!(
            answer.out.contains("measures the links that are missing"),
            "{}",
            answer.out
        );
        let given = PlatformFile::given(&desk.path("p.yaml"), &desk.text("p.yaml")).unwrap();
        let GivenPlatform::Partial(partial) = &given else {
            panic!("links are missing");
        };
        let contents = partial.contents();
        let hosts = contents.clusters.iter().map(|cluster| {
            let names = cluster
                .hosts
                .iter()
                .map(|&host| contents.hosts[host].name.as_str());
            names.collect::<Vec<_>>()
        });
        assert_eq!(hosts.collect::<Vec<_>>(), expected);
        assert!(given.for_job(&names).is_ok());
    }
    let few = [
        "probe",
        "--latencies",
        "bare.csv",
        "--hosts",
        "a1",
        "-o",
        "p.yaml",
    ];
    let refusal = desk.run(&few).refusal(2);
    assert_eq!(
        refusal,
        "--hosts: names 1 host, and there are 3; name each in its order"
    );
    let none = ["probe", "--clusters", "magpie", "-o", "p.yaml"];
    let refusal = desk.run(&none).refusal(2);
    assert!(
        refusal.starts_with("--clusters: there are no links"),
        "{refusal}"
    );
    let split = [
        "probe",
        "--clusters",
        "magpie",
        "--hosts",
        "a1,b1,b1",
        "-o",
        "p.yaml",
    ];
    let refusal = desk.run(&split).refusal(1);
    assert!(refusal.contains("the host b1 is listed twice"), "{refusal}");
}
