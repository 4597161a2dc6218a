//! Simultaneous events, computed by hand. Times are small powers of two, in seconds.

use crate::grids::network;
use crate::network::computing::Computing;
use crate::network::links::Network;
use crate::plan::builder::Builder;
use crate::plan::range::Range;
use crate::plan::step::Plan;
use crate::read::simulate::timeline::Doing;
use crate::read::simulate::{
    engine::simulate,
    outcome::{Options, Outcome},
};
use crate::steps::Steps;
use treepie_platform::{Link, Sample};

/// A link on which a message of any size takes `latency + gap`, and occupies its sender and its
/// receiver for `send` and `receive` seconds.
fn link(latency: f64, gap: f64, [send, receive]: [f64; 2]) -> Link {
    let sample = |bytes| Sample {
        bytes,
        gap,
        send,
        receive,
        ..Sample::default()
    };
    Link::new(latency, vec![sample(0), sample(1 << 20)]).unwrap()
}

fn plan(write: impl FnOnce(&mut dyn Steps)) -> Plan {
    Builder::plan(1 << 30, write)
}

/// Blocks of 64 bytes; a copy of one takes `COPY` seconds.
const BLOCK: u64 = 64;
const COPY: f64 = 8.0;

fn input() -> Range {
    Range::input(0, BLOCK)
}

fn output(place: u64) -> Range {
    Range::output(place * BLOCK, BLOCK)
}

fn simulated(network: &mut Network, plans: &[Plan]) -> Outcome {
    network.computing = Computing {
        per_byte: COPY / BLOCK as f64,
    };
    let options = Options {
        timeline: true,
        ..Options::default()
    };
    simulate(network, plans, 1, options).unwrap()
}

#[test]
fn a_message_that_ends_as_its_receive_begins_is_received_once() {
    // It takes as long as the copy.
    let mut two = network(&[2], |_| link(4.0, 4.0, [1.0; 2]), |_, _| unreachable!());
    let plans = [
        plan(|steps| steps.send_segment(1, input())),
        plan(|steps| {
            steps.copy_segment(input(), output(0));
            steps.one_by_one();
            steps.receive_segment(0, output(1));
        }),
    ];
    assert_eq!(simulated(&mut two, &plans).ends, [1.0, 9.0]);
}

#[test]
fn messages_that_are_there_before_their_receives_are_received_one_after_the_other() {
    let mut three = network(&[3], |_| link(1.0, 1.0, [1.0; 2]), |_, _| unreachable!());
    let sends = || plan(|steps| steps.send_segment(2, input()));
    let receives = plan(|steps| {
        steps.copy_segment(input(), output(0));
        steps.one_by_one();
        steps.receive_segment(0, output(1));
        steps.receive_segment(1, output(2));
    });
    let plans = [sends(), sends(), receives];
    assert_eq!(simulated(&mut three, &plans).ends, [1.0, 1.0, 10.0]);
}

#[test]
fn of_steps_that_may_begin_at_the_same_time_the_first_begins() {
    // The message of rank 1 arrives earlier, and ends when that of rank 0 does.
    let between = |from: usize, _| match from {
        0 => link(3.0, 1.0, [1.0, 0.0]),
        1 => link(1.0, 3.0, [1.0, 0.0]),
        _ => link(1.0, 1.0, [1.0, 0.0]),
    };
    let mut five = network(&[1; 5], |_| unreachable!(), between);
    let hands_on = plan(|steps| {
        for (place, from) in [0, 1].into_iter().enumerate() {
            steps.receive_segment(from, output(place as u64));
            steps.send_segment(from + 3, output(place as u64));
        }
    });
    let plans = [
        plan(|steps| steps.send_segment(2, input())),
        plan(|steps| steps.send_segment(2, input())),
        hands_on,
        plan(|steps| steps.receive_segment(2, output(0))),
        plan(|steps| steps.receive_segment(2, output(0))),
    ];
    let ends = simulated(&mut five, &plans).ends;
    assert!(ends[3] < ends[4], "{ends:?}");
}

#[test]
fn a_card_carries_what_is_near_while_what_is_far_waits_for_the_downlink() {
    // Ranks 0 and 1 send from two clusters to rank 2, rank 3 from another host of its own. The
    // second far message waits at the downlink from 1 to 17.
    let within = |_| link(2.0, 0.5, [0.0; 2]);
    let mut four = network(&[1, 1, 2], within, |_, _| link(1.0, 16.0, [0.0; 2]));
    let sends = || plan(|steps| steps.send_segment(2, input()));
    let receives = plan(|steps| {
        for (place, from) in [0, 1, 3].into_iter().enumerate() {
            steps.receive_segment(from, output(place as u64));
        }
    });
    let outcome = simulated(&mut four, &[sends(), sends(), receives, sends()]);
    let came = outcome
        .bars
        .iter()
        .filter(|bar| bar.doing == Doing::Receive);
    let came: Vec<_> = came.map(|bar| (bar.peer, bar.start, bar.end)).collect();
    let expected = [
        (Some(0), 1.0, 17.0),
        (Some(3), 2.0, 2.5),
        (Some(1), 17.0, 33.0),
    ];
    assert_eq!(came, expected);
}
