//! Messages between two processes.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::yield_now;
use std::time::{Duration, Instant};

use treepie_mpi::Word;

use super::{Incoming, Long, Outgoing};
use crate::transport::arrivals::{Arrivals, FRAGMENT_UNIT};
use crate::transport::message::{Message, Truncated};
use crate::transport::segment::{Layout, Segment};

/// Pseudo-random numbers, the same in both processes.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Creates a segment of two ranks, of which each process gets one side.
fn segment() -> Arc<Segment> {
    Segment::create(Layout::new(2), 1).unwrap().0
}

fn message(number: usize, data: &mut [u8]) -> Message {
    Message {
        step: number as u32,
        tag: number as u32,
        address: data.as_mut_ptr() as Word,
        bytes: data.len(),
    }
}

/// Call with messages of random lengths in each direction, sent and received in different orders.
struct Call {
    lengths: Vec<usize>,
    sends: Vec<usize>,
    receives: Vec<usize>,
}

impl Call {
    fn random(random: &mut Random) -> Self {
        let count = 1 + random.below(12) as usize;
        let lengths = (0..count).map(|_| match random.below(4) {
            0 => random.below(9),
            1 => random.below(2_000),
            2 => random.below(60_000),
            _ => random.below(400_000),
        });
        let lengths = lengths.map(|length| length as usize).collect();
        let mut shuffled = || {
            let mut all: Vec<usize> = (0..count).collect();
            for place in (1..count).rev() {
                all.swap(place, random.below(place as u64 + 1) as usize);
            }
            all
        };
        let (sends, receives) = (shuffled(), shuffled());
        Call {
            lengths,
            sends,
            receives,
        }
    }
}

/// Returns the data of a message, which identify it.
fn data(call: u32, number: usize, length: usize) -> Vec<u8> {
    let first = call as usize * 31 + number * 7;
    (0..length)
        .map(|place| (first + place * 13) as u8)
        .collect()
}

/// Runs one process's part of many calls: it sends and receives concurrently. Receives begin at
/// random times.
fn take_part(mut out: Outgoing, mut back: Incoming, calls: u32, seed: u64) -> Result<(), String> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut mood = Random(seed);
    let until = Instant::now() + Duration::from_secs(300);
    for call in 0..calls {
        let Call {
            lengths,
            sends,
            receives,
        } = Call::random(&mut random);
        out.begin(call);
        back.begin(call);
        let all = || lengths.iter().enumerate();
        let mut sent: Vec<_> = all().map(|(of, &length)| data(call, of, length)).collect();
        let mut received: Vec<_> = all().map(|(_, &length)| vec![0; length]).collect();
        let (mut sends, mut receives) = (sends.into_iter(), receives.into_iter());
        let (mut out_done, mut back_done) = (0, 0);
        while out_done < lengths.len() || back_done < lengths.len() {
            if mood.below(3) == 0
                && let Some(next) = sends.next()
            {
                let message = message(next, &mut sent[next]);
                // SAFETY: `sent` stays until all are complete.
                unsafe { out.send(message, Long::Offered, &mut |_| out_done += 1) };
            }
            if mood.below(3) == 0
                && let Some(next) = receives.next()
            {
                let message = message(next, &mut received[next]);
                // SAFETY: as above.
                let begun = unsafe { back.receive(message, &mut |_| back_done += 1) };
                begun.map_err(|error| error.to_string())?;
            }
            let mut went_on = out.go_on(&mut |_| out_done += 1);
            let came = back.go_on(&mut |_| back_done += 1);
            went_on |= came.map_err(|error| error.to_string())?;
            if !went_on {
                yield_now();
                if Instant::now() > until {
                    return Err(format!("call {call} does not end: {out:?} {back:?}"));
                }
            }
        }
        for (number, received) in received.iter().enumerate() {
            if *received != data(call, number, lengths[number]) {
                return Err(format!("call {call}, message {number}: wrong data"));
            }
        }
        if !(out.is_idle() && back.is_idle()) {
            return Err(format!("call {call} left something: {out:?} {back:?}"));
        }
    }
    Ok(())
}

