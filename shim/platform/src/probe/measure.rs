//! The parameters of one link, by Kielmann's method (LogP-MPI; thesis 4.8.1, item 21), between a
//! rank that measures and one that echoes.
//!
//! Beyond the thesis: the gap is the slope of trains whose messages start together, so that it is
//! the capacity of the link; the additional time of an isolated message is the handshake of the
//! rendezvous. Nothing is repeated more often than precision requires.

use treepie_base::statistics::{Estimate, estimate, median};

use super::sizes::{initial_sizes, next_size};
use super::timer::{Timer, Trip};
use crate::link::{Link, Sample};
use crate::probe::messenger::Messenger;

/// `L = (RTT(0) - 2 g(0)) / 2`, in seconds; at least a hundredth of the round trip, since only
/// noise could make it less.
pub fn latency_of_round_trips(empty_round_trip: f64, empty_gap: f64) -> f64 {
    ((empty_round_trip - 2.0 * empty_gap) / 2.0).max(empty_round_trip / 100.0)
}

/// `g(m) = RTT(m) - RTT(0) + g(0)`: gap and handshake of an isolated message.
pub fn isolated_gap(round_trip: f64, empty_round_trip: f64, empty_gap: f64) -> f64 {
    (round_trip - empty_round_trip + empty_gap).max(0.0)
}

/// The gap from a train of `count` messages and an isolated message, up to the answer: the slope,
/// which does not contain the latency that `RTT(n) / n` of the thesis only reduces.
pub fn gap_of_train(alone: f64, train: f64, count: usize) -> f64 {
    (train - alone) / count.saturating_sub(1).max(1) as f64
}

/// Relative width of the interval at which a median is precise enough.
const PRECISION: f64 = 0.05;
/// Maximum length of trains of empty messages: fewer than any MPI buffers, and on a long path fewer
/// than a connection holds back until the first ones are acknowledged.
const LONGEST_TRAIN: [usize; 2] = [512, 48];
/// Maximum number of bytes of a train.
const TRAIN_BYTES: u64 = 2 << 20;
/// Excess of the time of a train over a round trip, in seconds, so that a disturbance of the
/// machine changes its slope little. On short paths and on long ones.
const TRAIN_SECONDS: [f64; 2] = [4e-3, 10e-3];
/// Size up to which a whole message waits in the receiver's buffers.
const BUFFERED: u64 = 32 << 10;
/// Maximum number of samples of a link.
const SAMPLES: usize = 16;

/// Half of the shortest round trip of an empty message, for clustering (NWS's latency). The
/// shortest, since other work only makes it longer.
pub(super) fn latency(messenger: &mut impl Messenger, to: usize) -> f64 {
    let mut timer = Timer::new(messenger, to, f64::INFINITY);
    let mut trips = timer.empty_round_trips(2);
    let agree = (trips[0].time - trips[1].time).abs() < PRECISION * shortest(&trips);
    // Long paths need few round trips, short ones are easily disturbed.
    if !(timer.is_long() && agree) {
        let times = ((20e-3 / shortest(&trips)) as usize).clamp(2, 40);
        trips.extend(timer.round_trips(&vec![0; times]));
    }
    timer.done();
    shortest(&trips) / 2.0
}

fn shortest(trips: &[Trip]) -> f64 {
    let times = trips.iter().map(|trip| trip.time);
    times.fold(f64::INFINITY, f64::min)
}

/// Measures all parameters towards `to`, in about `seconds`, for messages up to `largest` bytes,
/// and for `also`, additional sizes.
pub(super) fn link(
    messenger: &mut impl Messenger,
    to: usize,
    seconds: f64,
    largest: u64,
    also: &[u64],
) -> Option<Link> {
    let mut timer = Timer::new(messenger, to, seconds);
    let trips = timer.empty_round_trips(2);
    let (largest, per_byte) = warm(&mut timer, shortest(&trips), largest);
    let mut way = PathTimer::new(timer, trips, per_byte);
    let mut samples = Vec::new();
    let is_long = way.timer.is_long();
    for sizes in initial_sizes(largest, also, is_long) {
        if !samples.is_empty() && way.timer.is_late() {
            break;
        }
        samples.extend(way.samples(&sizes));
    }
    samples.sort_by_key(|sample| sample.bytes);
    while samples.len() < SAMPLES && !way.timer.is_late() {
        let Some(bytes) = next_size(&samples, way.empty.latency) else {
            break;
        };
        let place = samples.partition_point(|sample| sample.bytes < bytes);
        samples.splice(place..place, way.samples(&[bytes]));
    }
    samples.insert(0, way.empty.sample);
    way.receive(&mut samples);
    way.timer.done();
    Link::new(way.empty.latency, samples).ok()
}

