//! The model of the links: the arrival times of packets.
//!
//! A link lets one packet through at a time, at its rate. Each is served in the order in which
//! packets *reach* it: if it were computed when they are sent, a packet of the LAN would wait
//! behind one that is still on its way over the WAN.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use treepie_base::square::Square;
use treepie_base::{Cluster, List};
use treepie_platform::grid::Grid;

/// Nanoseconds.
pub type Time = u64;

/// A packet that has arrived.
#[derive(Debug, PartialEq, Eq)]
pub struct Delivered<P> {
    /// The receiving host.
    pub to: usize,
    /// Its arrival time.
    pub at: Time,
    /// The packet.
    pub packet: P,
}

/// The links of a grid and the packets on them.
#[derive(Debug)]
pub struct Model<P> {
    cluster_of: Vec<Cluster>,
    lan_latency: List<Cluster, Time>,
    wan_latency: Square<Cluster, Time>,
    /// The path from one cluster to another.
    between: Square<Cluster, Link>,
    leaving_host: Vec<Link>,
    entering_host: Vec<Link>,
    leaving_cluster: List<Cluster, Link>,
    entering_cluster: List<Cluster, Link>,
    /// The limit of one connection between two clusters.
    of_connection: Square<Cluster, Link>,
    /// The connections with a separate rate, by sender, receiver and name.
    connections: HashMap<(usize, usize, u32), Link>,
    waiting: BinaryHeap<Reverse<Event>>,
    packets: Vec<Option<Flight<P>>>,
    free: Vec<usize>,
    sequence: u64,
}

/// A link that carries one packet at a time.
#[derive(Debug, Clone, Copy)]
struct Link {
    /// Nanoseconds for each byte; 0 for no limit.
    per_byte: f64,
    free_at: Time,
}

impl Link {
    fn of(megabits: f64) -> Link {
        let per_byte = match megabits > 0.0 {
            true => 8e3 / megabits,
            false => 0.0,
        };
        Link {
            per_byte,
            free_at: 0,
        }
    }

    /// Passes a packet of `bytes` through, bit by bit as it comes in. It leaves when the link had
    /// time for it, and not before it has arrived.
    fn pass(&mut self, comes: Span, bytes: f64) -> Span {
        if self.per_byte == 0.0 {
            return comes;
        }
        let takes = (bytes * self.per_byte) as Time;
        let last = (self.free_at.max(comes.first) + takes).max(comes.last);
        self.free_at = last;
        Span {
            first: last - takes,
            last,
        }
    }
}

/// Times of the first and the last bit of a packet at a point.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: Time,
    last: Time,
}

impl Span {
    fn later(self, latency: Time) -> Span {
        Span {
            first: self.first + latency,
            last: self.last + latency,
        }
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: Time,
    sequence: u64,
    packet: usize,
    place: Place,
}

/// The next point that a packet reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Uplink,
    Downlink,
    Host,
    There,
}

#[derive(Debug)]
struct Flight<P> {
    from: usize,
    to: usize,
    bytes: f64,
    /// Times at the next point.
    span: Span,
    packet: P,
}

impl<P> Model<P> {
    /// Creates the model of a grid without any traffic. Hosts are numbered over all clusters.
    pub fn new(grid: &Grid) -> Self {
        let micro = |latency: f64| (latency * 1e3) as Time;
        let cluster_of = grid.cluster_of_host();
        let clusters = grid.clusters.len();
        let nic = |host: &usize| Link::of(grid.clusters[cluster_of[*host]].mbit);
        let hosts: Vec<usize> = (0..cluster_of.len()).collect();
        let uplinks: List<Cluster, Link> = grid
            .clusters
            .iter()
            .map(|c| Link::of(c.uplink_mbit))
            .collect();
        Model {
            lan_latency: grid.clusters.iter().map(|c| micro(c.latency_us)).collect(),
            wan_latency: Square::new(clusters, |(from, to)| micro(grid.latency_us(from, to))),
            between: Square::new(clusters, |(from, to)| Link::of(grid.link_mbit(from, to))),
            of_connection: Square::new(clusters, |(from, to)| {
                Link::of(grid.connection_mbit(from, to))
            }),
            connections: HashMap::new(),
            leaving_host: hosts.iter().map(nic).collect(),
            entering_host: hosts.iter().map(nic).collect(),
            leaving_cluster: uplinks.clone(),
            entering_cluster: uplinks,
            waiting: BinaryHeap::new(),
            packets: Vec::new(),
            free: Vec::new(),
            sequence: 0,
            cluster_of,
        }
    }

