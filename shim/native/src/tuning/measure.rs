//! Measurement of one cell: rounds in which each way of running the call, including the default,
//! has its turn, in random order, until it is clear which of them are faster than the default.
//!
//! A way's time in a round is the median over its calls of the slowest rank's time from a common
//! start. In each round a way wins against the default or loses; the verdict is the sequential sign
//! test of [`Signs`]. All ranks compute all of this from the same numbers, which come from one
//! exchange for each round.

use treepie_base::SplitMix64;
use treepie_base::proof::Signs;
use treepie_base::statistics::median;

/// Maximum fraction of the default's time that a way may take to win.
const WIN: f64 = 0.98;

/// Odds that a way is faster, for one cell with one way; multiplied for more ways.
const ODDS: u32 = 20;

/// Odds that it is not, for one that is dropped early.
const DROP_ODDS: u32 = 5;

/// Number of calls of each way before any counts: connections are established, and MPICH changes
/// its algorithm after the fifth call.
const WARM_UP: usize = 8;

/// Number of the first of those, after which ways are dropped that take this multiple of the
/// default's time.
const FIRST: usize = 2;
const HOPELESS: f64 = 3.0;

/// Multiple of the default's time in the rest of them above which a way is not tried.
const SLOWER: f64 = 1.3;

/// Maximum number of calls of a way in a round, and seconds that they should fill.
const MOST_CALLS: usize = 5;
const FILL: f64 = 0.5e-3;

/// Number of rounds after which a cell stays undecided. [`Signs`] holds at most 100.
const MOST_ROUNDS: usize = 60;

/// Number of rounds in which a way that is always faster is proven to be, against many others, plus
/// some.
const NEEDED_ROUNDS: usize = 14;

/// Number of rounds in which ways that are faster than the default are compared with each other.
const ENOUGH_ROUNDS: usize = 16;

/// Measuring device: calls of a way on this rank, and exchanges between the ranks of the
/// communicator.
pub trait Clock {
    /// Makes the call `calls` times by way number `way` (0 is the default), each from a common
    /// start; returns the seconds of each on this rank.
    fn time(&mut self, way: usize, calls: usize) -> Vec<f64>;

    /// Replaces each number by the maximum over the ranks.
    fn largest(&mut self, numbers: &mut [f64]);

    /// Returns the seconds since the measurement began, on this rank.
    fn elapsed(&self) -> f64;
}

/// Time limit of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Elapsed seconds at which the cell must be left.
    pub until: f64,
    /// Seed of the random order of the ways.
    pub seed: u64,
}

/// Verdict on a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It takes at most 0.98 of the default's time, with the required odds.
    Faster,
    /// It does not.
    Dropped,
    /// Neither was proven.
    Undecided,
}

/// Result for a way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlgorithmResult {
    /// Verdict on it; meaningless for the default.
    pub verdict: Verdict,
    /// Median of the seconds of its rounds.
    pub seconds: f64,
    /// Median of the default's seconds in the rounds that both were in.
    pub native_seconds: f64,
}

/// Way while it is measured.
#[derive(Default)]
struct AlgorithmTimes {
    signs: Signs,
    times: Vec<f64>,
    verdict: Option<Verdict>,
}

/// Measures `ways` ways, of which number 0 is the default. `None` if the time was over before any
/// measurement. Collective over the ranks of the communicator.
pub fn measure(
    clock: &mut impl Clock,
    ways: usize,
    budget: Budget,
) -> Option<Vec<AlgorithmResult>> {
    let mut elapsed = [clock.elapsed()];
    clock.largest(&mut elapsed);
    if elapsed[0] >= budget.until {
        return None;
    }
    let mut found: Vec<AlgorithmTimes> = (0..ways).map(|_| AlgorithmTimes::default()).collect();
    let mut warm = vec![f64::NAN; ways];
    for (calls, limit) in [(FIRST, HOPELESS), (WARM_UP - FIRST, SLOWER)] {
        let left: Vec<usize> = (0..ways)
            .filter(|&way| found[way].verdict.is_none())
            .collect();
        let (times, elapsed) = round(clock, &left, calls);
        for (&way, &seconds) in left.iter().zip(&times) {
            warm[way] = seconds;
            found[way].verdict = (seconds > limit * times[0]).then_some(Verdict::Dropped);
        }
        if calls == FIRST {
            narrow(&mut found, &warm, budget.until - elapsed);
        }
    }
    let calls = calls_of(warm[0]);
    // The remaining ways follow from the warm-up, which no verdict counts.
    let open = found.iter().filter(|way| way.verdict.is_none()).count();
    let odds = ODDS * (open.max(2) as u32 - 1);
    let mut native = Vec::new();
    for number in 0..MOST_ROUNDS {
        let runs = |way: &usize| matches!(found[*way].verdict, None | Some(Verdict::Faster));
        let mut order: Vec<usize> = (0..ways).filter(runs).collect();
        if is_over(&order, &found, number) {
            break;
        }
        SplitMix64::new(budget.seed ^ ((number as u64) << 32)).shuffle(&mut order);
        let (times, elapsed) = round(clock, &order, calls);
        let default = order.iter().position(|way| *way == 0);
        let reference = default.map_or(f64::NAN, |at| times[at]);
        native.push(reference);
        for (way, seconds) in order.iter().zip(times).filter(|(way, _)| **way != 0) {
            found[*way].judge(seconds, reference, odds);
        }
        if elapsed >= budget.until {
            break;
        }
    }
    let ways = found.iter().zip(&warm);
    Some(
        ways.map(|(way, warm_up)| way.found(&native, (*warm_up, warm[0])))
            .collect(),
    )
}