/// Sends messages one after the other; returns the seconds for `count` messages of `bytes` bytes,
/// without the latency of the answer.
pub(super) fn stream(messenger: &mut impl Messenger, to: usize, bytes: u64, count: usize) -> f64 {
    let mut timer = Timer::new(messenger, to, f64::INFINITY);
    let answer = shortest(&timer.empty_round_trips(2));
    // The first train lets the connection adapt to the capacity of the link.
    let trains = timer.trains(&[(bytes, count), (bytes, count)]);
    timer.done();
    (trains[1] - answer).max(1e-9)
}

/// Costs of empty messages on a link.
struct Empty {
    round_trip: Estimate,
    latency: f64,
    sample: Sample,
}

/// Times of round trips of one size.
struct Trips {
    time: Estimate,
    /// Median time for which the sends occupied the sender.
    send: f64,
}

impl Trips {
    fn new(trips: &[Trip]) -> Trips {
        let times: Vec<f64> = trips.iter().map(|trip| trip.time).collect();
        let sends: Vec<f64> = trips.iter().map(|trip| trip.send).collect();
        Trips {
            time: estimate(&times).expect("every size has a round trip"),
            send: median(&sends).unwrap_or(0.0),
        }
    }

    fn are_enough(trips: &[Trip]) -> bool {
        trips.len() > 1 && Trips::new(trips).time.is_within(PRECISION)
    }
}

/// The path to one rank, for which empty messages are measured.
struct PathTimer<'a, M: Messenger> {
    timer: Timer<'a, M>,
    empty: Empty,
    /// Upper limit of the seconds per byte.
    per_byte: f64,
}

impl<'a, M: Messenger> PathTimer<'a, M> {
    /// Measures `RTT(0)`, `g(0)` and with them `L`, from these round trips and additional ones.
    fn new(mut timer: Timer<'a, M>, mut trips: Vec<Trip>, per_byte: f64) -> Self {
        for _ in 0..3 {
            // Two may agree by chance, on a path where repeating costs nothing.
            let are_many = timer.is_long() || trips.len() > 2;
            if are_many && Trips::are_enough(&trips) || timer.is_late() {
                break;
            }
            let more = repeats(shortest(&trips));
            trips.extend(timer.round_trips(&vec![0; more]));
        }
        let (Trips { time, send }, least) = (Trips::new(&trips), shortest(&trips));
        // On a long path an empty message takes almost no time.
        let most = if timer.is_long() { 0.005 } else { 0.25 };
        let gap = gap_of_nothing(&mut timer, least).clamp(1e-9, least * most);
        let empty = Empty {
            round_trip: time,
            // The shortest: any disturbance makes it longer.
            latency: latency_of_round_trips(least, gap),
            sample: Sample {
                bytes: 0,
                gap,
                handshake: 0.0,
                send,
                receive: gap,
                confidence: time.half_width() / 2.0,
            },
        };
        PathTimer {
            timer,
            empty,
            per_byte,
        }
    }

    /// Measures the costs of these sizes, without those of receiving.
    fn samples(&mut self, sizes: &[u64]) -> Vec<Sample> {
        let mut trips = self.trips(sizes);
        let gaps = self.gaps(sizes, &mut trips);
        for (&bytes, &gap) in sizes
            .iter()
            .zip(&gaps)
            .filter(|(bytes, _)| **bytes > BUFFERED)
        {
            self.per_byte = self.per_byte.min(gap / bytes as f64);
        }
        let all = sizes.iter().zip(&trips).zip(gaps);
        all.map(|((&bytes, trips), gap)| {
            let trips = Trips::new(trips);
            Sample {
                bytes,
                gap,
                handshake: significant(self.isolated(&trips) - gap, self.empty.latency),
                send: trips.send,
                receive: gap,
                // A size that was sent once is known as precisely as empty ones.
                confidence: trips.time.half_width().max(self.empty.sample.confidence),
            }
        })
        .collect()
    }

