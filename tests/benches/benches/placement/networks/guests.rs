//! Stencils, random and power-law graphs, by a generator without a library.

use std::collections::BTreeMap;

use treepie_traffic::Matrix;

/// SplitMix64 with remainders, with which the suite's figures were made.
pub struct Generator(u64);

impl Generator {
    pub fn new(seed: u64) -> Self {
        Generator(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn shuffled(seed: u64, count: usize) -> Vec<usize> {
        let mut generator = Generator::new(seed);
        let mut items: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            items.swap(last, generator.below(last + 1));
        }
        items
    }
}

/// A graph of ranks.
pub struct Guest {
    pub name: String,
    ranks: usize,
    /// Undirected edges, each once.
    edges: Vec<(usize, usize, f64)>,
}

impl Guest {
    /// `st:8x8x8`, `st:8x8x8p` (periodic), `rnd:512` or `plaw:512`.
    pub fn new(name: &str) -> Result<Self, String> {
        let (kind, size) = name.split_once(':').ok_or("a guest such as st:8x8x8")?;
        let number = |text: &str| text.parse::<usize>().map_err(|error| error.to_string());
        let (ranks, edges) = match kind {
            "st" => {
                let bare = size.trim_end_matches('p');
                let shape: Vec<usize> = bare.split('x').map(number).collect::<Result<_, _>>()?;
                (shape.iter().product(), stencil(&shape, bare != size))
            }
            "rnd" => (number(size)?, random(number(size)?)),
            "plaw" => (number(size)?, preferential(number(size)?)),
            _ => return Err(format!("{kind} is no kind of guest")),
        };
        let mut sums: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (a, b, weight) in edges {
            *sums.entry((a.min(b), a.max(b))).or_default() += weight;
        }
        Ok(Guest {
            name: name.to_owned(),
            ranks,
            edges: sums.into_iter().map(|((a, b), w)| (a, b, w)).collect(),
        })
    }

    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Both directions of every edge under a numbering; 0 is the natural one.
    pub fn matrix(&self, shuffle: u64) -> Result<Matrix, String> {
        let names = match shuffle {
            0 => (0..self.ranks).collect(),
            seed => Generator::shuffled(seed, self.ranks),
        };
        let both = self.edges.iter().flat_map(|&(a, b, weight)| {
            let (a, b) = (names[a], names[b]);
            [(a, b, weight), (b, a, weight)]
        });
        Matrix::from_entries(self.ranks, both).map_err(|error| error.to_string())
    }
}

fn stencil(shape: &[usize], periodic: bool) -> Vec<(usize, usize, f64)> {
    let ranks: usize = shape.iter().product();
    let mut edges = Vec::new();
    let mut stride = 1;
    for &side in shape.iter().rev() {
        for rank in 0..ranks {
            let at = rank / stride % side;
            if at + 1 < side {
                edges.push((rank, rank + stride, 100.0));
            } else if periodic && side > 2 {
                edges.push((rank, rank - at * stride, 100.0));
            }
        }
        stride *= side;
    }
    edges
}

fn random(ranks: usize) -> Vec<(usize, usize, f64)> {
    let mut generator = Generator::new(1);
    let draws = (0..4 * ranks).map(|_| {
        let (u, v) = (generator.below(ranks), generator.below(ranks));
        (u, v, 1.0 + generator.below(100) as f64)
    });
    draws.filter(|(u, v, _)| u != v).collect()
}

fn preferential(ranks: usize) -> Vec<(usize, usize, f64)> {
    let mut generator = Generator::new(1);
    let mut list = vec![0, 1, 2, 3];
    let mut edges = Vec::new();
    for i in 4..ranks {
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < 4 {
            let t = list[generator.below(list.len())];
            if !chosen.contains(&t) {
                chosen.push(t);
            }
        }
        for &t in &chosen {
            edges.push((i, t, 1.0 + generator.below(100) as f64));
        }
        for t in chosen {
            list.extend([t, i]);
        }
    }
    edges
}
