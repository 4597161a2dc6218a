//! Random numbers that depend on the seed alone, on any machine.

/// The SplitMix64 generator (Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which must be positive.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        // The high half of a 128-bit product; its bias is far below one in a million.
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}

/// An index below `count` from 32 random bits.
#[inline]
pub(crate) fn pick(bits: u32, count: usize) -> usize {
    ((u64::from(bits) * count as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_follow_from_the_seed_and_stay_below_the_limit() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..50).map(|_| random.below(7)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!((0..7).all(|n| draw(3).contains(&n)));
        assert!(draw(3).iter().all(|&n| n < 7));
    }
}
