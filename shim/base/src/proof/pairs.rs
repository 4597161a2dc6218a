//! Times of whole runs in pairs: the faster way, its gain, and the certainty of that.
//!
//! The test bets on each pair's sign, the more the larger the pair's ratio is beside those before
//! (a test martingale: Shafer, Vovk, "Game-Theoretic Foundations", 2019; Waudby-Smith, Ramdas,
//! "Estimating means of bounded random variables by betting", 2024). The size of a ratio is
//! independent of its sign if the order inside a pair was random, so the bet is fair.

/// Bets for a typical ratio: for gains that are small, and large, compared with the noise.
const STAKES: [f64; 2] = [0.5, 1.5];

/// Odds on each side, so that the error rate of both together is 5 % of all comparisons of equals.
const ODDS: f64 = 40.0;

/// Times of the same job in two ways, in pairs, in the order in which they ran.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pairs {
    /// Logarithm of baseline over candidate: positive if the candidate was faster.
    log_ratios: Vec<f64>,
}

/// Smallest difference that counts, and the number of pairs after which the search for one ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Fraction of the baseline's time below which a gain or loss does not count, such as 0.01.
    pub difference: f64,
    /// Number of pairs after which the verdict is final.
    pub pairs: usize,
}

/// Verdict on paired runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The candidate is faster.
    Gain,
    /// The candidate is slower.
    Worse,
    /// It neither gains nor loses more than [`Limits::difference`].
    None,
    /// Neither is proven so far.
    NotProven,
}

impl Pairs {
    /// Adds a pair: seconds of the baseline and of the candidate. A time that is not a positive
    /// number is not a measurement: the pair is ignored.
    pub fn add(&mut self, baseline: f64, candidate: f64) {
        let ratio = libm::log(baseline / candidate);
        if ratio.is_finite() && baseline > 0.0 {
            self.log_ratios.push(ratio);
        }
    }

    /// Returns the number of pairs.
    pub fn count(&self) -> usize {
        self.log_ratios.len()
    }

    /// Returns the number of pairs in which the candidate was faster.
    pub fn wins(&self) -> usize {
        self.log_ratios.iter().filter(|ratio| **ratio > 0.0).count()
    }

    /// Returns the fraction of the baseline's time that the candidate saves: 0.2 if it takes 0.8 of
    /// it; the Hodges-Lehmann estimate, the median of all means of two ratios. `None` without
    /// pairs.
    pub fn gain(&self) -> Option<f64> {
        let ratios = &self.log_ratios;
        let means = ratios.iter().enumerate().flat_map(|(at, first)| {
            let others = ratios[at..].iter();
            others.map(move |second| (first + second) / 2.0)
        });
        let means: Vec<f64> = means.collect();
        crate::statistics::median(&means).map(saved)
    }

    /// Returns the bounds of the gain: in 95 % of all comparisons the true one is between them,
    /// although the number of pairs was not fixed before. Infinite if there are too few pairs.
    pub fn interval(&self) -> (f64, f64) {
        let low = self.bound(|shift| self.evidence(shift, 1.0) >= ODDS, f64::NEG_INFINITY);
        let high = self.bound(|shift| self.evidence(shift, -1.0) < ODDS, f64::INFINITY);
        (saved(low), saved(high))
    }

    /// Returns the verdict on the pairs so far.
    pub fn verdict(&self, limits: Limits) -> Verdict {
        if self.evidence(0.0, 1.0) >= ODDS {
            return Verdict::Gain;
        }
        if self.evidence(0.0, -1.0) >= ODDS {
            return Verdict::Worse;
        }
        let margin = -libm::log1p(-limits.difference);
        let is_below = self.evidence(margin, -1.0) >= ODDS;
        let is_above = self.evidence(-margin, 1.0) >= ODDS;
        match is_below && is_above {
            true => Verdict::None,
            false => Verdict::NotProven,
        }
    }

    /// True if no further pair is needed for the verdict.
    pub fn is_decided(&self, limits: Limits) -> bool {
        self.count() >= limits.pairs || self.verdict(limits) != Verdict::NotProven
    }

    /// Returns the odds against "the true ratio is `shift`, or lies on the side of it that is not
    /// `side`" (1 above, -1 below).
    fn evidence(&self, shift: f64, side: f64) -> f64 {
        let mut sizes: Vec<f64> = Vec::with_capacity(self.count());
        let mut odds = [1.0; STAKES.len()];
        for ratio in &self.log_ratios {
            let ratio = ratio - shift;
            let at = sizes.partition_point(|size| *size < ratio.abs());
            sizes.insert(at, ratio.abs());
            // Of the ratios so far, including this one: known before its sign is.
            let typical = sizes[sizes.len() / 2].max(f64::MIN_POSITIVE);
            for (odds, stake) in odds.iter_mut().zip(STAKES) {
                *odds *= 1.0 + libm::tanh(side * stake * ratio / typical);
            }
        }
        odds.iter().sum::<f64>() / odds.len() as f64
    }

    /// Returns the largest shift, between twice the extreme ratios, for which `holds` is still
    /// true; `none` if it is true for no such shift, or for all.
    fn bound(&self, holds: impl Fn(f64) -> bool, none: f64) -> f64 {
        let reach = self
            .log_ratios
            .iter()
            .fold(0.0, |most: f64, ratio| most.max(ratio.abs()));
        let (mut low, mut high) = (-4.0 * reach, 4.0 * reach);
        if !holds(low) || holds(high) {
            return none;
        }
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            match holds(middle) {
                true => low = middle,
                false => high = middle,
            }
        }
        (low + high) / 2.0
    }
}

