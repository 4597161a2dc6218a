//! Ranks that make the same calls, each with a separate guard.

use std::cell::Cell as Shared;
use std::sync::Arc;
use treepie_choice::{Candidate, Challenger};

use super::super::*;
use crate::hash::mix;
use crate::policy::VALUES;
use treepie_collective::{Algorithm, Operation};
use treepie_native::knobs::Library;

/// Random numbers.
struct Random(u64);

impl Random {
    /// Returns a number between 0 and 1, exclusive.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(1);
        ((mix(0, self.0) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Returns a factor around 1, and sometimes a much larger one.
    fn noise(&mut self, noise: &Noise) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.uniform()).cos();
        let spike = match self.uniform() < noise.spikes {
            true => -3.0 * self.uniform().ln(),
            false => 0.0,
        };
        (noise.sigma * normal).exp() + spike
    }
}

/// Disturbance of ranks.
#[derive(Clone, Copy)]
pub(crate) struct Noise {
    /// Spread of the logarithm of a duration.
    pub sigma: f64,
    /// Fraction of the calls that are disturbed.
    pub spikes: f64,
    /// Rank that enters each call late, and its delay in nanoseconds.
    pub late: Option<(usize, f64)>,
}

impl Noise {
    pub const USUAL: Noise = Noise {
        sigma: 0.15,
        spikes: 0.03,
        late: None,
    };
}

/// Returns a challenger, by its index.
pub fn challenger(place: usize, per_mille: Option<u32>) -> Challenger {
    let algorithm = Algorithm::of(Operation::Allreduce).nth(place);
    Challenger {
        candidate: Candidate::Plan {
            algorithm: algorithm.expect("there are as many"),
            segment: 1024,
        },
        per_mille,
    }
}

/// Returns an algorithm of the native MPI, without a prediction.
pub(crate) fn of_native(key: &CellKey) -> Challenger {
    let library: Library = "open-mpi 4.1.4".parse().expect("its name and its version");
    let knobs = library.often_faster(key.operation, key.bytes, 4, key.ordered);
    let knob = *knobs.first().expect("one is often faster");
    Challenger {
        candidate: Candidate::Native(knob),
        per_mille: None,
    }
}

/// Ranks in one communicator.
pub struct Machine {
    pub guards: Vec<Guard>,
    pub noise: Noise,
    /// Nanoseconds that a plan shifts to a wait before the next call.
    pub later: f64,
    /// Nanoseconds for the preparation of the next plan.
    pub making: Option<u64>,
    /// True if an algorithm of the native MPI is tried, as fast as its own choice, and no plan.
    pub tries_native: bool,
    /// Additional nanoseconds of a call after one that was run in another way.
    pub cold: f64,
    /// Nanoseconds that a plan's call saves after one of the native MPI, unless ranks have waited
    /// for each other.
    pub borrowed: f64,
    /// Nanoseconds of an exchange.
    pub of_exchange: u64,
    /// Nanoseconds that all ranks except the first wait in an exchange.
    pub wait: u64,
    /// True if the last call was run by a plan.
    pub ran_plan: bool,
    pub events: Vec<Event>,
    pub exchanges: usize,
    /// Nanoseconds in collectives, and the time of the MPI alone for the same calls.
    pub time: f64,
    pub native_time: f64,
    pub longest_excess: f64,
    ratios: Vec<f64>,
    random: Random,
    now: Vec<f64>,
    under_way: Option<Vec<i64>>,
}

impl Machine {
    pub fn new(ranks: usize, seed: u64, ratios: &[f64]) -> Self {
        Machine::with(ranks, seed, ratios, Mode::Adopt, Vec::new())
    }

    pub fn reporting(ranks: usize, seed: u64, ratios: &[f64]) -> Self {
        Machine::with(ranks, seed, ratios, Mode::Report, Vec::new())
    }

    pub(crate) fn knowing(ranks: usize, seed: u64, ratios: &[f64], known: AdoptedPlan) -> Self {
        Machine::with(ranks, seed, ratios, Mode::Adopt, vec![known])
    }

    fn with(ranks: usize, seed: u64, ratios: &[f64], mode: Mode, known: Vec<AdoptedPlan>) -> Self {
        let known: Arc<[AdoptedPlan]> = known.into();
        Machine {
            guards: vec![Guard::new(seed, mode, known, Arc::default()); ranks],
            noise: Noise::USUAL,
            later: 0.0,
            making: None,
            tries_native: false,
            cold: 0.0,
            borrowed: 0.0,
            of_exchange: 20_000,
            wait: 0,
            ran_plan: false,
            events: Vec::new(),
            exchanges: 0,
            time: 0.0,
            native_time: 0.0,
            longest_excess: 0.0,
            ratios: ratios.to_vec(),
            random: Random(mix(7, seed)),
            now: vec![0.0; ranks],
            under_way: None,
        }
    }

