//! Pages made word by word, and the result of reading them.
#![allow(clippy::unwrap_used)]
use std::path::Path;
use treepie_base::{Rank, budget};

use super::layout::{self, AREAS_AT, COMMUNICATORS_AT, INSIDE, MAGIC, NUMBER_SHIFT, WORDS, pack};
use super::layout::{REQUEST, REQUESTS_AT, STARTED, area, communicator, header, request_place};
use super::page::*;
use super::{decode, process_of_stat};
use crate::waits::{Activity, Members, Operation, Partner, communicator_key};

const NAMES: &str = "MPI_Recv receive\nMPI_Bcast collective Bcast\nMPI_Finalize finalize\n\
                     MPI_Isend send\nMPI_Send_init send-init\n";

/// Returns the page of rank 1 of 3, whose only thread is in the procedure of this number.
fn words(procedure: u64) -> Vec<u64> {
    let mut words = vec![0; WORDS];
    words[0] = MAGIC;
    for (at, value) in [
        (header::VERSION, layout::VERSION),
        (header::WORDS, WORDS as u64),
        (header::RUN, 77),
        (header::RANKS, 3),
        (header::RANK, 1),
        (header::HANDLE_MASK, 0xffff_ffff),
        (header::ANY_SOURCE, -2i64 as u64),
        (header::ANY_TAG, -1i64 as u64),
        (header::PROC_NULL, -1i64 as u64),
        (header::NAMES, NAMES.len() as u64),
        (AREAS_AT + area::THREAD, 1),
        (
            AREAS_AT + area::CALL,
            5 << NUMBER_SHIFT | INSIDE | procedure,
        ),
        (AREAS_AT + area::COMM, 0xdead_0000_4400_0000),
        (AREAS_AT + area::DEST, 2),
        (AREAS_AT + area::SOURCE_TAG, pack(0, 9)),
        (COMMUNICATORS_AT + communicator::HANDLE, 0x4400_0000),
        (
            COMMUNICATORS_AT + communicator::KEY,
            communicator_key(&[0, 1, 2], 1),
        ),
        (COMMUNICATORS_AT + communicator::SIZE, 3),
        (COMMUNICATORS_AT + communicator::STRIDE, 1),
    ] {
        words[at] = value;
    }
    words
}

fn bytes(words: &[u64]) -> Vec<u8> {
    let words = words.iter().flat_map(|word| word.to_ne_bytes());
    words.chain(NAMES.bytes()).collect()
}

/// Returns the one operation that the thread waits for.
fn operation(words: &[u64]) -> Operation {
    let page = decode(&bytes(words)).unwrap();
    match &page.state.threads[..] {
        [thread] => match &thread.activity {
            Activity::Waits { operations, .. } => operations[0].clone(),
            activity => panic!("{activity:?}"),
        },
        threads => panic!("{threads:?}"),
    }
}

#[test]
fn a_receive_is_read_with_its_source_and_tag_and_wildcards_are_those_of_the_mpi() {
    let world = communicator_key(&[0, 1, 2], 1);
    let mut words = words(0);
    let Operation::Receive(receive) = operation(&words) else {
        panic!("a receive");
    };
    assert_eq!(
        (receive.partner, receive.tag),
        (Partner::Rank(Rank(0)), Some(9))
    );
    assert_eq!(receive.communicator, Some(world));
    words[AREAS_AT + area::SOURCE_TAG] = pack(-2, -1);
    let Operation::Receive(receive) = operation(&words) else {
        panic!("a receive");
    };
    assert_eq!((receive.partner, receive.tag), (Partner::Any, None));
}

#[test]
fn a_collective_is_read_with_its_number_and_root() {
    let mut words = words(1);
    words[COMMUNICATORS_AT + communicator::DONE] = 4;
    let Operation::Collective(call) = operation(&words) else {
        panic!("a collective");
    };
    assert_eq!((call.number, call.root), (4, Some(2)));
    assert_eq!(call.operation, "MPI_Bcast");
}

#[test]
fn requests_that_a_rank_in_finalize_never_completed_are_read_and_persistent_ones_if_started() {
    let mut words = words(2);
    let mut put = |place: usize, request: u64, what: u64| {
        let at = REQUESTS_AT + place * REQUEST;
        words[at..at + REQUEST].copy_from_slice(&[request, what, 0x4400_0000, pack(0, 9)]);
    };
    put(request_place(0x98), 0x98, 3);
    put(request_place(0x99), 0, 3);
    put(request_place(0x9a), 0x9a, 4);
    put(request_place(0x9b), 0x9b, 4 | STARTED);
    let read = |words: &[u64]| decode(&bytes(words)).unwrap().state.incomplete;
    let found: Vec<String> = read(&words).into_iter().map(|one| one.procedure).collect();
    assert_eq!(found, ["MPI_Isend", "MPI_Send_init"]);
    words[AREAS_AT + area::CALL] = 5 << NUMBER_SHIFT | INSIDE;
    assert_eq!(read(&words), []);
}