    fn isolated(&self, trips: &Trips) -> f64 {
        let empty = self.empty.round_trip;
        // The few of a long path are compared at their minimum.
        let (trip, empty) = if self.timer.is_long() {
            (trips.time.low, empty.low)
        } else {
            (trips.time.median, empty.median)
        };
        isolated_gap(trip, empty, self.empty.sample.gap)
    }

    /// Round trips of every size: on a short path until their median is precise enough, on a long
    /// one only one, with which a train must agree.
    fn trips(&mut self, sizes: &[u64]) -> Vec<Vec<Trip>> {
        let mut taken: Vec<Vec<Trip>> = vec![Vec::new(); sizes.len()];
        let (first, rounds) = if self.timer.is_long() { (1, 1) } else { (5, 3) };
        for round in 0..rounds {
            if round > 0 && self.timer.is_late() {
                break;
            }
            let mut places = Vec::new();
            for (place, trips) in taken.iter().enumerate() {
                let times = match trips.is_empty() {
                    true => first,
                    false if Trips::are_enough(trips) => 0,
                    false => repeats(shortest(trips)),
                };
                places.extend(std::iter::repeat_n(place, times));
            }
            self.take_trips(&places, sizes, &mut taken);
        }
        taken
    }

    /// Takes one more round trip of each size at these indices.
    fn take_trips(&mut self, places: &[usize], sizes: &[u64], taken: &mut [Vec<Trip>]) {
        if places.is_empty() {
            return;
        }
        let requested: Vec<u64> = places.iter().map(|&place| sizes[place]).collect();
        for (&place, trip) in places.iter().zip(self.timer.round_trips(&requested)) {
            taken[place].push(trip);
        }
    }

    /// Measures the gap of every size: the slope from one message to a train of them. Of several
    /// trains the fastest. On a long path, trains and round trips that do not agree are repeated.
    fn gaps(&mut self, sizes: &[u64], taken: &mut [Vec<Trip>]) -> Vec<f64> {
        let cars = |(&bytes, trips): (&u64, &Vec<Trip>)| self.cars(bytes, &Trips::new(trips));
        let trains: Vec<usize> = sizes.iter().zip(&*taken).map(cars).collect();
        let slope = |place: usize, train: f64, taken: &[Vec<Trip>]| {
            gap_of_train(shortest(&taken[place]), train, trains[place])
        };
        let mut best = vec![f64::INFINITY; sizes.len()];
        let mut is_confirmed = vec![false; sizes.len()];
        let (is_long, times) = (
            self.timer.is_long(),
            if self.timer.is_long() { 3 } else { 4 },
        );
        for round in 0..times {
            let agrees = |place: usize| {
                let gap = slope(place, best[place], taken);
                is_long
                    && (is_confirmed[place] || self.is_plausible(gap, &Trips::new(&taken[place])))
            };
            let is_wanted = |&place: &usize| round == 0 || !agrees(place);
            let places: Vec<usize> = (0..sizes.len()).filter(is_wanted).collect();
            if places.is_empty() || round > 0 && self.timer.is_late() {
                break;
            }
            if is_long && round > 0 {
                self.take_trips(&places, sizes, taken);
            }
            let requested: Vec<(u64, usize)> = places
                .iter()
                .map(|&place| (sizes[place], trains[place]))
                .collect();
            for (place, time) in places.into_iter().zip(self.timer.trains(&requested)) {
                is_confirmed[place] = (time - best[place]).abs() < PRECISION / 2.0 * time;
                best[place] = best[place].min(time);
            }
        }
        (0..sizes.len())
            .map(|place| {
                // No message is faster than an empty one, nor faster in a train than alone, as far
                // as known.
                let least = self.empty.sample.gap;
                let slope = slope(place, best[place], taken);
                let most = self.isolated(&Trips::new(&taken[place])) + self.tolerance(slope);
                slope.clamp(least, most.max(least))
            })
            .collect()
    }

    /// True if a gap agrees with the time of an isolated message: equal, or less by a handshake of
    /// one or two whole round trips.
    fn is_plausible(&self, gap: f64, trips: &Trips) -> bool {
        let handshake = self.isolated(trips) - gap;
        let round_trip = 2.0 * self.empty.latency;
        let whole = (handshake / round_trip).round().clamp(0.0, 2.0) * round_trip;
        (handshake - whole).abs() < self.tolerance(gap)
    }

    /// Largest difference of a round trip and a train that agree.
    fn tolerance(&self, gap: f64) -> f64 {
        PRECISION * (gap + self.empty.latency / 4.0)
    }

