#![allow(clippy::unwrap_used)]
use std::path::Path;

use treepie_base::{Process, Rank};
use treepie_collective::size_class;
use treepie_platform::file::PlatformFile;
use treepie_profile::{Host, Profile, WindowUse};
use treepie_traffic::Traffic;
use treepie_traffic::windows::{Access, Accesses, EpochKind, WindowCall};

use crate::windows::judged::judgement::*;

const PLATFORM: &str = "\
treepie: platform
version: 1
hosts:
- {name: n0, ranks: 0}
- {name: n1, ranks: 1}
- {name: n2, ranks: 2}
- {name: n3, ranks: 3}
clusters:
- name: a
  hosts: [n0, n1, n2, n3]
  leader: 0
  within:
    latency_us: 50
    samples: [0 5, 1000 10]
    ways:
      epochs_us: {fence: 300, lock: 400, lock-all: 100, start: 150}
      put: [8 100 20, 1024 110 25]
      put-joined: [8 120 0.5, 1024 130 10]
";

fn access(call: WindowCall, calls: u64, bytes: u64, intervals: u64) -> (Access, Accesses) {
    let access = Access {
        epoch: EpochKind::Fence,
        call,
        is_contiguous: true,
        size_class: size_class(bytes / calls.max(1)),
        target: 1,
    };
    let traffic = Traffic::new(calls, bytes);
    (access, Accesses { traffic, intervals })
}

/// Rank 0 puts pieces to rank 1 in each of 10 fences of all four ranks.
fn profile(pieces: u64) -> Profile {
    profile_of(WindowCall::Put, pieces, 0)
}

/// Rank 0 makes calls of this kind to rank 1, `fetches` of which also fetch.
fn profile_of(call: WindowCall, pieces: u64, fetches: u64) -> Profile {
    let mut profile = Profile::new(4);
    profile.hosts = (0..4)
        .map(|rank| Host {
            name: format!("n{rank}"),
            processes: vec![Process(rank)],
        })
        .collect();
    let mut window = WindowUse::new((0..4).map(Rank).collect(), 0);
    let opened = access(WindowCall::Open, 11, 0, 11);
    let calls = 10 * pieces;
    let mut accesses = vec![opened, access(call, calls, 8 * calls, 10)];
    if fetches > 0 {
        accesses.push(access(WindowCall::Fetch, fetches, 8 * fetches, 10));
    }
    window.add_rank(&accesses);
    for _ in 1..4 {
        window.add_rank(&[opened]);
    }
    profile.windows.push(window);
    profile.one_sided.add(0, 1, Traffic::new(calls, 8 * calls));
    profile
}

fn judgement(pieces: u64) -> Judgement {
    let file = PlatformFile::from_text(Path::new("p.yaml"), PLATFORM).unwrap();
    judge(&profile(pieces), "p.yaml", &file.platform).unwrap()
}

#[test]
fn many_small_puts_at_a_time_are_to_be_joined() {
    let judgement = judgement(101);
    let judged = &judgement.epochs[0];
    let near = |found: f64, microseconds: f64| {
        assert!((found * 1e6 - microseconds).abs() < 1e-6, "{found}");
    };
    // 44 fences in two rounds; 10 times 100 further puts, or 20 us more and 100 further copies.
    let fences = 44.0 * 300.0 * 2.0;
    near(judged.now, (fences + 10.0 * 2000.0) / 4.0);
    near(
        judged.joined.unwrap(),
        (fences + 10.0 * (20.0 + 50.0)) / 4.0,
    );
    near(
        judged.otherwise[&EpochKind::LockAll],
        (1000.0 + 20_000.0) / 4.0,
    );
    let file = PlatformFile::from_text(Path::new("p.yaml"), PLATFORM).unwrap();
    let mut under_locks = profile(101);
    let mut epoch = under_locks.windows[0]
        .epochs
        .remove(&EpochKind::Fence)
        .unwrap();
    (epoch.opened, epoch.flushes) = (1, 10);
    under_locks.windows[0]
        .epochs
        .insert(EpochKind::LockAll, epoch);
    let judgement = judge(&under_locks, "p.yaml", &file.platform).unwrap();
    assert_eq!(
        judgement.worst,
        [
            "0-3 #0, lock-all, 5.35 ms a rank: 101 puts of 8 B at a time to a target; join them \
          (TREEPIE_ONE_SIDED=gather, or one put with a datatype): 525 us"
        ]
    );
}

#[test]
fn accumulates_are_judged_as_puts_are_but_for_those_that_fetch() {
    let file = PlatformFile::from_text(Path::new("p.yaml"), PLATFORM).unwrap();
    let judged = |fetches| {
        let profile = profile_of(WindowCall::Accumulate, 101, fetches);
        judge(&profile, "p.yaml", &file.platform)
            .unwrap()
            .epochs
            .remove(0)
    };
    let (plain, half, all) = (judged(0), judged(505), judged(1010));
    let saved = |judged: &JudgedEpochs| judged.joined.map(|joined| judged.now - joined);
    // Without accumulates in the platform's methods, 100 further ones take 5 us each, and joined
    // with their headers those of one of 2.4 kB.
    assert!(saved(&plain).unwrap() > 0.0);
    assert!(saved(&half).unwrap() < 0.6 * saved(&plain).unwrap());
    assert_eq!(all.joined, None);
}

#[test]
fn fences_of_all_for_one_partner_are_to_be_other_epochs() {
    let judgement = judgement(1);
    assert_eq!(
        judgement.worst,
        [
            "0-3 #0, fence, 6.60 ms a rank: each fence is of all 4 ranks; lock once \
          (MPI_Win_lock_all) and flush each target: 250 us"
        ]
    );
}

#[test]
fn a_profile_of_an_earlier_version_gets_one_line() {
    let file = PlatformFile::from_text(Path::new("p.yaml"), PLATFORM).unwrap();
    let mut earlier = profile(101);
    for epoch in earlier.windows[0].epochs.values_mut() {
        epoch.batches = 0;
    }
    let text = judge(&earlier, "p.yaml", &file.platform).unwrap().text();
    assert!(
        text.starts_with("nothing is estimated on p.yaml: "),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn a_platform_of_other_hosts_is_refused() {
    let text = PLATFORM.replace("n3", "m3");
    let file = PlatformFile::from_text(Path::new("p.yaml"), &text).unwrap();
    let error = judge(&profile(1), "p.yaml", &file.platform).unwrap_err();
    assert!(error.to_string().contains("it does not know n3"), "{error}");
}
