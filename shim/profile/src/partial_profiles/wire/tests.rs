#![allow(clippy::unwrap_used)]
use super::*;
use crate::partial_profiles::{MessageKind, PartialProfile, Records, Span};
use treepie_base::{Process, Rank};
use treepie_collective::{Operation, PlanRun, Record, Volume};
use treepie_traffic::Traffic;
use treepie_traffic::times::{CallClass, CallTime};
use treepie_traffic::windows::{Access, Accesses, EpochKind, WindowCall};

fn record(operation: Operation, root: Option<u32>, volume: Volume) -> Record {
    Record {
        operation,
        group: [2, 0, 1].into(),
        root,
        size_class: 7,
        plan: operation.has_root().then(|| PlanRun {
            algorithm: "grid-chain".into(),
            segment: 1 << 14,
            unit_bytes: 8,
            ordered: true,
        }),
        calls: 3,
        volume,
    }
}

fn records_of_every_volume() -> [Record; 3] {
    [
        record(Operation::Bcast, Some(0), Volume::Uniform(64)),
        record(Operation::Allgatherv, None, Volume::PerRank(vec![1, 2, 3])),
        record(
            Operation::Alltoallv,
            None,
            Volume::Pairs(vec![(0, 1, 9, 1)]),
        ),
    ]
}

fn access() -> Access {
    Access {
        epoch: EpochKind::LockAll,
        call: WindowCall::Accumulate,
        is_contiguous: false,
        size_class: 7,
        target: 1,
    }
}

fn encoded(process: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    encoder.rank(
        Process(process),
        Rank(3 - process),
        "node-ä",
        "0-3,8",
        1 << 40,
    );
    encoder.counted(MessageKind::Got, Rank(1), Traffic::new(2, u64::MAX));
    encoder.counted(MessageKind::Put, Rank(70_000), Traffic::new(2, 20));
    encoder.taken_back(MessageKind::Put, Rank(70_000), Traffic::new(1, 5));
    let mut records = Records::default();
    for record in records_of_every_volume() {
        records.add(record);
    }
    records.encode(&mut encoder);
    encoder.shared_memory(&[0, 1]);
    let time = CallTime {
        calls: 2,
        nanoseconds: 300,
    };
    encoder.time(CallClass::Wait, time);
    encoder.window(3, &[1, 0]);
    encoder.access(0, &access(), Traffic::new(4, 400), 2);
    encoder.access(0, &access(), Traffic::new(1, 100), 1);
    let span = Span {
        start: 1,
        end: 9,
        length: 5,
    };
    encoder.phase("2", span, false);
    encoder.counted(MessageKind::Put, Rank(70_000), Traffic::new(1, 10));
    encoder.time(CallClass::Wait, time);
    encoder.open_phase("1", span, true);
    encoder.end();
    bytes
}

#[test]
fn parts_put_one_after_the_other_are_read_as_they_were() {
    let bytes = [encoded(0), encoded(1)].concat();
    let partials: Vec<PartialProfile> = decode_all(&bytes).flatten().collect();
    assert_eq!(partials.len(), 2);
    let partial = &partials[1];
    assert_eq!((partial.process, partial.rank), (Process(1), Rank(2)));
    assert_eq!(
        (&*partial.host, &*partial.allowed_cores, partial.elapsed),
        ("node-ä", "0-3,8", 1 << 40)
    );
    let expected = [
        ((MessageKind::Put, Rank(70_000)), Traffic::new(1, 15)),
        ((MessageKind::Got, Rank(1)), Traffic::new(2, u64::MAX)),
    ];
    assert_eq!(partial.counted, expected.into());
    assert_eq!(partial.collectives.clone().into_vec().len(), 3);
    assert_eq!(partial.shared_memory, [[0, 1].map(Rank)]);
    assert_eq!(partial.times[&CallClass::Wait].nanoseconds, 300);
    assert_eq!(partial.windows, [(3, vec![Rank(1), Rank(0)])]);
    let accesses = Accesses {
        traffic: Traffic::new(5, 500),
        intervals: 3,
    };
    assert_eq!(partial.accesses, [((0, access()), accesses)].into());
    assert_eq!(partial.phases[0].name, "2");
    let in_phase = partial.phases[0].counted[&(MessageKind::Put, Rank(70_000))];
    assert_eq!(in_phase, Traffic::new(1, 10));
    assert_eq!(partial.phases[0].times[&CallClass::Wait].calls, 2);
    assert!(
        partial
            .open_phase
            .as_ref()
            .is_some_and(|open| open.left_out)
    );
}

#[test]
fn records_are_read_as_they_were_with_every_kind_of_volume() {
    let partial = decode_all(&encoded(0)).next().flatten();
    let records = partial.map(|partial| partial.collectives.into_vec());
    assert_eq!(records, Some(records_of_every_volume().to_vec()));
}

#[test]
fn bytes_that_end_too_early_are_refused() {
    let bytes = encoded(0);
    for length in 1..bytes.len() {
        let read: Vec<_> = decode_all(&bytes[..length]).collect();
        assert_eq!(read, [None], "{length} bytes");
    }
}

#[test]
fn numbers_that_are_too_long_and_ranks_out_of_range_are_refused() {
    let with_group = |differences: &[i64]| {
        let mut bytes = vec![7];
        bytes.extend(postcard::to_allocvec(differences).unwrap());
        bytes.push(0);
        decode_all(&bytes)
            .next()
            .flatten()
            .map(|partial| partial.shared_memory)
    };
    assert_eq!(with_group(&[2, -1]), Some(vec![vec![Rank(2), Rank(1)]]));
    assert_eq!(with_group(&[2, -3]), None);
    assert_eq!(with_group(&[i64::MAX, 1]), None);
    let too_long = [&[9, 0, 0xff][..], &[0xff; 12]].concat();
    assert_eq!(decode_all(&too_long).next(), Some(None));
}
