//! Loads of ranks for the balancers: as a list, or their time outside MPI.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;

use support::Desk;
use treepie_base::Process;
use treepie_profile::{Host, Phase, Profile, Times};
use treepie_traffic::times::{CallClass, CallTime};
use treepie_traffic::{Traffic, TrafficMatrix};

const BALANCE: [&str; 6] = [
    "map",
    "app.profile.yaml",
    "-s",
    "tmlb-min-weight",
    "--topology",
    "2",
];

/// Four ranks in ten seconds; `in_mpi` has the seconds of each in MPI.
fn times(in_mpi: [u64; 4]) -> Times {
    let receives = in_mpi.map(|seconds| CallTime {
        calls: 1,
        nanoseconds: seconds * 1_000_000_000,
    });
    Times {
        elapsed: vec![10_000_000_000; 4].into(),
        classes: BTreeMap::from([(CallClass::Receive, receives.to_vec().into())]),
    }
}

/// Ranks 0 and 1 compute for 9 seconds and the others for 1; in its phase, ranks 0 and 2.
fn measured() -> Profile {
    let mut profile = Profile::new(4);
    profile.mpi.family = "mpich".into();
    profile.allowed_cores = vec!["0-1".into(); 4].into();
    profile.hosts.push(Host {
        name: "node".into(),
        processes: (0..4).map(Process).collect(),
    });
    profile.point_to_point.add(0, 1, Traffic::new(1, 100));
    profile.times = Some(times([1, 1, 9, 9]));
    profile.phases.push(Phase {
        name: "1".into(),
        point_to_point: profile.point_to_point.clone(),
        one_sided: TrafficMatrix::new(4),
        neighbourhood: TrafficMatrix::new(4),
        times: Some(times([1, 9, 1, 9])),
        ..Phase::default()
    });
    profile
}

/// The core of each rank on two cores by the loads in these options, and the text of the answer.
fn balanced(desk: &Desk, options: &[&str]) -> (Vec<u64>, String) {
    let text = desk.run(&[&BALANCE[..], options].concat()).good().out;
    let json = desk
        .run(&[&BALANCE[..], options, &["--json"]].concat())
        .good()
        .json();
    let cores = json["assignment"].as_array().unwrap();
    (
        cores.iter().map(|core| core.as_u64().unwrap()).collect(),
        text,
    )
}

#[test]
fn a_balancer_takes_the_time_outside_mpi_where_no_loads_are_listed() {
    let desk = Desk::new();
    measured().write(&desk.path("app.profile.yaml")).unwrap();
    let (cores, text) = balanced(&desk, &[]);
    assert!(cores[0] != cores[1], "{cores:?}");
    let line = "load of a core (seconds outside MPI): 10 on average; the most 18 before, 11 after;";
    assert!(text.contains(line), "{text}");
    let (cores, _) = balanced(&desk, &["--phase", "1"]);
    assert!(cores[0] != cores[2], "{cores:?}");
    desk.write("loads", "5 1 1 5");
    let (cores, text) = balanced(&desk, &["--loads", "loads"]);
    assert!(cores[0] != cores[3], "{cores:?}");
    assert!(text.contains("load of a core: 6 on average"), "{text}");
}

#[test]
fn a_balancer_without_loads_says_what_it_needs() {
    let desk = Desk::new();
    let mut profile = measured();
    profile.times = None;
    profile.write(&desk.path("app.profile.yaml")).unwrap();
    let line = desk.run(&BALANCE).refusal(1);
    assert!(line.contains("tmlb-min-weight balances loads"), "{line}");
}
