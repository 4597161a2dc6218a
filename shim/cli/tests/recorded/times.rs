//! Time in MPI, by class of calls and by rank.

use std::collections::BTreeMap;

use treepie_profile::Times;
use treepie_traffic::times::{CallClass, CallTime};

use crate::support::Desk;
use crate::{desk_with, in_phases};

#[test]
fn times_are_shown_by_class_of_calls_and_by_rank() {
    let mut profile = in_phases();
    let time = |calls, milliseconds: u64| CallTime {
        calls,
        nanoseconds: milliseconds * 1_000_000,
    };
    profile.times = Some(Times {
        elapsed: vec![1_000_000_000; 4].into(),
        classes: BTreeMap::from([
            (
                CallClass::Send,
                vec![time(4, 100), time(4, 100), time(4, 100), time(4, 300)].into(),
            ),
            (
                CallClass::Wait,
                vec![time(1, 0), time(1, 200), time(1, 100), time(1, 100)].into(),
            ),
        ]),
    });
    let desk = desk_with(&profile);
    let answer = desk.run(&["show", "app.profile.yaml"]).good().out;
    let expected = "
time in MPI: 1 s of 4 s, 25.0 %, all ranks together
  calls  number  bytes  seconds  of MPI  of all  least   most  at rank
  send       16  8 KiB    0.600  60.0 %  15.0 %  0.100  0.300        3
  wait        4    0 B    0.400  40.0 %  10.0 %  0.000  0.200        1

  rank  seconds  in MPI   share
  0       1.000   0.100  10.0 %
  1       1.000   0.300  30.0 %
  2       1.000   0.200  20.0 %
  3       1.000   0.400  40.0 %
";
    assert!(answer.ends_with(expected), "{answer}");
}

#[test]
fn two_profiles_with_times_are_compared_in_seconds() {
    let desk = Desk::new();
    for (name, seconds) in [("before", 4), ("after", 3)] {
        let mut profile = in_phases();
        let time = CallTime {
            calls: 1,
            nanoseconds: 500_000_000 * seconds,
        };
        profile.times = Some(Times {
            elapsed: vec![1_000_000_000, 1, 1, 1_000_000_000 * seconds].into(),
            classes: BTreeMap::from([(CallClass::Send, vec![time; 4].into())]),
        });
        let file = desk.path(&format!("{name}.profile.yaml"));
        profile.write(&file).unwrap();
    }
    let words = ["compare", "before.profile.yaml", "after.profile.yaml"];
    let answer = desk.run(&words).good().out;
    let expected = "
  time of the slowest rank       before  after  change
  from MPI_Init to MPI_Finalize     4 s    3 s  -25.0 %
  in MPI                            2 s  1.50 s  -25.0 %
";
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain(&answer).ends_with(&plain(expected)), "{answer}");
}