#[test]
fn pages_of_other_versions_and_those_that_are_cut_off_or_damaged_are_refused() {
    let whole = bytes(&words(0));
    assert_eq!(decode(&[]), Err(PageError::NoPage));
    assert_eq!(decode(&whole[8..]), Err(PageError::NoPage));
    for length in [16, 200, WORDS * 8, whole.len() - 1] {
        let cut = decode(&whole[..length]);
        let short = matches!(
            cut,
            Err(PageError::Short { .. } | PageError::Version { .. })
        );
        assert!(short, "{length}: {cut:?}");
    }
    let with = |at: usize, value: u64| {
        let mut words = words(0);
        words[at] = value;
        decode(&bytes(&words)).unwrap_err()
    };
    assert_eq!(with(header::VERSION, 9), PageError::Version { found: 9 });
    assert!(matches!(
        with(header::RANK, 3),
        PageError::Damaged { what: "rank", .. }
    ));
    assert!(matches!(
        with(header::RANKS, u64::MAX),
        PageError::Damaged { .. }
    ));
    assert!(matches!(
        with(header::NAMES, u64::MAX),
        PageError::Short { .. }
    ));
}

#[test]
fn no_words_make_the_reader_panic() {
    // Each word in turn is maximal, and of an odd value.
    for at in header::VERSION + 1..WORDS {
        for value in [u64::MAX, u64::MAX / 3] {
            let mut words = words(1);
            words[at] = value;
            let _ = decode(&bytes(&words));
        }
    }
}

#[test]
fn a_communicator_of_millions_in_a_page_takes_no_memory_by_its_size() {
    const RANKS: u64 = 1 << 23;
    let mut words = words(1);
    words[header::RANKS] = RANKS;
    for place in 0..layout::COMMUNICATORS {
        let at = COMMUNICATORS_AT + place * communicator::LENGTH;
        words[at + communicator::HANDLE] = 1 + place as u64;
        words[at + communicator::KEY] = place as u64;
        words[at + communicator::SIZE] = RANKS;
        words[at + communicator::STRIDE] = 1;
    }
    let page = decode(&bytes(&words)).unwrap();
    let rows = page.state.communicators.values();
    let rows: Vec<&Members> = rows.filter_map(|known| known.members.as_ref()).collect();
    assert_eq!(rows.len(), layout::COMMUNICATORS);
    let row = |members: &Members| matches!(members, Members::Row { .. });
    assert!(rows.into_iter().all(row));
    words[header::RANKS] = RANKS + 1;
    assert!(matches!(
        decode(&bytes(&words)),
        Err(PageError::Damaged { .. })
    ));
}

#[test]
fn members_that_pages_list_take_the_memory_that_their_files_may() {
    let mut words = words(1);
    words[header::RANKS] = 1 << 13;
    words[COMMUNICATORS_AT + communicator::MEMBERS] = 1;
    words[COMMUNICATORS_AT + communicator::SIZE] = 1 << 13;
    let bytes = bytes(&words);
    let knows_members = || {
        let page = decode(&bytes).unwrap();
        let mut known = page.state.communicators.into_values();
        known.any(|known| known.members.is_some())
    };
    // 128 KiB each time.
    budget::within(bytes.len(), || {
        assert!((0..512).all(|_| knows_members()));
        assert!(!knows_members());
    });
}

#[test]
fn files_are_called_by_run_and_rank() {
    let run = run_directory(&usual_directory(Path::new("/dev/shm"), 1000), 0xab);
    assert_eq!(run, Path::new("/dev/shm/treepie-1000/00000000000000ab"));
    assert_eq!(run_of(&run), Some(0xab));
    assert_eq!(run_of(Path::new("/dev/shm/treepie-1000")), None);
    assert_eq!(rank_of(&run.join(file_name(Rank(12)))), Some(Rank(12)));
    assert_eq!(rank_of(Path::new("names")), None);
}

#[test]
fn a_process_is_read_whatever_its_name_is() {
    let stat = "42 (a ) S 1 2) S 7 42 42 0 -1 4194304 1 0 0 0 30 12 0 0 20 0 1 0 987654 1 1";
    let process = process_of_stat(stat).unwrap();
    assert_eq!((process.state, process.parent), ('S', 7));
    assert_eq!((process.time, process.started), (42, 987_654));
    assert_eq!(process_of_stat("42 (cut"), None);
}
