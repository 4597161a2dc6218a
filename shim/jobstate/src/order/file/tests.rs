//! Orders as files, complete and damaged.

use std::fs;
use std::path::Path;

use treepie_base::Rank;
use treepie_profile::partial_profiles::RunDescription;

use super::frame::MAGIC;
use super::*;
use crate::order::log::compress;
use crate::order::{Call, CallKind, Ended, Log, Recorder, Totals};

fn run(number: u64) -> RunDescription {
    RunDescription {
        run: number,
        ranks: 2,
        command: vec!["/somewhere/racy".to_owned(), "40".to_owned()],
        ..RunDescription::default()
    }
}

fn program(name: &str, build: &str) -> Program {
    Program {
        name: name.to_owned(),
        build: Some(build.to_owned()),
    }
}

/// Returns the entries of a rank that received `count` messages, and its totals.
fn recorded(count: u64) -> (Vec<u8>, Totals) {
    let mut recorder = Recorder::default();
    for number in 0..count {
        recorder.post(&Call {
            kind: CallKind::Recv,
            communicator: Some(0),
            count: 1,
        });
        recorder.matched(number, number as i32 % 3, None);
    }
    let totals = recorder.end();
    (recorder.bytes, totals)
}

fn whole(number: u64) -> Order {
    let (entries, totals) = recorded(5);
    let blocks = vec![compress(&entries)];
    let log = Log::new(blocks, Ended::Well(totals)).unwrap();
    Order {
        run: run(number),
        program: program("racy", "01"),
        logs: vec![log.clone(), log].into(),
    }
}

#[test]
fn an_order_has_as_many_ranks_as_its_bytes_are_worth() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.order");
    for (ranks, is_read) in [(100_000, true), (1 << 26, false), (usize::MAX, false)] {
        let run = RunDescription { ranks, ..run(7) };
        write_bodies(&path, &run, &program("racy", "01"), &[]).unwrap();
        match Order::read(&path) {
            Ok(order) => assert!(is_read && order.logs.len() == ranks),
            Err(error) => {
                let said = error.to_string();
                assert!(
                    !is_read && said.contains(&format!("{ranks} ranks would take")),
                    "{said}"
                );
            }
        }
    }
}

#[test]
fn an_order_is_read_as_it_was_written_and_refused_where_it_does_not_fit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.order");
    whole(7).write(&path).unwrap();
    assert!(is_order(&path));
    let order = Order::read(&path).unwrap();
    assert_eq!((order.run, order.logs.len()), (run(7), 2));
    assert!(order.logs.iter().all(|log| log.counts.matches == 5));
    let order = whole(7);
    assert!(order.early().is_empty() && order.check(&path, 2).is_ok());
    let other = order.check(&path, 3).unwrap_err().to_string();
    assert!(
        other.contains("is the order of 2 ranks, and the job has 3"),
        "{other}"
    );
    assert!(order.check_program(&path, &program("racy", "02")).is_ok());
    assert!(order.check_program(&path, &program("copy", "01")).is_ok());
    let family = &order.run.mpi.family;
    assert!(
        order
            .check_build(&path, &program("copy", "01"), family)
            .is_ok()
    );
    assert!(
        order
            .check_build(&path, &program("racy", "02"), "other")
            .is_ok()
    );
    let rebuilt = order.check_build(&path, &program("racy", "02"), family);
    let rebuilt = rebuilt.unwrap_err().to_string();
    assert!(rebuilt.contains("another build of racy (01, and this is 02)"));
    let other = order
        .check_program(&path, &program("other", "02"))
        .unwrap_err()
        .to_string();
    assert!(
        other.contains("a run of racy, and this is other"),
        "{other}"
    );
}