/// Returns the fraction of the time that is saved for this logarithm of the ratio.
fn saved(log_ratio: f64) -> f64 {
    -libm::expm1(-log_ratio)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::Rng;
    use proptest::test_runner::{RngAlgorithm, TestRng};

    use super::*;

    const LIMITS: Limits = Limits {
        difference: 0.01,
        pairs: 40,
    };

    fn of(times: &[(f64, f64)]) -> Pairs {
        let mut pairs = Pairs::default();
        for (baseline, candidate) in times {
            pairs.add(*baseline, *candidate);
        }
        pairs
    }

    /// Returns a number between 0 and 1, exclusive.
    fn uniform(random: &mut TestRng) -> f64 {
        (random.next_u32() as f64 + 0.5) / 4_294_967_296.0
    }

    fn normal(random: &mut TestRng) -> f64 {
        let (radius, angle) = (uniform(random), uniform(random));
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    /// Returns pairs of runs whose times spread by `noise`, and of which one in twenty is
    /// disturbed, until the verdict.
    fn compare(gain: f64, noise: f64, limits: Limits, random: &mut TestRng) -> Pairs {
        let mut pairs = Pairs::default();
        while !pairs.is_decided(limits) {
            let mut time = |seconds: f64| {
                let disturbed = uniform(random) < 0.05;
                let more = if disturbed {
                    -0.1 * uniform(random).ln()
                } else {
                    0.0
                };
                seconds * (noise * normal(random)).exp() * (1.0 + more)
            };
            pairs.add(time(1.0), time(1.0 - gain));
        }
        pairs
    }

    /// Returns the number of comparisons, out of `of`, that end with each verdict.
    fn verdicts(gain: f64, noise: f64, limits: Limits, of: usize) -> impl Fn(Verdict) -> usize {
        let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let one = |_| compare(gain, noise, limits, &mut random).verdict(limits);
        let found: Vec<Verdict> = (0..of).map(one).collect();
        move |wanted| found.iter().filter(|verdict| **verdict == wanted).count()
    }

    #[test]
    fn seven_of_seven_pairs_by_five_percent_are_a_gain_of_nearly_that() {
        let pairs = of(&[
            (10.31, 9.80),
            (10.28, 9.83),
            (10.40, 9.79),
            (10.35, 9.95),
            (10.30, 9.81),
            (10.33, 9.84),
            (10.29, 9.82),
        ]);
        assert_eq!(pairs.verdict(LIMITS), Verdict::Gain);
        assert!(
            pairs
                .gain()
                .is_some_and(|gain| (0.045..0.05).contains(&gain))
        );
        let (low, high) = pairs.interval();
        assert!(low > 0.0 && low < 0.045 && high > 0.05, "{low} to {high}");
    }

    #[test]
    fn equal_jobs_are_called_different_in_at_most_one_comparison_of_twenty() {
        for noise in [0.005, 0.03, 0.1] {
            let found = verdicts(0.0, noise, LIMITS, 400);
            let wrong = found(Verdict::Gain) + found(Verdict::Worse);
            assert!(wrong <= 20, "{wrong} of 400 at a noise of {noise}");
        }
    }

    #[test]
    fn a_gain_is_found_in_forty_pairs_where_single_runs_spread_as_much() {
        let found = verdicts(0.03, 0.03, LIMITS, 200);
        assert!(found(Verdict::Gain) >= 140, "{}", found(Verdict::Gain));
        assert_eq!(found(Verdict::Worse), 0);
        let found = verdicts(-0.05, 0.03, LIMITS, 200);
        assert!(found(Verdict::Worse) >= 180, "{}", found(Verdict::Worse));
    }

    #[test]
    fn quiet_equal_jobs_are_said_to_differ_by_no_more_than_the_limit() {
        let limits = Limits {
            difference: 0.02,
            pairs: 40,
        };
        let found = verdicts(0.0, 0.01, limits, 200);
        assert!(found(Verdict::None) >= 130, "{}", found(Verdict::None));
        // A loss of more than the limit is very rarely reported as none.
        let found = verdicts(-0.03, 0.01, limits, 200);
        assert!(found(Verdict::None) <= 10, "{}", found(Verdict::None));
    }

    #[test]
    fn the_interval_holds_the_true_gain_nineteen_times_of_twenty() {
        let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let holds = |_: &i32| {
            let (low, high) = compare(0.04, 0.02, LIMITS, &mut random).interval();
            low <= 0.04 && 0.04 <= high
        };
        let held = (0..400).filter(holds).count();
        assert!(held >= 380, "{held} of 400");
    }

    #[test]
    fn few_pairs_and_times_that_are_none_prove_nothing() {
        let mut pairs = of(&[(0.0, 1.0), (f64::NAN, 1.0), (1.0, 0.0), (-1.0, -1.0)]);
        assert_eq!((pairs.count(), pairs.gain()), (0, None));
        assert_eq!(pairs.interval(), (f64::NEG_INFINITY, 1.0));
        pairs.add(2.0, 1.0);
        assert_eq!(pairs.verdict(LIMITS), Verdict::NotProven);
        assert!(pairs.gain().is_some_and(|gain| (gain - 0.5).abs() < 1e-12));
        let ties = of(&[(1.0, 1.0); 40]);
        assert_eq!(ties.verdict(LIMITS), Verdict::None);
    }
}
