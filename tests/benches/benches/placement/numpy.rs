//! The random numbers of NumPy's `default_rng(seed)`, bit for bit, so that the random graphs of the
//! suite are those on which the reference figures were measured.

const POOL: usize = 4;

/// PCG64 (O'Neill 2014), seeded like NumPy's `SeedSequence`.
pub struct Generator {
    state: u128,
    increment: u128,
    half: Option<u32>,
}

impl Generator {
    pub fn new(seed: u32) -> Self {
        let words = seed_words(seed);
        let wide = |high: usize| (u128::from(words[high]) << 64) | u128::from(words[high + 1]);
        let mut generator = Generator {
            state: 0,
            increment: (wide(2) << 1) | 1,
            half: None,
        };
        generator.step();
        generator.state = generator.state.wrapping_add(wide(0));
        generator.step();
        generator
    }

    fn step(&mut self) {
        const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
        self.state = self
            .state
            .wrapping_mul(MULTIPLIER)
            .wrapping_add(self.increment);
    }

    fn next_u64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    fn next_u32(&mut self) -> u32 {
        if let Some(high) = self.half.take() {
            return high;
        }
        let both = self.next_u64();
        self.half = Some((both >> 32) as u32);
        both as u32
    }

    /// `integers(limit)`: Lemire's method on 32 bits.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = limit as u32;
        let threshold = limit.wrapping_neg() % limit;
        loop {
            let product = u64::from(self.next_u32()) * u64::from(limit);
            if product as u32 >= threshold {
                return (product >> 32) as usize;
            }
        }
    }

    /// `permutation(count)`.
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            let other = self.below(last + 1);
            order.swap(last, other);
        }
        order
    }
}

/// `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_words(seed: u32) -> [u64; 4] {
    let mut multiplier = 0x43b0_d7e5_u32;
    let mut hash = |value: u32| {
        let mixed = value ^ multiplier;
        multiplier = multiplier.wrapping_mul(0x931e_8875);
        let mixed = mixed.wrapping_mul(multiplier);
        mixed ^ (mixed >> 16)
    };
    let mut pool = [0_u32; POOL];
    for (index, word) in pool.iter_mut().enumerate() {
        *word = hash(if index == 0 { seed } else { 0 });
    }
    for from in 0..POOL {
        for to in (0..POOL).filter(|&to| to != from) {
            let left = pool[to].wrapping_mul(0xca01_f9dd);
            let right = hash(pool[from]).wrapping_mul(0x4973_f715);
            let mixed = left.wrapping_sub(right);
            pool[to] = mixed ^ (mixed >> 16);
        }
    }
    let mut multiplier = 0x8b51_f9dd_u32;
    let mut words = [0_u64; 4];
    for index in 0..8 {
        let mixed = pool[index % POOL] ^ multiplier;
        multiplier = multiplier.wrapping_mul(0x58f3_8ded);
        let mixed = mixed.wrapping_mul(multiplier);
        let word = mixed ^ (mixed >> 16);
        words[index / 2] |= u64::from(word) << (32 * (index % 2));
    }
    words
}
