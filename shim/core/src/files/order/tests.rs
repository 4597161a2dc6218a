//! Orders as files, whole and not.

use super::*;
use crate::order::{Call, CallKind, Recorder};

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

/// Entries of a rank that received `count` messages, and what it did in all.
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
    let blocks = vec![crate::order::compress(&entries)];
    let log = Log::new(blocks, Ended::Well(totals)).unwrap();
    Order {
        run: run(number),
        program: program("racy", "01"),
        logs: vec![log.clone(), log],
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
            // Cut between two frames: what is left is a log that ends early.
            Ok(order) => assert!(!order.early().is_empty(), "cut at {at}"),
        }
    }
    fs::write(&path, "treepie: profile\n").unwrap();
    assert!(matches!(
        Order::read(&path),
        Err(OrderError::Strange { .. })
    ));
}

/// Writes a rank's file, with the last entries in its tail.
fn leave(directory: &Path, number: u64, rank: usize) {
    let (entries, _) = recorded(5);
    let (first, last) = entries.split_at(3);
    let file = [
        start_of_file(&run(number), &program("racy", "01")),
        start_of_rank(rank),
        block(first),
    ]
    .concat();
    fs::write(directory.join(block_file(rank)), file).unwrap();
    let head = [1u64, last.len() as u64].map(u64::to_le_bytes).concat();
    fs::write(
        directory.join(tail_file(rank)),
        [&head, last, &[0; 9]].concat(),
    )
    .unwrap();
}

#[test]
fn what_ranks_left_that_were_killed_is_read_with_its_tail_and_of_one_run_only() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    leave(directory, 7, 1);
    let order = Order::read(directory).unwrap();
    assert_eq!(order.early(), [0, 1]);
    assert_eq!(order.logs[1].counts.matches, 5);
    assert_eq!(order.logs[0].counts.matches, 0);
    leave(directory, 8, 0);
    assert!(matches!(
        Order::read(directory),
        Err(OrderError::OtherRun { .. })
    ));
    fs::write(directory.join("mine"), "").unwrap();
    remove_directory(directory);
    assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
}

#[test]
fn a_log_reaches_another_process_as_it_is() {
    let (entries, totals) = recorded(9);
    let log = Log::new(vec![crate::order::compress(&entries)], Ended::Well(totals)).unwrap();
    let other = decode_log(&encode_log(3, &log)).unwrap();
    assert_eq!((other.blocks(), other.ended()), (log.blocks(), log.ended()));
    assert!(decode_log(b"nothing").is_none());
}

#[test]
fn the_body_of_a_file_that_was_cut_off_has_whole_frames_alone() {
    let (entries, _) = recorded(5);
    let start = start_of_file(&run(7), &program("racy", "01"));
    let body = [start_of_rank(1), block(&entries)].concat();
    let file = [&start[..], &body].concat();
    assert_eq!(body_of(&file), Some(&body[..]));
    let cut_off = [&file[..], &block(&entries)[..7]].concat();
    assert_eq!(body_of(&cut_off), Some(&body[..]));
    assert_eq!(body_of(&start), None);
}