/// Returns the number of calls of a way in a round, if one takes `seconds` seconds.
fn calls_of(seconds: f64) -> usize {
    ((FILL / seconds.max(1e-9)) as usize).clamp(1, MOST_CALLS)
}

/// Leaves the slowest of the running ways undecided, until the others, at least one, can be proven
/// to be faster than the default in `seconds` seconds.
fn narrow(found: &mut [AlgorithmTimes], warm: &[f64], seconds: f64) {
    let calls = WARM_UP - FIRST + NEEDED_ROUNDS * calls_of(warm[0]);
    let mut open: Vec<usize> = (1..found.len())
        .filter(|&way| found[way].verdict.is_none())
        .collect();
    open.sort_by(|one, other| warm[*one].total_cmp(&warm[*other]));
    let mut cost = calls as f64 * warm[0];
    for (place, &way) in open.iter().enumerate() {
        cost += calls as f64 * warm[way];
        if place > 0 && cost > seconds {
            found[way].verdict = Some(Verdict::Undecided);
        }
    }
}

/// True if, after `rounds` rounds, the ways that still run have no open question.
fn is_over(running: &[usize], found: &[AlgorithmTimes], rounds: usize) -> bool {
    let others = || running.iter().filter(|way| **way != 0);
    let open = others().any(|way| found[*way].verdict.is_none());
    // Several that are faster than the default are still compared with each other.
    let compared = others().count() < 2 || rounds >= ENOUGH_ROUNDS;
    !open && compared
}

/// Returns the times of the ways in `order`, in this order, by the slowest rank; and the seconds
/// since the measurement began.
fn round(clock: &mut impl Clock, order: &[usize], calls: usize) -> (Vec<f64>, f64) {
    let mut numbers = Vec::with_capacity(order.len() * calls + 1);
    for way in order {
        numbers.extend(clock.time(*way, calls));
    }
    numbers.push(clock.elapsed());
    clock.largest(&mut numbers);
    let elapsed = numbers.pop().unwrap_or(f64::INFINITY);
    let each = numbers.chunks_exact(calls);
    (
        each.map(|of_way| median(of_way).unwrap_or(f64::NAN))
            .collect(),
        elapsed,
    )
}

impl AlgorithmTimes {
    fn judge(&mut self, seconds: f64, reference: f64, odds: u32) {
        self.times.push(seconds);
        match seconds < WIN * reference {
            true => self.signs.wins += 1,
            false => self.signs.losses += 1,
        }
        if self.verdict.is_some() {
            return;
        }
        if self.signs.favour(odds) {
            self.verdict = Some(Verdict::Faster);
        } else if self.signs.mirrored().favour(DROP_ODDS) {
            self.verdict = Some(Verdict::Dropped);
        }
    }

