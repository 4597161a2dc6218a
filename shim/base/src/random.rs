//! Random numbers that are the same for the same seed, everywhere and always.

/// SplitMix64 generator (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates the generator of a seed.
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// Returns the next number.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "its numbers have no end")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a number below `limit`, which must be positive.
    #[inline]
    pub fn below(&mut self, limit: usize) -> usize {
        // The high half of a 128-bit product; its bias is far below one in a million.
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// Returns a number from 0, inclusive, to 1, exclusive.
    #[inline]
    pub fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Shuffles items uniformly (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, (self.next() % (last as u64 + 1)) as usize);
        }
    }
}

/// Returns a number all of whose bits depend on all bits of another, by which SplitMix64 is made
/// from a counter.
#[inline]
pub fn mix(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn numbers_are_those_of_the_reference_implementation() {
        // splitmix64.c of Vigna 2015 for the seed 1234567.
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_follow_from_the_seed_and_stay_below_the_limit() {
        let draw = |seed| {
            let mut random = SplitMix64::new(seed);
            (0..50).map(|_| random.below(7)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!((0..7).all(|n| draw(3).contains(&n)));
        assert!(draw(3).iter().all(|&n| n < 7));
    }

    #[test]
    fn shuffled_items_are_the_same_items() {
        let mut items: Vec<usize> = (0..16).collect();
        SplitMix64::new(5).shuffle(&mut items);
        assert_ne!(items, (0..16).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..16).collect::<Vec<_>>());
    }
}