#[test]
fn a_file_that_was_cut_off_or_changed_anywhere_is_refused_in_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.order");
    whole(7).write(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    for at in MAGIC.len() + 1..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        fs::write(&path, &changed).unwrap();
        assert!(Order::read(&path).is_err(), "byte {at} changed");
        fs::write(&path, &bytes[..at]).unwrap();
        match Order::read(&path) {
            Err(error) => assert!(!error.to_string().contains('\n')),
            // Cut between two frames: the rest is a log that ends early.
            Ok(order) => assert!(!order.early().is_empty(), "cut at {at}"),
        }
    }
    fs::write(&path, "treepie: profile\n").unwrap();
    assert!(matches!(
        Order::read(&path),
        Err(OrderError::Strange { .. })
    ));
}

/// Writes the files of a host of these ranks, whose last entries are in their tails.
fn leave(directory: &Path, number: u64, ranks: &[Rank]) {
    let (entries, _) = recorded(5);
    let (first, last) = entries.split_at(3);
    let mut blocks = start_of_file(&run(number), &program("racy", "01"));
    let mut tails = Vec::new();
    for &rank in ranks {
        blocks.extend([start_of_rank(rank), block(first)].concat());
        let head = [rank.0 as u64 + 1, 1, last.len() as u64];
        let mut tail = [&head.map(u64::to_le_bytes).concat(), last].concat();
        tail.resize(TAIL, 0);
        tails.extend(tail);
    }
    fs::write(directory.join(block_file(ranks[0])), blocks).unwrap();
    fs::write(directory.join(tail_file(ranks[0])), tails).unwrap();
}

fn matches(order: &Order) -> Vec<u64> {
    order.logs.iter().map(|log| log.counts.matches).collect()
}

#[test]
fn what_ranks_left_that_were_killed_is_read_with_their_tails_and_of_one_run_only() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    leave(directory, 7, &[Rank(1)]);
    let order = Order::read(directory).unwrap();
    assert_eq!(
        (order.early(), matches(&order)),
        ([0, 1].map(Rank).to_vec(), vec![0, 5])
    );
    leave(directory, 8, &[Rank(0)]);
    assert!(matches!(
        Order::read(directory),
        Err(OrderError::OtherRun { .. })
    ));
    leave(directory, 7, &[Rank(0)]);
    assert_eq!(matches(&Order::read(directory).unwrap()), [5, 5]);
    fs::write(directory.join("mine"), "").unwrap();
    remove_directory(directory);
    assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
}

#[test]
fn a_host_whose_blocks_or_tails_were_cut_off_anywhere_has_the_rest_of_its_ranks() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    leave(directory, 7, &[0, 1].map(Rank));
    let path = directory.join(block_file(Rank(0)));
    let bytes = fs::read(&path).unwrap();
    let start = start_of_file(&run(7), &program("racy", "01")).len();
    let (entries, _) = recorded(5);
    let of_one = start_of_rank(Rank(0)).len() + block(&entries[..3]).len();
    // Rank 0's last bytes are missing, as after a kill; rank 1 has continued.
    for missing in 1..of_one {
        let end = start + of_one - missing;
        fs::write(&path, [&bytes[..end], &bytes[start + of_one..]].concat()).unwrap();
        let order = Order::read(directory).unwrap();
        // The tail follows a block that is missing.
        assert_eq!(matches(&order), [0, 5], "{missing} bytes missing");
    }
    fs::write(&path, &bytes).unwrap();
    let tails = directory.join(tail_file(Rank(0)));
    let all = fs::read(&tails).unwrap();
    for (length, expected) in [
        (all.len(), [5, 5]),
        (TAIL + 25, [5, 3]),
        (10, [3, 3]),
        (0, [3, 3]),
    ] {
        fs::write(&tails, &all[..length]).unwrap();
        assert_eq!(matches(&Order::read(directory).unwrap()), expected);
    }
}

#[test]
fn a_log_reaches_another_process_as_it_is() {
    let (entries, totals) = recorded(9);
    let log = Log::new(vec![compress(&entries)], Ended::Well(totals)).unwrap();
    let other = decode_log(&encode_log(Rank(3), &log)).unwrap();
    assert_eq!((other.blocks(), other.ended()), (log.blocks(), log.ended()));
    assert!(decode_log(b"nothing").is_none());
}
