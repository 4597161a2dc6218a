//! The parameters of one link, by Kielmann's method (LogP-MPI; thesis 4.8.1, item
//! 21), between a rank that measures and one that mirrors.
//!
//! ```text
//!   round trip     measure --m--> mirror --0--> measure          RTT(m)
//!   train          measure --m m m m--> mirror --0--> measure    RTT of n
//!   late           mirror --m--> ... measure waits, then receives: or(m)
//! ```
//!
//! Beyond the thesis: the gap is the slope of trains started at once, so that it
//! says what the link can carry; what an isolated message needs beyond it is the
//! handshake of the host's rendezvous.

use super::super::statistics::{Estimate, estimate, median};
use super::super::{Link, Sample};
use super::Messenger;
use super::sizes::{first_sizes, next_size};

/// `L = (RTT(0) - 2 g(0)) / 2`, in seconds; never below a hundredth of the round
/// trip, which only noise could make it.
pub fn latency_of_round_trips(empty_round_trip: f64, empty_gap: f64) -> f64 {
    ((empty_round_trip - 2.0 * empty_gap) / 2.0).max(empty_round_trip / 100.0)
}

/// `g(m) = RTT(m) - RTT(0) + g(0)`: gap and handshake of a message alone.
pub fn isolated_gap(round_trip: f64, empty_round_trip: f64, empty_gap: f64) -> f64 {
    (round_trip - empty_round_trip + empty_gap).max(0.0)
}

/// `g(0)` from a train of `count` messages and one of half as many: the slope,
/// which is free of the latency that `RTT(n) / n` of the thesis only thins out.
pub fn gap_of_empty(half_train: f64, train: f64, count: usize) -> f64 {
    ((train - half_train) / (count - count / 2).max(1) as f64).max(0.0)
}

/// A median is good enough with an interval of this part of it.
const PRECISION: f64 = 0.05;
/// Longest train of empty messages: fewer than any host buffers.
const LONGEST_TRAIN: usize = 512;
/// Most bytes of a train.
const TRAIN_BYTES: u64 = 2 << 20;
/// A round trip of a wide area, in seconds.
const LONG: f64 = 2e-3;
/// Up to this size a message waits whole in the receiver's buffers.
const BUFFERED: u64 = 32 << 10;

/// What the measuring rank asks of the mirror.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Request {
    RoundTrips {
        bytes: u64,
        times: usize,
    },
    Trains {
        bytes: u64,
        count: usize,
        times: usize,
    },
    Late {
        bytes: u64,
        times: usize,
    },
    Done,
}

impl Request {
    fn text(self) -> String {
        match self {
            Request::RoundTrips { bytes, times } => format!("r {bytes} 1 {times}"),
            Request::Trains {
                bytes,
                count,
                times,
            } => format!("t {bytes} {count} {times}"),
            Request::Late { bytes, times } => format!("l {bytes} 1 {times}"),
            Request::Done => "d 0 0 0".into(),
        }
    }

    fn parse(text: &str) -> Request {
        let mut words = text.split(' ');
        let kind = words.next();
        let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        let (bytes, count, times) = (number(), number() as usize, number() as usize);
        match kind {
            Some("r") => Request::RoundTrips { bytes, times },
            Some("t") => Request::Trains {
                bytes,
                count,
                times,
            },
            Some("l") => Request::Late { bytes, times },
            _ => Request::Done,
        }
    }
}

/// Does what the measuring rank asks, until it is done.
pub(super) fn mirror(messenger: &mut impl Messenger, from: usize) {
    loop {
        match Request::parse(&messenger.hear(from)) {
            Request::Done => return,
            Request::RoundTrips { bytes, times } => {
                for _ in 0..times {
                    messenger.receive(from, bytes);
                    messenger.send(from, 0);
                }
            }
            Request::Trains {
                bytes,
                count,
                times,
            } => {
                for _ in 0..times {
                    messenger.receive_train(from, bytes, count);
                    messenger.send(from, 0);
                }
            }
            Request::Late { bytes, times } => {
                for _ in 0..times {
                    messenger.receive(from, 0);
                    messenger.send(from, bytes);
                }
            }
        }
    }
}

/// Half of the shortest round trip of an empty message: what clustering wants
/// (NWS's latency). The shortest, since other work only makes them longer.
pub(super) fn latency(messenger: &mut impl Messenger, to: usize) -> f64 {
    let mut probe = Probe::new(messenger, to, f64::INFINITY);
    let first = probe.round_trips(0, 3);
    let shortest = |trips: &[(f64, f64)]| {
        let times = trips.iter().map(|trip| trip.0);
        times.fold(f64::INFINITY, f64::min)
    };
    let estimate = shortest(&first);
    // Long ways need few round trips, short ones are disturbed easily.
    let times = ((20e-3 / estimate) as usize).clamp(3, 40);
    let more = probe.round_trips(0, times);
    probe.done();
    shortest(&more).min(estimate) / 2.0
}