    /// Sets the times of plans from now on, as fractions of the native time.
    pub(crate) fn set_ratios(&mut self, ratios: &[f64]) {
        self.ratios = ratios.to_vec();
    }

    pub fn summaries(&self) -> Vec<Summary> {
        self.guards[0].summaries()
    }

    /// Makes a call that takes the native MPI about `native` nanoseconds.
    pub fn call(&mut self, key: CellKey, native: f64) {
        self.call_each(|_| key, native);
    }

    /// Makes a call in which ranks may differ.
    pub(crate) fn call_each(&mut self, key: impl Fn(usize) -> CellKey, native: f64) {
        self.exchange();
        for (rank, now) in self.now.iter_mut().enumerate() {
            let late = self.noise.late.filter(|(late, _)| *late == rank);
            *now +=
                native.min(1_000.0) * self.random.uniform() + late.map_or(0.0, |(_, time)| time);
        }
        let mut tickets = Vec::new();
        for (rank, guard) in self.guards.iter_mut().enumerate() {
            let now = self.now[rank] as u64;
            let reads = Shared::new(0);
            let ticket = guard.enter(key(rank), || {
                reads.set(reads.get() + 1);
                now
            });
            assert!(reads.get() <= 1);
            tickets.push(ticket);
        }
        if tickets[0].is_aligned() {
            let last = self.now.iter().copied().fold(0.0, f64::max) + self.of_exchange as f64;
            self.now.fill(last);
            for (guard, ticket) in self.guards.iter_mut().zip(&mut tickets) {
                guard.aligned(ticket, last as u64);
            }
        }
        if let (Some(cost), Some(_)) = (self.making, tickets[0].candidate()) {
            for ((guard, ticket), now) in
                self.guards.iter_mut().zip(&mut tickets).zip(&mut self.now)
            {
                *now += cost as f64;
                guard.made(ticket, *now as u64, cost);
            }
        }
        let plan = |ticket: &Ticket| ticket.candidate().map(|one| one.to_string());
        let first = plan(&tickets[0]);
        assert!(
            tickets.iter().all(|ticket| plan(ticket) == first),
            "disagree"
        );
        self.run(first.as_deref(), &tickets, native);
    }

    fn run(&mut self, plan: Option<&str>, tickets: &[Ticket], native: f64) {
        let by_native = native * self.random.noise(&self.noise);
        let place = (0..self.ratios.len())
            .find(|&at| Some(&*challenger(at, None).candidate.to_string()) == plan);
        let took = match place {
            Some(place) => native * self.ratios[place] * self.random.noise(&self.noise),
            None => by_native,
        };
        let is_cold = self.ran_plan != plan.is_some();
        let took = took + if is_cold { self.cold } else { 0.0 };
        let borrows = is_cold && plan.is_some() && !tickets[0].is_aligned();
        let took = took - if borrows { self.borrowed } else { 0.0 };
        self.ran_plan = plan.is_some();
        self.time += took;
        self.native_time += by_native;
        self.longest_excess = self.longest_excess.max(took - by_native);
        let end = self.now.iter().copied().fold(0.0, f64::max) + took;
        for (rank, ticket) in tickets.iter().enumerate() {
            self.guards[rank].leave(ticket, end as u64);
            self.now[rank] = end + if plan.is_some() { self.later } else { 0.0 };
        }
    }

    /// Exchanges numbers, if that is due: on all ranks or on none.
    fn exchange(&mut self) {
        let due = self.guards[0].due(true);
        assert!(
            self.guards.iter_mut().all(|guard| guard.due(true) == due),
            "disagree"
        );
        match due {
            Due::Nothing => (),
            Due::Begin => {
                let (ratios, native) = (self.ratios.len(), self.tries_native);
                let offered = |key: &CellKey| match native {
                    true => vec![of_native(key)],
                    false => (0..ratios).map(|at| challenger(at, Some(500))).collect(),
                };
                let ranks = self.guards.iter_mut().zip(&self.now);
                let values: Vec<Vec<i64>> = ranks
                    .map(|(guard, &now)| begin(guard, offered, now as u64))
                    .collect();
                let least = |at| values.iter().map(|values: &Vec<i64>| values[at]).min();
                self.under_way = (0..VALUES).map(least).collect();
                self.exchanges += 1;
            }
            Due::Complete => {
                let least = self.under_way.take().expect("an exchange was begun");
                for (rank, guard) in self.guards.iter_mut().enumerate() {
                    let wait = if rank == 0 { 0 } else { self.wait };
                    let events = guard.complete(&least, self.of_exchange + wait);
                    if rank == 0 {
                        self.events.extend(events);
                    }
                }
            }
        }
    }
}

fn begin(guard: &mut Guard, offered: impl Fn(&CellKey) -> Vec<Challenger>, now: u64) -> Vec<i64> {
    while let Some(key) = guard.undecided() {
        guard.offer(key, offered(&key));
    }
    guard.begin(now)
}