    /// Replaces the links by those of another grid with the same hosts. Packets in flight in a link
    /// leave it as before.
    pub fn change(&mut self, grid: &Grid) {
        let new = Model::<P>::new(grid);
        let links = [
            (self.between.values_mut(), new.between.values()),
            (self.of_connection.values_mut(), new.of_connection.values()),
            (&mut self.leaving_host, &new.leaving_host),
            (&mut self.entering_host, &new.entering_host),
            (&mut self.leaving_cluster.raw, &new.leaving_cluster.raw),
            (&mut self.entering_cluster.raw, &new.entering_cluster.raw),
        ];
        for (old, new) in links {
            for (old, new) in old.iter_mut().zip(new) {
                old.per_byte = new.per_byte;
            }
        }
        self.connections.clear();
        self.lan_latency = new.lan_latency;
        self.wan_latency = new.wan_latency;
    }

    /// Sends a packet of `bytes` on the wire from a host, on the connection with this name.
    pub fn send(
        &mut self,
        now: Time,
        (from, to): (usize, usize),
        connection: u32,
        bytes: f64,
        packet: P,
    ) {
        let (here, there) = (self.cluster_of[from], self.cluster_of[to]);
        let here_now = Span {
            first: now,
            last: now,
        };
        let left = self.leaving_host[from].pass(here_now, bytes);
        let alone = self.of_connection[(here, there)];
        let (span, place) = if here == there {
            (left.later(self.lan_latency[here]), Place::Host)
        } else if alone.per_byte > 0.0 {
            let own = self.connections.entry((from, to, connection));
            (own.or_insert(alone).pass(left, bytes), Place::Uplink)
        } else {
            self.leaves_cluster((here, there), left, bytes)
        };
        let flight = Flight {
            from,
            to,
            bytes,
            span,
            packet,
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.packets[slot] = Some(flight);
                slot
            }
            None => {
                self.packets.push(Some(flight));
                self.packets.len() - 1
            }
        };
        self.reach(span.first, slot, place);
    }

    /// Passes a packet over the uplink and the path to another cluster; returns its arrival.
    fn leaves_cluster(
        &mut self,
        (here, there): (Cluster, Cluster),
        comes: Span,
        bytes: f64,
    ) -> (Span, Place) {
        let left = self.leaving_cluster[here].pass(comes, bytes);
        let left = self.between[(here, there)].pass(left, bytes);
        (left.later(self.wan_latency[(here, there)]), Place::Downlink)
    }

    fn reach(&mut self, at: Time, packet: usize, place: Place) {
        self.sequence += 1;
        self.waiting.push(Reverse(Event {
            at,
            sequence: self.sequence,
            packet,
            place,
        }));
    }

    /// Time of the next event.
    pub fn next(&self) -> Option<Time> {
        self.waiting.peek().map(|Reverse(event)| event.at)
    }

    /// All packets that have arrived by `now`, in order.
    pub fn advance(&mut self, now: Time) -> Vec<Delivered<P>> {
        let mut arrived = Vec::new();
        while self.next().is_some_and(|at| at <= now) {
            let Some(Reverse(event)) = self.waiting.pop() else {
                break;
            };
            let Some(flight) = &mut self.packets[event.packet] else {
                continue;
            };
            let (to, bytes) = (flight.to, flight.bytes);
            match event.place {
                Place::Uplink => {
                    let clusters = (self.cluster_of[flight.from], self.cluster_of[to]);
                    let comes = flight.span;
                    let (span, place) = self.leaves_cluster(clusters, comes, bytes);
                    if let Some(flight) = &mut self.packets[event.packet] {
                        flight.span = span;
                    }
                    self.reach(span.first, event.packet, place);
                }
                Place::Downlink => {
                    let link = &mut self.entering_cluster[self.cluster_of[to]];
                    flight.span = link.pass(flight.span, bytes);
                    let first = flight.span.first;
                    self.reach(first, event.packet, Place::Host);
                }
                Place::Host => {
                    flight.span = self.entering_host[to].pass(flight.span, bytes);
                    let last = flight.span.last;
                    self.reach(last, event.packet, Place::There);
                }
                Place::There => {
                    if let Some(flight) = self.packets[event.packet].take() {
                        self.free.push(event.packet);
                        arrived.push(Delivered {
                            to,
                            at: event.at,
                            packet: flight.packet,
                        });
                    }
                }
            }
        }
        arrived
    }
}