/// All parameters towards `to`, in about so many `seconds`; `None` if there was
/// not even time for the first sizes.
pub(super) fn link(
    messenger: &mut impl Messenger,
    to: usize,
    seconds: f64,
    largest: u64,
) -> Option<Link> {
    let mut probe = Probe::new(messenger, to, seconds);
    let empty = probe.empty();
    let mut samples = Vec::new();
    for bytes in first_sizes(largest) {
        if samples.len() > 1 && probe.is_late() {
            break;
        }
        samples.push(probe.size(bytes, &empty));
    }
    samples.sort_by_key(|sample| sample.bytes);
    while samples.len() < 16 && !probe.is_late() {
        let Some(bytes) = next_size(&samples, empty.latency) else {
            break;
        };
        let place = samples.partition_point(|sample| sample.bytes < bytes);
        samples.insert(place, probe.size(bytes, &empty));
    }
    probe.done();
    samples.insert(0, empty.sample);
    Link::new(empty.latency, samples).ok()
}

/// Messages one after the other: seconds for `count` of `bytes`, without the
/// latency of the answer.
pub(super) fn stream(messenger: &mut impl Messenger, to: usize, bytes: u64, count: usize) -> f64 {
    let mut probe = Probe::new(messenger, to, f64::INFINITY);
    let answer = probe.round_trips(0, 2);
    let answer = answer
        .iter()
        .map(|trip| trip.0)
        .fold(f64::INFINITY, f64::min);
    let trains = probe.trains(bytes, count, 1);
    probe.done();
    (trains[0] - answer).max(1e-9)
}

/// What empty messages say about a link.
struct Empty {
    round_trip: f64,
    latency: f64,
    sample: Sample,
}

/// What round trips of one size took.
struct Trips {
    time: Estimate,
    least: f64,
    /// Median of how long the sends occupied the sender.
    send: f64,
}

/// A measurement towards one rank.
struct Probe<'a, M: Messenger> {
    messenger: &'a mut M,
    to: usize,
    deadline: f64,
}

impl<'a, M: Messenger> Probe<'a, M> {
    fn new(messenger: &'a mut M, to: usize, seconds: f64) -> Self {
        let deadline = messenger.seconds() + seconds;
        Probe {
            messenger,
            to,
            deadline,
        }
    }

    fn is_late(&mut self) -> bool {
        self.messenger.seconds() > self.deadline
    }

    fn done(self) {
        self.messenger.tell(self.to, &Request::Done.text());
    }

    /// Times of round trips and of their sends, one more than counted: the first
    /// finds the mirror still on its way.
    fn round_trips(&mut self, bytes: u64, times: usize) -> Vec<(f64, f64)> {
        let request = Request::RoundTrips {
            bytes,
            times: times + 1,
        };
        self.messenger.tell(self.to, &request.text());
        let mut trips = Vec::with_capacity(times + 1);
        for _ in 0..=times {
            let began = self.messenger.seconds();
            self.messenger.send(self.to, bytes);
            let sent = self.messenger.seconds();
            self.messenger.receive(self.to, 0);
            trips.push((self.messenger.seconds() - began, sent - began));
        }
        trips.split_off(1)
    }

    /// Times of trains up to the answer, the first one not counted.
    fn trains(&mut self, bytes: u64, count: usize, times: usize) -> Vec<f64> {
        let request = Request::Trains {
            bytes,
            count,
            times: times + 1,
        };
        self.messenger.tell(self.to, &request.text());
        let mut trains = Vec::with_capacity(times + 1);
        for _ in 0..=times {
            let began = self.messenger.seconds();
            self.messenger.send_train(self.to, bytes, count);
            self.messenger.receive(self.to, 0);
            trains.push(self.messenger.seconds() - began);
        }
        trains.split_off(1)
    }

    /// Times of receiving what has arrived already.
    fn late(&mut self, bytes: u64, wait: f64, times: usize) -> Vec<f64> {
        let request = Request::Late { bytes, times };
        self.messenger.tell(self.to, &request.text());
        let mut received = Vec::with_capacity(times);
        for _ in 0..times {
            self.messenger.send(self.to, 0);
            self.messenger.pause(wait);
            let began = self.messenger.seconds();
            self.messenger.receive(self.to, bytes);
            received.push(self.messenger.seconds() - began);
        }
        received
    }

