//! Readers of several inputs, and properties that no text shows: pages with the verdict on their
//! job, logs that are compared and replayed, files that are written from parsed ones.

use std::path::Path;

use treepie_base::{Rank, budget};
use treepie_jobstate::order::file::{block, decode_log, end_of_rank, start_of_rank};
use treepie_jobstate::order::{BLOCK, parting};
use treepie_jobstate::order::{Call, CallKind, EmptyPolls, Guide, Log, Outcome, Recorder, Totals};
use treepie_jobstate::pages::layout::{
    AREAS_AT, CHANNELS_AT, COMMUNICATORS_AT, INSIDE, MAGIC, NUMBER_SHIFT, VERSION, WORDS, area,
    communicator, header, pack,
};
use treepie_jobstate::pages::{TICK, decode};
use treepie_jobstate::waits::{Job, RankState, communicator_key};
use treepie_native::tuning::file::TuningFile;
use treepie_native::tuning::{MpiTuning, Selection, mpi_tuning};
use treepie_placement::file::PlacementFile;
use treepie_report::waits::Hang;
use treepie_topology::rank_files::{Form, slots, write};

/// Number of ranks of the job of the pages, unless a change says otherwise.
const RANKS: u64 = 3;

const NAMES: &str = "MPI_Recv receive\nMPI_Bcast collective Bcast\nMPI_Finalize finalize\n\
                     MPI_Isend send\nMPI_Send send\nMPI_Waitall complete\nMPI_Waitany complete\n\
                     MPI_Sendrecv sendrecv\nMPI_Irecv receive\nMPI_Iprobe receive\n";

/// The page of a rank in a receive from the next one.
fn words(rank: u64) -> Vec<u64> {
    let mut words = vec![0; WORDS];
    words[0] = MAGIC;
    for (at, value) in [
        (header::VERSION, VERSION),
        (header::WORDS, WORDS as u64),
        (header::RUN, 7),
        (header::RANKS, RANKS),
        (header::RANK, rank),
        (header::HANDLE_MASK, u64::MAX),
        (header::ANY_SOURCE, -1i64 as u64),
        (header::ANY_TAG, -1i64 as u64),
        (header::PROC_NULL, -2i64 as u64),
        (header::TICK, 9_000_000_000),
        (header::NAMES, NAMES.len() as u64),
        (AREAS_AT + area::THREAD, 1),
        (AREAS_AT + area::CALL, 1 << NUMBER_SHIFT | INSIDE),
        (AREAS_AT + area::SEEN, 1 << NUMBER_SHIFT | INSIDE),
        (AREAS_AT + area::SINCE, 1_000_000_000),
        (AREAS_AT + area::COMM, 9),
        (
            AREAS_AT + area::SOURCE_TAG,
            pack(((rank + 1) % RANKS) as i32, 4),
        ),
        (COMMUNICATORS_AT + communicator::HANDLE, 9),
        (
            COMMUNICATORS_AT + communicator::KEY,
            communicator_key(&[0, 1, 2], 1),
        ),
        (COMMUNICATORS_AT + communicator::SIZE, RANKS),
        (COMMUNICATORS_AT + communicator::STRIDE, 1),
        (CHANNELS_AT, 1),
    ] {
        words[at] = value;
    }
    words
}

fn bytes(words: &[u64]) -> Vec<u8> {
    let words = words.iter().flat_map(|word| word.to_ne_bytes());
    words.chain(NAMES.bytes()).collect()
}

/// A page.
pub(super) fn page() -> Vec<u8> {
    bytes(&words(0))
}

/// An observation of `treepie why` without pages, in the form of another host's answer.
pub(super) fn look() -> Vec<u8> {
    serde_json::to_vec(&treepie_report::input::pages::Look::default()).unwrap_or_default()
}

/// Bytes of a change of a page: an index, and the word to store there.
const CHANGE: usize = 10;
/// The index that ends the changes of a page.
const NEXT: u16 = u16::MAX;

fn change(place: usize, word: u64) -> Vec<u8> {
    [&(place as u16).to_le_bytes()[..], &word.to_le_bytes()].concat()
}

