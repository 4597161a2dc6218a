//! Messages between three ranks of a host, some of them to both others.

use std::sync::Arc;
use std::thread::{scope, yield_now};
use std::time::{Duration, Instant};

use treepie_mpi::Word;

use super::board::Board;
use super::channel::{Incoming, Long, Outgoing};
use super::memory::{Memory, OFFERS_FROM, Peer};
use super::message::Message;
use super::segment::{Layout, Segment};

const RANKS: usize = 3;

/// Creates the memory of a rank, with messages from this length on offered.
fn memory(segment: &Arc<Segment>, own: usize, offers_from: usize) -> Memory {
    let peer = |other: usize| Peer {
        out: Outgoing::new(segment.way(own, other), offers_from),
        back: Incoming::new(
            segment.way(other, own),
            segment.slots(other).collect(),
            std::process::id(),
        ),
        is_busy: false,
    };
    let peers = (0..RANKS).map(|other| (other != own).then(|| peer(other)));
    Memory {
        peers: peers.collect(),
        busy: Vec::new(),
        board: Board::new(segment.slots(own)),
        call: 0,
        shares_cores: true,
        long: Long::Offered,
    }
}

/// Returns the data that a rank sends in a message of a call.
fn data(rank: usize, call: u32, number: usize, bytes: usize) -> Vec<u8> {
    let first = rank * 91 + call as usize * 31 + number * 7;
    (0..bytes).map(|place| (first + place * 13) as u8).collect()
}

/// Returns the lengths of the messages of a call: more than there are slots, and some that are too
/// short or too long to be published.
fn lengths(call: u32) -> [usize; 4] {
    let of = |number: u32| (call.wrapping_mul(7919) + number * 12_007) % 40_000;
    [0, 1, 2, 3].map(|number| of(number) as usize)
}

/// Runs one rank's part: all messages to both others, in increasing or decreasing order, and the
/// same number from them.
fn take_part(mut memory: Memory, own: usize, calls: u32) {
    let until = Instant::now() + Duration::from_secs(300);
    for call in 0..calls {
        memory.begin(call);
        let others: Vec<usize> = (0..RANKS).filter(|&rank| rank != own).collect();
        let mut sent: Vec<Vec<u8>> = lengths(call)
            .iter()
            .enumerate()
            .map(|(number, &bytes)| data(own, call, number, bytes))
            .collect();
        let mut received = vec![
            sent.iter()
                .map(|one| vec![0; one.len()])
                .collect::<Vec<_>>();
            2
        ];
        let mut done = 0;
        for step in 0..sent.len() {
            let number = match (own + call as usize).is_multiple_of(2) {
                true => step,
                false => sent.len() - 1 - step,
            };
            for (place, &other) in others.iter().enumerate() {
                let message = |data: &mut Vec<u8>| Message {
                    step: number as u32,
                    tag: number as u32,
                    address: data.as_mut_ptr() as Word,
                    bytes: data.len(),
                };
                let (out, into) = (
                    message(&mut sent[number]),
                    message(&mut received[place][number]),
                );
                // SAFETY: all live until the call has ended.
                unsafe {
                    memory.send(other, out, Some(number as u32), &mut |_| done += 1);
                    let begun = memory.receive(other, into, &mut |_| done += 1);
                    assert_eq!(begun, Ok(()));
                }
            }
        }
        while done < 4 * sent.len() {
            if memory.go_on(&mut |_| done += 1) != Ok(true) {
                yield_now();
            }
            assert!(Instant::now() < until, "call {call} of rank {own}");
        }
        for (place, &other) in others.iter().enumerate() {
            for (number, received) in received[place].iter().enumerate() {
                let expected = data(other, call, number, received.len());
                assert!(*received == expected, "{own}: {other}, {call}, {number}");
            }
        }
    }
}

#[test]
fn what_is_sent_to_several_ranks_arrives_whole_at_each() {
    for offers_from in [OFFERS_FROM, usize::MAX] {
        let (segment, _file) = Segment::create(Layout::new(RANKS), 1).expect("there is memory");
        scope(|scope| {
            for rank in 0..RANKS {
                let memory = memory(&segment, rank, offers_from);
                scope.spawn(move || take_part(memory, rank, 300));
            }
        });
    }
}

/// A rank whose message to two ranks was not read by one of them still has slots for others.
#[test]
fn a_call_that_failed_leaves_slots_or_none_are_used() {
    let (segment, _file) = Segment::create(Layout::new(RANKS), 1).expect("there is memory");
    let (mut first, mut second) = (
        memory(&segment, 0, OFFERS_FROM),
        memory(&segment, 1, OFFERS_FROM),
    );
    for call in 0..40 {
        first.begin(call);
        let mut sent = data(0, call, 0, 5000);
        let message = Message {
            step: 0,
            tag: 0,
            address: sent.as_mut_ptr() as Word,
            bytes: sent.len(),
        };
        let mut gone = 0;
        for to in [1, 2] {
            // SAFETY: it lives until it was received, or its call has ended.
            unsafe { first.send(to, message, Some(0), &mut |_| gone += 1) };
        }
        second.begin(call);
        let mut received = vec![0; 5000];
        let mut has_come = false;
        let into = Message {
            address: received.as_mut_ptr() as Word,
            ..message
        };
        // SAFETY: as above.
        let begun = unsafe { second.receive(0, into, &mut |_| has_come = true) };
        assert_eq!(begun, Ok(()));
        while !has_come {
            let _ = first.go_on(&mut |_| gone += 1);
            let _ = second.go_on(&mut |_| has_come = true);
        }
        assert_eq!(received, sent);
    }
}