    /// Number of messages in a train: long enough to hide noise, short enough to buffer.
    fn cars(&self, bytes: u64, trips: &Trips) -> usize {
        let noise = 20.0 * self.empty.round_trip.half_width();
        let seconds = TRAIN_SECONDS[usize::from(self.timer.is_long())].max(noise);
        let each = self.isolated(trips).min(self.per_byte * bytes as f64);
        let more = (seconds / each.max(1e-7)).ceil() as usize;
        let most = usize::try_from(TRAIN_BYTES / bytes.max(1)).unwrap_or(usize::MAX);
        let longest = LONGEST_TRAIN[usize::from(self.timer.is_long())];
        (1 + more).min(most).clamp(2, longest)
    }

    /// Measures the overhead of receiving for sizes that arrive before they are received; for
    /// others it equals the gap.
    fn receive(&mut self, samples: &mut [Sample]) {
        let is_buffered = |sample: &Sample| sample.bytes <= BUFFERED && sample.handshake == 0.0;
        let buffered = samples.iter_mut().filter(|sample| is_buffered(sample));
        let mut buffered: Vec<&mut Sample> = buffered.collect();
        let sizes: Vec<u64> = buffered.iter().map(|sample| sample.bytes).collect();
        let wait = 1.5 * self.empty.round_trip.median
            + buffered.iter().map(|sample| sample.gap).sum::<f64>();
        // On long paths the waiting would take longer than everything else.
        let times = if self.timer.is_long() { 1 } else { 3 };
        let received: Vec<Vec<f64>> = (0..times).map(|_| self.timer.late(&sizes, wait)).collect();
        for (place, sample) in buffered.iter_mut().enumerate() {
            let of_size: Vec<f64> = received.iter().map(|times| times[place]).collect();
            // Slower sizes have not arrived before.
            sample.receive = median(&of_size).unwrap_or(sample.gap).min(sample.gap);
        }
    }
}

/// Warms the connection up, so that it adapts to the capacity of the link. Returns the largest size
/// up to `largest` for which there is time, and the approximate seconds per byte; an empty round
/// trip takes `least` seconds.
fn warm(timer: &mut Timer<'_, impl Messenger>, least: f64, largest: u64) -> (u64, f64) {
    /// Bytes that a new connection sends before the first acknowledgement.
    const TASTE: u64 = 14_000;
    /// Number of bytes after which most connections have adapted.
    const ENOUGH: u64 = 512 << 10;
    /// Approximate number of sends of each size.
    const SENDS: f64 = 6.0;
    let taste = largest.clamp(1, TASTE);
    let rate = |trip: f64, bytes: u64| (trip - least).max(1e-9) / bytes as f64;
    let per_byte = rate(shortest(&timer.round_trips(&[taste])), taste);
    let affordable = (timer.left() / (SENDS * per_byte)).max(1.0) as u64;
    let largest = if affordable < largest {
        (1 << affordable.ilog2()).max(taste)
    } else {
        largest
    };
    let enough = largest.min(ENOUGH);
    let per_byte = rate(shortest(&timer.round_trips(&[enough])), enough);
    (largest, per_byte)
}

/// `g(0)`, from trains; `least` is the shortest round trip.
fn gap_of_nothing(timer: &mut Timer<'_, impl Messenger>, least: f64) -> f64 {
    let longest = LONGEST_TRAIN[usize::from(timer.is_long())];
    let times = if timer.is_long() { 2 } else { 4 };
    let mut count = if timer.is_long() { longest } else { 64 };
    let mut gap = f64::INFINITY;
    // Doubled until the gap does not change any more.
    loop {
        let trains = timer.trains(&vec![(0, count); times]);
        let train = trains.into_iter().fold(f64::INFINITY, f64::min);
        let longer = gap_of_train(least, train, count).max(0.0);
        let stays = (longer - gap).abs() < PRECISION * longer;
        gap = longer;
        if stays || count >= longest || timer.is_late() {
            return gap;
        }
        count *= 2;
    }
}

/// Number of repetitions of a round trip that takes `trip` seconds.
fn repeats(trip: f64) -> usize {
    ((8e-3 / trip) as usize).clamp(2, 20)
}

/// A handshake costs a round trip; a time below half a latency is noise, and part of the time that
/// a message spends in buffers.
fn significant(handshake: f64, latency: f64) -> f64 {
    if handshake > latency / 2.0 {
        handshake
    } else {
        0.0
    }
}