    /// Round trips until their median is known well enough.
    fn good_round_trips(&mut self, bytes: u64) -> Trips {
        let mut trips = self.round_trips(bytes, if bytes > BUFFERED { 2 } else { 3 });
        let mut rounds = 0;
        loop {
            let times: Vec<f64> = trips.iter().map(|trip| trip.0).collect();
            let sends: Vec<f64> = trips.iter().map(|trip| trip.1).collect();
            let found = estimate(&times).expect("there are at least two round trips");
            if rounds == 2 || found.is_within(PRECISION) || self.is_late() {
                return Trips {
                    time: found,
                    least: times.into_iter().fold(f64::INFINITY, f64::min),
                    send: median(&sends).unwrap_or(0.0),
                };
            }
            let more = ((10e-3 / found.median) as usize).clamp(3, 30);
            trips.extend(self.round_trips(bytes, more));
            rounds += 1;
        }
    }

    /// `RTT(0)`, `g(0)` and with them `L`.
    fn empty(&mut self) -> Empty {
        let Trips {
            time: trip,
            least,
            send,
        } = self.good_round_trips(0);
        let mut count = 16;
        let mut half = self.best_train(0, count / 2, least);
        let mut train = self.best_train(0, count, least);
        let mut gap = gap_of_empty(half, train, count);
        // Doubled until the gap stays, and the train is longer than the way.
        while count < LONGEST_TRAIN && !self.is_late() {
            count *= 2;
            half = train;
            train = self.best_train(0, count, least);
            let longer = gap_of_empty(half, train, count);
            let stays = (longer - gap).abs() < PRECISION * longer;
            gap = longer;
            if stays {
                break;
            }
        }
        let gap = gap.clamp(1e-9, trip.median / 4.0);
        let wait = 1.5 * trip.median;
        let receive = median(&self.late(0, wait, 3)).unwrap_or(gap);
        Empty {
            round_trip: trip.median,
            // The shortest: whatever disturbs a way makes it longer.
            latency: latency_of_round_trips(least, gap.min(least / 4.0)),
            sample: Sample {
                bytes: 0,
                gap,
                handshake: 0.0,
                send,
                receive,
                confidence: trip.half_width() / 2.0,
            },
        }
    }

    fn best_train(&mut self, bytes: u64, count: usize, way: f64) -> f64 {
        // Long ways and long messages hide the noise that others are repeated for.
        let times = match (way > LONG, bytes > BUFFERED) {
            (true, true) => 1,
            (true, false) => 2,
            (false, _) => 4,
        };
        let trains = self.trains(bytes, count.max(1), times);
        trains.into_iter().fold(f64::INFINITY, f64::min)
    }

    /// The costs of one size.
    fn size(&mut self, bytes: u64, empty: &Empty) -> Sample {
        if bytes > BUFFERED {
            // The connection learns what the link carries.
            self.trains(bytes, 1, 0);
        }
        let Trips {
            time: trip,
            least,
            send,
        } = self.good_round_trips(bytes);
        let isolated = isolated_gap(trip.median, empty.round_trip, empty.sample.gap);
        // Long enough to hide the noise of a round trip, short enough to buffer.
        let enough = (empty.round_trip.max(LONG) / isolated.max(1e-7)).ceil() as u64;
        let most = (TRAIN_BYTES / bytes.max(1)).clamp(3, 256);
        let count = enough.clamp(4, 256).min(most) as usize;
        let slope = (self.best_train(bytes, count, empty.round_trip) - least) / (count - 1) as f64;
        // No message is quicker than an empty one, nor quicker together than alone.
        let gap = slope.clamp(empty.sample.gap, isolated.max(empty.sample.gap));
        // On long ways the waiting would take longer than all the rest.
        let repeats = if trip.median > LONG { 1 } else { 3 };
        let receive = match bytes <= BUFFERED {
            true => median(&self.late(bytes, 1.5 * trip.median, repeats)).unwrap_or(gap),
            false => gap,
        };
        Sample {
            bytes,
            gap,
            handshake: significant(isolated - gap, empty.latency),
            send,
            receive,
            confidence: trip.half_width(),
        }
    }
}

/// A handshake costs a round trip; what is below a quarter of a latency is
/// noise, and part of the time that a message takes through buffers.
fn significant(handshake: f64, latency: f64) -> f64 {
    match handshake > latency / 4.0 {
        true => handshake,
        false => 0.0,
    }
}
