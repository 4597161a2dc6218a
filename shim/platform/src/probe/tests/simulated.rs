//! A simulated network: every rank is a thread with its own clock, and a message carries its
//! arrival time.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::contention::Contention;
use crate::description::Platform;
use crate::probe::{Identity, Messenger, Options, others_behind, probe};

/// A link of the simulated network.
#[derive(Clone, Copy)]
pub struct SimulatedLink {
    pub latency: f64,
    pub start: f64,
    pub per_byte: f64,
    /// Size from which a message waits for a round trip.
    pub rendezvous: u64,
    /// Response of its network to an exchange.
    pub contention: Contention,
}

struct Parcel {
    at: f64,
    contents: Vec<u8>,
}

/// One rank of the simulated job.
pub struct Simulated<W> {
    pub rank: usize,
    ranks: usize,
    clock: f64,
    way: W,
    out: Vec<Sender<(usize, bool, Parcel)>>,
    inbox: Receiver<(usize, bool, Parcel)>,
    kept: HashMap<(usize, bool), std::collections::VecDeque<Parcel>>,
}

impl<W: Fn(usize, usize) -> SimulatedLink> Simulated<W> {
    fn post(&mut self, to: usize, is_value: bool, bytes: u64, contents: &[u8], waits: bool) {
        let way = (self.way)(self.rank, to);
        let asks = bytes >= way.rendezvous && waits;
        let handshake = if asks { 2.0 * way.latency } else { 0.0 };
        self.clock += handshake + way.start + way.per_byte * bytes as f64;
        let parcel = Parcel {
            at: self.clock + way.latency,
            contents: contents.to_owned(),
        };
        self.out[to].send((self.rank, is_value, parcel)).unwrap();
    }

    fn take(&mut self, from: usize, is_value: bool) -> Parcel {
        loop {
            let kept = self.kept.get_mut(&(from, is_value));
            if let Some(parcel) = kept.and_then(std::collections::VecDeque::pop_front) {
                self.clock = self.clock.max(parcel.at);
                return parcel;
            }
            let (from, is_value, parcel) = self.inbox.recv().unwrap();
            self.kept
                .entry((from, is_value))
                .or_default()
                .push_back(parcel);
        }
    }
}

impl<W: Fn(usize, usize) -> SimulatedLink> Messenger for Simulated<W> {
    fn rank(&self) -> usize {
        self.rank
    }
    fn ranks(&self) -> usize {
        self.ranks
    }
    fn seconds(&mut self) -> f64 {
        self.clock
    }
    fn pause(&mut self, seconds: f64) {
        self.clock += seconds;
    }
    fn send(&mut self, to: usize, bytes: u64) {
        self.post(to, false, bytes, &[], true);
    }
    fn receive(&mut self, from: usize, _bytes: u64) {
        self.take(from, false);
    }
    fn send_train(&mut self, to: usize, bytes: u64, count: usize) {
        // All requests are sent together: one round trip for all of them.
        for number in 0..count {
            self.post(to, false, bytes, &[], number == 0);
        }
    }
    fn receive_train(&mut self, from: usize, _bytes: u64, count: usize) {
        for _ in 0..count {
            self.take(from, false);
        }
    }
    fn exchange(&mut self, members: &[usize], bytes: u64) {
        let others: Vec<usize> = others_behind(members, self.rank).collect();
        for &to in &others {
            let way = (self.way)(self.rank, to);
            let gap = way.start + way.per_byte * bytes as f64;
            self.clock += way.contention.gamma * gap + way.contention.delay(bytes);
            let parcel = Parcel {
                at: self.clock + way.contention.gamma * way.latency,
                contents: Vec::new(),
            };
            self.out[to].send((self.rank, false, parcel)).unwrap();
        }
        for &from in &others {
            self.take(from, false);
        }
    }
    fn send_data(&mut self, to: usize, bytes: &[u8]) {
        self.post(to, true, 0, bytes, false);
    }
    fn receive_data(&mut self, from: usize) -> Vec<u8> {
        self.take(from, true).contents
    }
}

/// Result of every rank of a simulated job.
pub fn on_all<W, T>(
    ranks: usize,
    way: W,
    work: impl Fn(&mut Simulated<W>) -> T + Send + Clone + 'static,
) -> Vec<T>
where
    W: Fn(usize, usize) -> SimulatedLink + Send + Clone + 'static,
    T: Send + 'static,
{
    let (out, inboxes): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
    let threads: Vec<_> = inboxes
        .into_iter()
        .enumerate()
        .map(|(rank, inbox)| {
            let mut messenger = Simulated {
                rank,
                ranks,
                clock: 0.0,
                way: way.clone(),
                out: out.clone(),
                inbox,
                kept: HashMap::new(),
            };
            let work = work.clone();
            thread::spawn(move || work(&mut messenger))
        })
        .collect();
    threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect()
}

/// Probes a job of hosts with one rank each.
pub fn probed(
    hosts: Vec<Identity>,
    options: Options,
    way: impl Fn(usize, usize) -> SimulatedLink + Send + Clone + 'static,
) -> Platform {
    let reports = on_all(hosts.len(), way, move |messenger| {
        let identity = &hosts[messenger.rank];
        probe(messenger, identity, &options).unwrap()
    });
    assert!(reports[1..].iter().all(Option::is_none));
    reports.into_iter().next().unwrap().unwrap().platform
}

pub fn host(name: &str) -> Identity {
    Identity {
        host: name.to_owned(),
        ..Identity::default()
    }
}

pub fn alone(ranks: usize) -> Vec<Identity> {
    (0..ranks).map(|rank| host(&format!("n{rank}"))).collect()
}

pub const LAN: SimulatedLink = SimulatedLink {
    latency: 50e-6,
    start: 3e-6,
    per_byte: 9e-9,
    rendezvous: u64::MAX,
    contention: Contention::NONE,
};
pub const WAN: SimulatedLink = SimulatedLink {
    latency: 10e-3,
    start: 5e-6,
    per_byte: 85e-9,
    rendezvous: 64 << 10,
    contention: Contention::NONE,
};

/// Three clusters of ranks 0, 3, 6; 1, 4, 7; 2, 5, 8, asymmetric between them.
pub fn grid(from: usize, to: usize) -> SimulatedLink {
    let slower = if from < to { 1.0 } else { 2.0 };
    if from % 3 == to % 3 {
        LAN
    } else {
        SimulatedLink {
            per_byte: WAN.per_byte * slower,
            ..WAN
        }
    }
}

pub fn near(found: f64, expected: f64, part: f64) {
    assert!(
        (found / expected - 1.0).abs() < part,
        "{found} for {expected}"
    );
}