/// Changes that put the ranks into other calls.
pub(super) fn changes() -> Vec<Vec<u8>> {
    let calls = (0..NAMES.lines().count() as u64).map(|procedure| {
        let call = change(
            AREAS_AT + area::CALL,
            1 << NUMBER_SHIFT | INSIDE | procedure,
        );
        let any = change(AREAS_AT + area::SOURCE_TAG, pack(-1, -1));
        let requests = change(AREAS_AT + area::ASKED, 2);
        let next = change(usize::from(NEXT), 0);
        [call.clone(), next.clone(), any, requests, next, call].concat()
    });
    calls.collect()
}

/// Answer of `treepie why` for the pages of three ranks with these changes.
pub(super) fn why(data: &[u8]) -> Result<(), String> {
    let mut pages: Vec<Vec<u64>> = (0..RANKS).map(words).collect();
    let mut number = 0;
    for change in data.chunks_exact(CHANGE) {
        let (place, word) = change.split_at(2);
        let place = u16::from_le_bytes(place.try_into().unwrap_or_default());
        match pages.get_mut(number) {
            Some(_) if place == NEXT => number += 1,
            Some(words) => {
                let at = usize::from(place) % WORDS;
                words[at] = u64::from_le_bytes(word.try_into().unwrap_or_default());
            }
            None => break,
        }
    }
    let pages: Vec<Vec<u8>> = pages.iter().map(|words| bytes(words)).collect();
    let length = pages.iter().map(Vec::len).sum();
    let read = || {
        pages
            .iter()
            .map(|page| decode(page))
            .collect::<Result<Vec<_>, _>>()
    };
    let pages = budget::within(length, read).map_err(|error| error.to_string())?;
    let states: Vec<RankState> = pages.iter().map(|page| page.state.clone()).collect();
    let size = pages[0].ranks;
    let dead = Job::of_the_dead(size, states.clone(), TICK.as_nanos() as u64);
    for job in [dead, Job::between(size, &states, states.clone())] {
        let hang = Hang::new(job);
        let acts = |letter: char| letter.is_control() && letter != '\n';
        let text = hang.text();
        assert!(!text.contains(acts), "{text:?}");
        assert!(serde_json::to_string(&hang.json()).is_ok());
    }
    Ok(())
}

/// Entries of two logs of the same run, each after its length.
pub(super) fn entries() -> Vec<Vec<u8>> {
    let call = |kind| Call {
        kind,
        communicator: Some(0),
        count: 3,
    };
    let mut recorder = Recorder::default();
    for (source, tag) in [(1, None), (2, Some(7))] {
        let number = recorder.post(&call(CallKind::Recv));
        recorder.matched(number, source, tag);
    }
    let number = recorder.post(&call(CallKind::Irecv));
    recorder.cancelled(number);
    recorder.found(&call(CallKind::Testany), Outcome::Nothing);
    recorder.found(&call(CallKind::Testany), Outcome::Index(2));
    recorder.found(&call(CallKind::Waitsome), Outcome::Indices(vec![0, 2]));
    let totals = recorder.end();
    let log = recorder.bytes;
    let numbers = [totals.posted, totals.events, log.len() as u64];
    let head: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    vec![[&head[..], &log, &log].concat()]
}

/// Compares two logs, and replays the first one.
pub(super) fn compare(data: &[u8]) -> Result<(), String> {
    let Some((head, entries)) = data.split_at_checked(24) else {
        return Ok(());
    };
    let mut numbers = head
        .chunks_exact(8)
        .map(|eight| u64::from_le_bytes(eight.try_into().unwrap_or_default()));
    let mut number = || numbers.next().unwrap_or(0);
    let (posted, events) = (number(), number());
    let middle = number() as usize % (entries.len() + 1);
    let (one, other) = entries.split_at(middle);
    let log = |entries: &[u8], ends: bool| {
        let mut bytes = start_of_rank(Rank(0));
        bytes.extend(entries.chunks(BLOCK).flat_map(block));
        if ends {
            let sum = 0;
            bytes.extend(end_of_rank(&Totals {
                posted,
                events,
                sum,
            }));
        }
        decode_log(&bytes)
    };
    let damaged = || "an entry is damaged".to_owned();
    let one: Log = log(one, events % 2 == 0).ok_or_else(damaged)?;
    let other = log(other, events % 3 == 0).ok_or_else(damaged)?;
    for polls in [EmptyPolls::Compared, EmptyPolls::Ignored] {
        let _ = parting([&one, &other], polls);
        assert_eq!(parting([&one, &one], polls), None);
    }
    let mut guide = Guide::new(&one);
    for (place, &byte) in entries.iter().take(256).enumerate() {
        let call = Call {
            kind: kinds()[usize::from(byte) % kinds().len()],
            communicator: Some(u32::from(byte)),
            count: place as u64,
        };
        let result = match byte % 2 {
            0 => guide.post(&call).map(drop),
            _ => guide.find(&call).map(drop),
        };
        if result.is_err() {
            break;
        }
    }
    guide
        .end()
        .map_err(|error| error.to_string().replace('\n', " "))
}