/// Runs `child` in a separate process, beside `parent`, which gets the child's number.
fn beside(child: impl FnOnce(u32) -> Result<(), String>, parent: impl FnOnce(u32)) {
    let parent_number = std::process::id();
    // SAFETY: the child calls no function that other threads of its parent may have been in, except
    // the allocator, which the C library keeps usable.
    let number = unsafe { libc::fork() };
    assert!(number >= 0);
    if number == 0 {
        let result = child(parent_number);
        if let Err(problem) = &result {
            eprintln!("{problem}");
        }
        // SAFETY: ends the child, without the test process's exit handlers.
        unsafe { libc::_exit(result.is_err().into()) };
    }
    parent(number as u32);
    let mut status = 0;
    // SAFETY: a child of this process, and a variable for its status.
    unsafe { libc::waitpid(number, &mut status, 0) };
    assert_eq!(status, 0, "the other process says what is wrong");
}

fn all_arrives_between_two_processes(offers_from: usize, calls: u32) {
    let segment = segment();
    // The child of a fork has no access to a segment unless it requests it.
    segment.keep_in_children();
    let sides = |own: usize, other: usize, process: u32| {
        let out = Outgoing::new(segment.way(own, other), offers_from);
        (
            out,
            Incoming::new(segment.way(other, own), Box::default(), process),
        )
    };
    beside(
        |parent| {
            let (out, back) = sides(1, 0, parent);
            take_part(out, back, calls, 4711)
        },
        |child| {
            let (out, back) = sides(0, 1, child);
            take_part(out, back, calls, 1234).unwrap();
        },
    );
}

#[test]
fn messages_of_any_length_arrive_whole_in_whatever_order_they_are_sent_and_received() {
    all_arrives_between_two_processes(usize::MAX, 300);
}

/// Also if the system permits no copies: then all offers are refused.
#[test]
fn offered_messages_arrive_whole_and_come_in_fragments_where_they_are_refused() {
    all_arrives_between_two_processes(10_000, 300);
}

#[test]
fn what_is_offered_where_there_is_no_such_process_comes_in_fragments() {
    let segment = segment();
    let mut out = Outgoing::new(segment.way(0, 1), 1000);
    let mut back = Incoming::new(segment.way(0, 1), Box::default(), u32::MAX >> 1);
    let (mut sent, mut received) = (data(3, 1, 300_000), vec![0; 300_000]);
    let (mut is_sent, mut is_received) = (false, false);
    // SAFETY: both live to the end.
    unsafe {
        out.send(message(0, &mut sent), Long::Offered, &mut |_| {
            is_sent = true
        });
        let begun = back.receive(message(0, &mut received), &mut |_| is_received = true);
        begun.unwrap();
    }
    while !(is_sent && is_received) {
        out.go_on(&mut |_| is_sent = true);
        back.go_on(&mut |_| is_received = true).unwrap();
    }
    assert_eq!(sent, received);
}

#[test]
fn a_message_that_is_too_long_is_an_error_and_the_next_call_receives_its_own() {
    let segment = segment();
    for offers_from in [usize::MAX, 1] {
        let mut out = Outgoing::new(segment.way(0, 1), offers_from);
        let mut back = Incoming::new(segment.way(0, 1), Box::default(), std::process::id());
        // With the ring in its initial state.
        let (mut long, mut short) = (data(0, 0, 50_000), vec![0; 100]);
        // SAFETY: both live to the end.
        unsafe {
            out.send(message(0, &mut long), Long::Offered, &mut |_| ());
            let begun = back.receive(message(0, &mut short), &mut |_| ());
            assert_eq!(begun, Err(Truncated));
        }
        assert_eq!(short, [0; 100]);
        out.begin(1);
        back.begin(1);
        let (mut sent, mut came) = (data(1, 0, 100), 0);
        // SAFETY: as above.
        unsafe {
            out.send(message(0, &mut sent), Long::Offered, &mut |_| ());
            back.receive(message(0, &mut short), &mut |_| came += 1)
                .unwrap();
        }
        while came == 0 {
            out.go_on(&mut |_| ());
            back.go_on(&mut |_| came += 1).unwrap();
        }
        assert_eq!(short, sent);
        return_to_start(&segment);
    }
}

/// Resets the channel from rank 0 to 1.
fn return_to_start(segment: &Arc<Segment>) {
    let way = segment.way(0, 1);
    (0..way.blocks()).for_each(|block| way.filled(block).store(0, Ordering::Release));
    way.emptied().store(0, Ordering::Release);
    (0..8).for_each(|number| way.answer(number).store(0, Ordering::Release));
}

