//! Messages by rank: what each meets on its way, and until when it keeps links busy.

use super::{Hop, Scene, longer};
use crate::collective::Distance;
use crate::collective::network::Messages;

/// How busy links are, and until when.
pub struct Links<'a, 'b> {
    scene: &'a Scene<'b>,
    leaving: Vec<f64>,
    entering: Vec<f64>,
    /// What messages meet.
    pub ways: Ways<'a, 'b>,
}

impl<'a, 'b> Links<'a, 'b> {
    /// All are free.
    pub fn new(scene: &'a Scene<'b>) -> Self {
        Links {
            scene,
            leaving: vec![0.0; scene.count()],
            entering: vec![0.0; scene.count()],
            ways: Ways::new(scene),
        }
    }

    /// All links are free.
    pub fn start_anew(&mut self) {
        self.leaving.fill(0.0);
        self.entering.fill(0.0);
    }

    /// So many messages of ranks that are ready, all from the one's cluster to the other's and as far as
    /// between these two: when the last is there.
    pub fn send_many(&mut self, from: usize, to: usize, messages: usize, bytes: u64) -> f64 {
        let way = self.ways.of(from, to, bytes);
        let clusters = self.scene.network.cluster_of();
        let (here, there) = (clusters[from], clusters[to]);
        if here == there {
            return way.hop.seconds();
        }
        let (start, others) = (self.leaving[here], messages as f64 - 1.0);
        let last = start + others * way.leaving;
        self.leaving[here] = last + way.leaving;
        // Each enters when it is there and the one before has entered: the first waits for those before, or
        // the uplink holds the last up.
        let first_enters = longer(self.entering[there], start + way.hop.latency);
        let entered = longer(first_enters + others * way.entering, last + way.hop.latency);
        self.entering[there] = entered + way.entering;
        longer(self.entering[there], last + way.hop.seconds())
    }

    /// A message from cluster to cluster, or inside one, whose sender is ready: when it has left, and when
    /// it is there.
    pub fn send(&mut self, ready: f64, here: usize, there: usize, way: &Way) -> (f64, f64) {
        if here == there {
            return (ready + way.hop.gap, ready + way.hop.seconds());
        }
        let start = longer(ready, self.leaving[here]);
        let left = start + way.leaving;
        self.leaving[here] = left;
        let arrives = longer(start + way.hop.latency, self.entering[there]);
        self.entering[there] = arrives + way.entering;
        (
            left,
            longer(self.entering[there], start + way.hop.seconds()),
        )
    }
}

/// What a message from one rank to another meets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Way {
    /// Alone.
    pub hop: Hop,
    /// Seconds on the sender's uplink, where it leaves the cluster.
    pub leaving: f64,
    /// Seconds on the receiver's downlink.
    pub entering: f64,
}

/// Two clusters, how far apart ranks of them are, and the bytes between those.
type Between = (usize, usize, Distance, u64);

/// Ways, of which neighbouring ranks often have the same.
pub struct Ways<'a, 'b> {
    scene: &'a Scene<'b>,
    last: Option<(Between, Way)>,
    /// Messages of other sizes than the scene's.
    others: Vec<Messages<'a>>,
}

impl<'a, 'b> Ways<'a, 'b> {
    /// None is known yet.
    pub fn new(scene: &'a Scene<'b>) -> Self {
        Ways {
            scene,
            last: None,
            others: Vec::new(),
        }
    }

    /// What a message of `bytes` from one rank to another meets.
    pub fn of(&mut self, from: usize, to: usize, bytes: u64) -> Way {
        let network = self.scene.network;
        let (here, there) = (network.cluster_of()[from], network.cluster_of()[to]);
        let between = (here, there, network.distance(from, to), bytes);
        match self.last {
            Some((last, way)) if last == between => way,
            _ => {
                let way = self.look_up(between);
                self.last = Some((between, way));
                way
            }
        }
    }

    fn others_of(&mut self, bytes: u64) -> &Messages<'a> {
        let known = self.others.iter().position(|other| other.bytes() == bytes);
        let place = known.unwrap_or_else(|| {
            self.others.push(self.scene.network.messages(bytes));
            self.others.len() - 1
        });
        &self.others[place]
    }

    fn look_up(&mut self, (here, there, distance, bytes): Between) -> Way {
        let piece = self.scene.piece;
        let others = match bytes == piece.bytes {
            true => None,
            false => Some(self.others_of(bytes)),
        };
        let inside = |hop| Way {
            hop,
            ..Way::default()
        };
        match distance {
            Distance::Host => inside(others.map_or(piece.on_host[here], |m| m.on_host(here))),
            Distance::Cluster => inside(others.map_or(piece.within[here], |m| m.within(here))),
            Distance::Grid => Way {
                hop: others.map_or(piece.hop(here, there), |m| m.between(here, there)),
                leaving: others.map_or(piece.leaving[here], |m| m.leaving(here)),
                entering: others.map_or(piece.entering[there], |m| m.entering(there)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Costed, sizes};
    use super::*;
    use crate::collective::Clusters;
    use crate::collective::grids::{lan, of_numbers, wan};

    #[test]
    fn messages_of_many_neighbours_come_when_they_come_one_by_one() {
        let numbers: Vec<usize> = (0..24).map(|rank| rank / 8).collect();
        let mbit = |from: usize, to: usize| [100.0, 50.0, 400.0][(from + 2 * to) % 3];
        let network = of_numbers(&numbers, 4, |_| lan(), |from, to| wan(10.0, mbit(from, to)));
        let (clusters, piece) = (Clusters::of_network(&network), Costed::new(&network, 8));
        let scene = Scene {
            network: &network,
            clusters: &clusters,
            sizes: &sizes(&network, &clusters),
            bytes: 8,
            root: 0,
            piece: &piece,
        };
        for bytes in [8, 40_000] {
            let (mut alone, mut together) = (Links::new(&scene), Links::new(&scene));
            for (from, to, messages) in [(0, 8, 5), (8, 16, 1), (16, 8, 7), (0, 16, 8), (0, 1, 3)] {
                let mut last: f64 = 0.0;
                for message in 0..messages {
                    let pair = (from + message % 4, to + message % 4);
                    let pair = if to == 1 { (from, to) } else { pair };
                    let way = alone.ways.of(pair.0, pair.1, bytes);
                    let [here, there] = [pair.0, pair.1].map(|rank| clusters.of(rank));
                    last = last.max(alone.send(0.0, here, there, &way).1);
                }
                let found = together.send_many(from, to, messages, bytes);
                assert!(
                    (found / last - 1.0).abs() < 1e-9,
                    "{from}, {to}: {found}, {last}"
                );
            }
        }
    }
}