fn kinds() -> &'static [CallKind] {
    use CallKind::*;
    &[
        Recv, Irecv, Start, Sendrecv, Probe, Iprobe, Test, Testall, Waitany, Testany, Waitsome,
        Testsome,
    ]
}

/// A library of MPICH with a selection of few operations.
pub(super) const SELECTION: &str = "ELF\0algorithm=MPIR_Bcast_intra_tree\0\
     {\"collective=bcast\":{\"comm_type=intra\":{\"comm_hierarchy=parent\":{\"composition=A\":{}},\
     \"comm_hierarchy=any\":{\"composition=C\":{}}}}}\0\
     {\"collective=bcast\":{\"comm_type=intra\":{\"algorithm=MPIR_Bcast_intra_smp\":{}},\
     \"comm_type=inter\":{\"algorithm=MPIR_Bcast_inter\":{}}}}\0";

const TUNING: &str = "treepie: tuning\nversion: 1\nmpi: mpich 5.0.2\nranks: 4\nhosts: 1\nrows:\n\
                      - {operation: bcast, ranks: 4, from_bytes: 8, algorithm: tree, us: 1, \
                      native_us: 2}\n";

/// Rules in JSON must be valid JSON; others must have no line created by a name in the tuning.
fn check(tuning: &MpiTuning) {
    for (component, text) in &tuning.rules {
        let acts = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
        match text.starts_with('{') {
            true => assert!(serde_json::from_str::<serde_json::Value>(text).is_ok()),
            false => assert!(!text.contains(acts), "{component:?}: {text:?}"),
        }
    }
}

/// A library, for which the files of a tuning are written.
pub(super) fn selection(data: &[u8]) -> Result<(), String> {
    let own = Selection::in_bytes(data).ok_or("has no selection")?;
    let tuning =
        TuningFile::from_text(Path::new("t"), TUNING).map_err(|error| error.to_string())?;
    check(&mpi_tuning(&tuning, Some(&own), |_| true));
    Ok(())
}

/// A tuning, from which rules are written: Open MPI's for `tuned` and HAN, MPICH's, Intel's.
pub(super) fn rules(data: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(data) else {
        return Ok(());
    };
    let tuning = TuningFile::from_text(Path::new("t"), text).map_err(|error| error.to_string())?;
    let own = Selection::in_bytes(SELECTION.as_bytes());
    for own in [None, own.as_ref()] {
        check(&mpi_tuning(&tuning, own, |_| true));
    }
    Ok(())
}

/// A placement, from which the launchers' files are written: a line for each rank or host.
pub(super) fn rank_files(data: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(data) else {
        return Ok(());
    };
    let path = Path::new("p");
    let placement = PlacementFile::from_text(path, text).map_err(|error| error.to_string())?;
    let slots = slots(&placement.topology, &placement.assignment, None);
    let slots = slots.map_err(|error| error.to_string())?;
    for form in [Form::OpenMpi, Form::OpenMpiPhysical, Form::Slurm, Form::Pjm] {
        let lines = write(form, &slots).lines().count();
        assert!(lines == slots.len(), "{form}: {lines} lines");
    }
    for form in [Form::Hydra, Form::Cray] {
        assert!(write(form, &slots).lines().count() <= slots.len(), "{form}");
    }
    Ok(())
}

/// A program that every system has.
pub(super) fn programs() -> Vec<Vec<u8>> {
    let read = |path| std::fs::read(path).ok();
    ["/bin/true", "/bin/sh"]
        .into_iter()
        .filter_map(read)
        .collect()
}
