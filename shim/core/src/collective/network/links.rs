//! What messages of one size meet on all links of a network: links that were measured with the same
//! sizes are looked up together.

use crate::platform::{Link, Place, Sample};

/// Latency and gap of one message.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Hop {
    /// `g`, in seconds.
    pub gap: f64,
    /// `L` and what a rendezvous adds, in seconds.
    pub latency: f64,
}

impl Hop {
    /// One message alone, in seconds.
    pub fn seconds(&self) -> f64 {
        self.gap + self.latency
    }
}

/// Links, each once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Links {
    all: Vec<Link>,
    /// Of every link, which of `alike` it belongs to, and its place there.
    among: Vec<(usize, usize)>,
    alike: Vec<Alike>,
}

/// Links with samples of the same sizes.
#[derive(Debug, Clone, PartialEq)]
struct Alike {
    /// The samples of the first of them.
    samples: Vec<Sample>,
    links: Vec<usize>,
    /// Gaps and handshakes: for every size, those of all links, side by side.
    gaps: Vec<Vec<f64>>,
    handshakes: Vec<Vec<f64>>,
    latencies: Vec<f64>,
}

fn sizes(samples: &[Sample]) -> impl Iterator<Item = u64> {
    samples.iter().map(|sample| sample.bytes)
}

impl Links {
    /// The place of this link, which is added if it is new.
    pub fn keep(&mut self, link: &Link) -> usize {
        if let Some(known) = self.all.iter().position(|known| known == link) {
            return known;
        }
        self.enter(link);
        self.all.push(link.clone());
        self.all.len() - 1
    }

    fn enter(&mut self, link: &Link) {
        let is_alike = |alike: &Alike| sizes(&alike.samples).eq(sizes(link.samples()));
        let group = match self.alike.iter().position(is_alike) {
            Some(group) => group,
            None => {
                let none = vec![Vec::new(); link.samples().len()];
                self.alike.push(Alike {
                    samples: link.samples().to_vec(),
                    links: Vec::new(),
                    gaps: none.clone(),
                    handshakes: none,
                    latencies: Vec::new(),
                });
                self.alike.len() - 1
            }
        };
        let alike = &mut self.alike[group];
        alike.links.push(self.among.len());
        self.among.push((group, alike.latencies.len()));
        alike.latencies.push(link.latency());
        for (size, sample) in link.samples().iter().enumerate() {
            alike.gaps[size].push(sample.gap);
            alike.handshakes[size].push(sample.handshake);
        }
    }

    /// The link at a place.
    pub fn get(&self, place: usize) -> &Link {
        &self.all[place]
    }

    /// Where a size stands among the samples of all links.
    pub fn places(&self, bytes: u64) -> Places {
        let place = |alike: &Alike| Place::new(bytes, &alike.samples);
        Places(self.alike.iter().map(place).collect())
    }

    /// What a message of the size that `places` was asked for meets on a link.
    pub fn hop(&self, link: usize, places: &Places) -> Hop {
        let (group, link) = self.among[link];
        let (alike, place) = (&self.alike[group], &places.0[group]);
        Hop {
            gap: place.value(alike.gaps[place.low][link], alike.gaps[place.high][link]),
            latency: alike.latencies[link] + alike.handshakes[place.reached][link],
        }
    }

    /// The same for all links, which for many is quicker than one by one.
    pub fn hops(&self, places: &Places) -> Vec<Hop> {
        let mut hops = vec![Hop::default(); self.all.len()];
        for (alike, place) in self.alike.iter().zip(&places.0) {
            let gaps = alike.gaps[place.low].iter().zip(&alike.gaps[place.high]);
            let latencies = alike.latencies.iter();
            let latencies = latencies.zip(&alike.handshakes[place.reached]);
            for ((&link, gap), latency) in alike.links.iter().zip(gaps).zip(latencies) {
                hops[link] = Hop {
                    gap: place.value(*gap.0, *gap.1),
                    latency: latency.0 + latency.1,
                };
            }
        }
        hops
    }
}

/// Where a size stands among the samples of links.
#[derive(Debug, Clone)]
pub struct Places(Vec<Place>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_looked_up_together_say_what_each_says_alone() {
        let asks = Link::linear(1e-3, 1e-6, 1e-9)
            .unwrap()
            .with_rendezvous_above(3000);
        let other = Link::linear(2e-3, 3e-6, 5e-9)
            .unwrap()
            .with_rendezvous_above(3000);
        let even = Link::linear(1e-5, 1e-6, 1e-10).unwrap();
        let one = Link::new(1e-3, vec![asks.samples()[1]]).unwrap();
        let mut links = Links::default();
        let places = [&asks, &even, &other, &asks, &one].map(|link| links.keep(link));
        assert_eq!(places, [0, 1, 2, 0, 3]);
        assert_eq!(links.alike.len(), 3);
        for bytes in [
            0,
            1,
            2999,
            3000,
            3001,
            3002,
            1 << 20,
            (1 << 20) + 1,
            1 << 30,
        ] {
            let found = links.places(bytes);
            let together = links.hops(&found);
            for place in places {
                let link = links.get(place);
                let alone = Hop {
                    gap: link.gap(bytes),
                    latency: link.latency() + link.handshake(bytes),
                };
                assert_eq!(links.hop(place, &found), alone, "{place}, {bytes}");
                assert_eq!(together[place], alone, "{place}, {bytes}");
            }
        }
    }
}
