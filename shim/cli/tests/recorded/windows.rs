//! One-sided communication, by window and kind of epoch.

use treepie_base::Rank;
use treepie_collective::size_class;
use treepie_profile::{Profile, WindowUse};
use treepie_traffic::Traffic;
use treepie_traffic::windows::{Access, Accesses, EpochKind, WindowCall};

use crate::{desk_with, in_phases};

/// A window of 4 ranks: fences with puts around the ring, and a lock under which no data moved.
fn with_window() -> Profile {
    let mut profile = in_phases();
    profile.phases.clear();
    let access = |epoch, call, bytes, target| Access {
        epoch,
        call,
        is_contiguous: target != 0,
        size_class: size_class(bytes),
        target,
    };
    let calls = |number, bytes, intervals| Accesses {
        traffic: Traffic::new(number, bytes),
        intervals,
    };
    let mut window = WindowUse::new((0..4).map(Rank).collect(), 0);
    for rank in 0..4 {
        let target = (rank + 1) % 4;
        window.add_rank(&[
            (
                access(EpochKind::Fence, WindowCall::Open, 0, 0),
                calls(3, 0, 3),
            ),
            (
                access(EpochKind::Fence, WindowCall::Put, 100, target),
                calls(2, 200, 2),
            ),
            (
                access(EpochKind::Fence, WindowCall::Put, 1024, target),
                calls(5, 5120, 3),
            ),
            (
                access(EpochKind::Lock, WindowCall::Open, 0, 0),
                calls(1, 0, 1),
            ),
            (
                access(EpochKind::Lock, WindowCall::Flush, 0, 0),
                calls(2, 0, 2),
            ),
        ]);
    }
    profile.windows = vec![window];
    profile
}

#[test]
fn one_sided_epochs_are_shown_by_window_as_text_json_and_html() {
    let desk = desk_with(&with_window());
    let answer = desk.run(&["show", "app.profile.yaml"]).good().out;
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "one-sided communication, by window and kind of epoch
  window of ranks  epochs                  calls   bytes       sizes  not contiguous  pairs  most targets  at a time
  0-3 #0  12 fence  28 put  20.8 KiB  from 64 B to 1 KiB, most 1 KiB  25.0 %  4  1  2
  0-3 #0  4 lock, 8 flushes  -  -  -  -  -  -  -";
    assert!(plain(&answer).contains(&plain(expected)), "{answer}");
    let json = desk
        .run(&["show", "app.profile.yaml", "--json"])
        .good()
        .json();
    let fences = &json["windows"][0]["epochs"]["fence"];
    assert_eq!(fences["moved"]["put"]["sizes"]["1024"], 20);
    desk.run(&["report", "app.profile.yaml", "-o", "app.html"])
        .good();
    let page = std::fs::read_to_string(desk.path("app.html")).unwrap();
    assert!(page.contains("One-sided communication") && page.contains("12 fence"));
}