#[test]
fn what_a_later_call_has_sent_waits_for_its_receiver_to_come_to_it() {
    let segment = segment();
    let mut out = Outgoing::new(segment.way(0, 1), usize::MAX);
    let mut back = Incoming::new(segment.way(0, 1), Box::default(), 0);
    let (mut sent, mut received) = (data(1, 0, 10), vec![0; 10]);
    let mut came = 0;
    out.begin(1);
    // SAFETY: both live to the end.
    unsafe {
        out.send(message(0, &mut sent), Long::Offered, &mut |_| ());
        // The receive of call 0 failed for another reason.
        back.receive(message(0, &mut received), &mut |_| came += 1)
            .unwrap();
    }
    assert_eq!(came, 0);
    back.begin(1);
    // SAFETY: as above.
    unsafe {
        back.receive(message(0, &mut received), &mut |_| came += 1)
            .unwrap();
    }
    assert_eq!((came, &sent), (1, &received));
}

/// Receiver that adds the data of some steps to local data.
struct Summing<'a> {
    sums: &'a mut [u8],
    kept: Vec<u32>,
    summed: Vec<u32>,
}

impl Arrivals for Summing<'_> {
    fn arrived(&mut self, step: u32) {
        self.kept.push(step);
    }

    fn combines(&self, step: u32) -> bool {
        step == 1
    }

    unsafe fn combine(&mut self, _step: u32, done: usize, data: *const u8, bytes: usize) {
        assert!(done.is_multiple_of(FRAGMENT_UNIT));
        // SAFETY: the caller passes this many bytes.
        let data = unsafe { std::slice::from_raw_parts(data, bytes) };
        for (sum, byte) in self.sums[done..].iter_mut().zip(data) {
            *sum = sum.wrapping_add(*byte);
        }
    }

    fn combined(&mut self, step: u32) {
        self.summed.push(step);
    }
}

/// Messages are combined as they arrive, or from the held copies if another was awaited; but not
/// those, or blocks, that are so short that a copy costs nothing.
#[test]
fn what_is_combined_is_so_once_whichever_way_it_comes() {
    let many_ranks = Segment::create(Layout::new(128), 1).unwrap().0;
    for (segment, length, sums_up) in [
        (segment(), 300_000, true),
        (segment(), 5_000, true),
        (segment(), 100, false),
        (many_ranks, 300_000, false),
    ] {
        for is_awaited in [true, false] {
            let mut out = Outgoing::new(segment.way(0, 1), usize::MAX);
            let mut back = Incoming::new(segment.way(0, 1), Box::default(), 0);
            let (mut sent, mut other) = (data(1, 1, length), data(1, 2, 50));
            let (mut received, mut last) = (vec![0; length], vec![0; 50]);
            let mut sums = data(2, 1, length);
            let mut arrivals = Summing {
                sums: &mut sums,
                kept: Vec::new(),
                summed: Vec::new(),
            };
            // SAFETY: all live to the end.
            unsafe {
                let (first, second) = (message(1, &mut sent), message(2, &mut other));
                out.send(first, Long::Offered, &mut |_| ());
                out.send(second, Long::Offered, &mut |_| ());
                let mut receives = [message(1, &mut received), message(2, &mut last)];
                if !is_awaited {
                    receives.reverse();
                }
                for receive in receives {
                    while !is_awaited && receive.tag == 1 && arrivals.kept.is_empty() {
                        out.go_on(&mut |_| ());
                        back.go_on(&mut arrivals).unwrap();
                    }
                    back.receive(receive, &mut arrivals).unwrap();
                }
            }
            while arrivals.kept.len() + arrivals.summed.len() < 2 {
                out.go_on(&mut |_| ());
                back.go_on(&mut arrivals).unwrap();
            }
            while !out.is_idle() {
                out.go_on(&mut |_| ());
            }
            assert_eq!(
                arrivals.summed.contains(&1),
                sums_up,
                "{length} {is_awaited}"
            );
            let expected = data(2, 1, length).into_iter().zip(data(1, 1, length));
            let expected: Vec<u8> = match sums_up {
                true => expected.map(|(own, byte)| own.wrapping_add(byte)).collect(),
                false => data(1, 1, length),
            };
            assert!(expected == if sums_up { sums } else { received });
            assert_eq!(last, data(1, 2, 50));
            return_to_start(&segment);
        }
    }
}