    /// Returns the result, compared with the times of the default, and with those of both in the
    /// warm-up.
    fn found(&self, native: &[f64], (warm_up, of_default): (f64, f64)) -> AlgorithmResult {
        let both = native.get(..self.times.len()).unwrap_or(native);
        let of_default = median(both).or(median(native)).unwrap_or(of_default);
        AlgorithmResult {
            verdict: self.verdict.unwrap_or(Verdict::Undecided),
            seconds: median(&self.times).unwrap_or(warm_up),
            native_seconds: of_default,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Machine on which ways take these times, each with noise of up to a fifth, and disturbed
    /// calls.
    struct Machine {
        seconds: Vec<f64>,
        noise: u64,
        now: f64,
        calls: Vec<usize>,
    }

    impl Machine {
        fn new(seconds: &[f64]) -> Self {
            Machine {
                seconds: seconds.to_vec(),
                noise: 1,
                now: 0.0,
                calls: vec![0; seconds.len()],
            }
        }

        fn uniform(&mut self) -> f64 {
            self.noise = self
                .noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.noise >> 33) as f64 / (1u64 << 31) as f64
        }
    }

    impl Clock for Machine {
        fn time(&mut self, way: usize, calls: usize) -> Vec<f64> {
            self.calls[way] += calls;
            let mut call = || {
                let disturbed = if self.uniform() < 0.05 { 3.0 } else { 1.0 };
                let seconds = self.seconds[way] * (0.9 + 0.2 * self.uniform()) * disturbed;
                self.now += seconds;
                seconds
            };
            (0..calls).map(|_| call()).collect()
        }

        fn largest(&mut self, _: &mut [f64]) {}

        fn elapsed(&self) -> f64 {
            self.now
        }
    }

    const LONG: Budget = Budget {
        until: 1e9,
        seed: 7,
    };

    fn verdicts(seconds: &[f64]) -> Vec<Verdict> {
        let found = measure(&mut Machine::new(seconds), seconds.len(), LONG).unwrap();
        found[1..].iter().map(|way| way.verdict).collect()
    }

    #[test]
    fn what_is_faster_is_found_and_what_is_as_quick_is_not_adopted() {
        let found = verdicts(&[1e-4, 0.7e-4, 1e-4, 1.5e-4, 0.5e-4]);
        assert_eq!(found[0], Verdict::Faster);
        assert_ne!(found[1], Verdict::Faster);
        assert_eq!(found[2], Verdict::Dropped);
        assert_eq!(found[3], Verdict::Faster);
    }

    #[test]
    fn of_two_that_are_faster_the_times_tell_which_is_the_best() {
        let found = measure(&mut Machine::new(&[1e-4, 0.7e-4, 0.5e-4]), 3, LONG).unwrap();
        assert!(found[2].seconds < found[1].seconds);
        assert!((found[2].native_seconds / found[2].seconds - 2.0).abs() < 0.3);
    }

    #[test]
    fn equals_are_hardly_ever_told_apart() {
        let adopted = (0..200).filter(|seed| {
            let mut machine = Machine::new(&[1e-4; 4]);
            machine.noise = *seed;
            let found = measure(
                &mut machine,
                4,
                Budget {
                    seed: *seed,
                    ..LONG
                },
            )
            .unwrap();
            found[1..].iter().any(|way| way.verdict == Verdict::Faster)
        });
        let adopted = adopted.count();
        assert!(adopted <= 10, "{adopted} of 200");
    }

    #[test]
    fn a_hopeless_way_is_left_after_its_warm_up() {
        let mut machine = Machine::new(&[1e-4, 1e-2, 2e-4]);
        let found = measure(&mut machine, 3, LONG).unwrap();
        assert!(found[1..].iter().all(|way| way.verdict == Verdict::Dropped));
        assert_eq!(machine.calls[1], FIRST);
        assert_eq!(machine.calls[2], WARM_UP);
    }

    #[test]
    fn what_time_does_not_suffice_for_stays_undecided_or_is_left_out() {
        let mut machine = Machine::new(&[1e-4, 0.5e-4]);
        let short = Budget {
            until: 15e-4,
            seed: 1,
        };
        let found = measure(&mut machine, 2, short).unwrap();
        assert_eq!(found[1].verdict, Verdict::Undecided);
        assert_eq!(measure(&mut machine, 2, short), None);
    }

    #[test]
    fn where_time_is_short_the_fastest_are_shown_and_the_others_stay_undecided() {
        let mut seconds = vec![0.4; 12];
        seconds[7] = 0.2;
        let short = Budget {
            until: 25.0,
            seed: 1,
        };
        let mut machine = Machine::new(&seconds);
        let found = measure(&mut machine, 12, short).unwrap();
        assert_eq!(found[7].verdict, Verdict::Faster);
        let others = |way: &usize| ![0, 7].contains(way);
        assert!(
            (0..12)
                .filter(others)
                .all(|way| found[way].verdict != Verdict::Faster && found[way].seconds > 0.3)
        );
        assert!((1..12).any(|way| machine.calls[way] == FIRST));
        assert!(machine.now < 30.0, "{}", machine.now);
    }

    #[test]
    fn an_order_is_a_permutation_that_the_seed_decides() {
        let of = |seed| {
            let mut order: Vec<usize> = (0..9).collect();
            SplitMix64::new(seed).shuffle(&mut order);
            order
        };
        assert_eq!(of(3), of(3));
        assert!((0..20).any(|seed| of(seed) != of(3)));
        let mut sorted = of(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..9).collect::<Vec<_>>());
    }
}
