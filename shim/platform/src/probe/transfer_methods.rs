//! Methods of transfer of pieces to one partner, and epochs, timed one after the other (`treepie
//! probe --ways`).

use std::collections::BTreeMap;

use treepie_traffic::windows::EpochKind;

use super::request::Request;
use crate::probe::messenger::{Messenger, send_value};
use crate::probe::trial::{Subject, Trial};
use crate::transfer_methods::{TransferMethod, WayCost, Ways};

/// Sizes of pieces in bytes.
const SIZES: [u64; 5] = [8, 64, 512, 4 << 10, 32 << 10];
/// Number of pieces from whose time that of each further piece is derived.
const SEVERAL: usize = 32;
/// Limits of the number of repetitions of each trial, after a first one that sets up connections.
const TIMES: (usize, usize) = (3, 200);

/// Measures all methods towards `to` in about `seconds`, small pieces first; those for which there
/// is no time are left out. `None` if the messenger has no such methods.
pub(super) fn ways(messenger: &mut impl Messenger, to: usize, seconds: f64) -> Option<Ways> {
    let mut trials = Trials {
        deadline: messenger.seconds() + seconds,
        times: TIMES.0,
        messenger,
        to,
    };
    let first = trials.time(Subject::Epoch(EpochKind::LockAll))?;
    let count = EpochKind::ALL.len() + 2 * SIZES.len() * TransferMethod::ALL.len();
    // With several pieces and other epochs most take longer than the first.
    let affordable = seconds / (3.0 * count as f64 * first.max(1e-9));
    trials.times = (affordable as usize).clamp(TIMES.0, TIMES.1);
    let mut epochs = BTreeMap::new();
    for &kind in EpochKind::ALL {
        epochs.extend(trials.time(Subject::Epoch(kind)).map(|time| (kind, time)));
    }
    let mut costs: BTreeMap<TransferMethod, Vec<WayCost>> = BTreeMap::new();
    let mut expected = BTreeMap::new();
    for (place, bytes) in SIZES.into_iter().enumerate() {
        let growth = match place {
            0 => 1.0,
            _ => bytes as f64 / SIZES[place - 1] as f64,
        };
        for &way in TransferMethod::ALL {
            let began = trials.messenger.seconds();
            // A method that was left out is not measured again: costs are on lines between samples.
            let is_affordable = expected
                .get(&way)
                .is_none_or(|&time| growth * time < trials.left());
            if !is_affordable || trials.left() <= 0.0 {
                expected.insert(way, f64::INFINITY);
                continue;
            }
            costs
                .entry(way)
                .or_default()
                .extend(trials.cost(way, bytes));
            expected.insert(way, trials.messenger.seconds() - began);
        }
    }
    trials.end();
    Ways::new(costs, epochs).ok()
}

/// Trials with one partner.
struct Trials<'a, M: Messenger> {
    messenger: &'a mut M,
    to: usize,
    deadline: f64,
    times: usize,
}

impl<M: Messenger> Trials<'_, M> {
    fn left(&mut self) -> f64 {
        self.deadline - self.messenger.seconds()
    }

    /// The lower quartile of a trial: other work on a host delays half of the repetitions and more.
    fn time(&mut self, subject: Subject) -> Option<f64> {
        let trial = Trial {
            subject,
            times: 1 + self.times,
        };
        send_value(self.messenger, self.to, &Request::Trial(trial));
        let times = self.messenger.try_way(self.to, true, &trial);
        let mut times = times.get(1..)?.to_vec();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 4).copied()
    }

    fn cost(&mut self, way: TransferMethod, bytes: u64) -> Option<WayCost> {
        let mut time = |pieces| self.time(Subject::Pieces { way, pieces, bytes });
        let (one, several) = (time(1)?, time(SEVERAL)?);
        Some(WayCost {
            bytes,
            one,
            further: (several - one).max(0.0) / (SEVERAL - 1) as f64,
        })
    }

    /// Ends the trials of the partner.
    fn end(self) {
        send_value(self.messenger, self.to, &Request::EndTrials);
        self.messenger.end_trials(self.to);
        send_value(self.messenger, self.to, &Request::Done);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A partner to which every piece takes a microsecond and one for each KiB, after 100 others.
    #[derive(Default)]
    struct Partner {
        clock: f64,
        has_ended: bool,
    }

    impl Messenger for Partner {
        fn rank(&self) -> usize {
            0
        }
        fn ranks(&self) -> usize {
            2
        }
        fn seconds(&mut self) -> f64 {
            self.clock
        }
        fn pause(&mut self, seconds: f64) {
            self.clock += seconds;
        }
        fn send(&mut self, _to: usize, _bytes: u64) {}
        fn receive(&mut self, _from: usize, _bytes: u64) {}
        fn send_train(&mut self, _to: usize, _bytes: u64, _count: usize) {}
        fn receive_train(&mut self, _from: usize, _bytes: u64, _count: usize) {}
        fn exchange(&mut self, _members: &[usize], _bytes: u64) {}
        fn send_data(&mut self, _to: usize, _bytes: &[u8]) {}
        fn receive_data(&mut self, _from: usize) -> Vec<u8> {
            Vec::new()
        }
        fn try_way(&mut self, _partner: usize, is_origin: bool, trial: &Trial) -> Vec<f64> {
            assert!(is_origin && !self.has_ended);
            let time = match trial.subject {
                Subject::Epoch(_) => 50e-6,
                Subject::Pieces { pieces, bytes, .. } => {
                    100e-6 + pieces as f64 * 1e-6 * (1.0 + bytes as f64 / 1024.0)
                }
            };
            let mut times = vec![time; trial.times];
            // Connections are set up.
            times[0] = 1.0;
            self.clock += time * trial.times as f64;
            times
        }
        fn end_trials(&mut self, _partner: usize) {
            self.has_ended = true;
        }
    }

    #[test]
    fn a_way_costs_what_one_piece_takes_and_what_each_further_one_adds() {
        let mut partner = Partner::default();
        let found = ways(&mut partner, 1, 10.0).unwrap();
        assert!(partner.has_ended);
        assert_eq!(found.epochs().len(), EpochKind::ALL.len());
        for &way in TransferMethod::ALL {
            let costs = &found.costs()[&way];
            assert_eq!(costs.len(), SIZES.len(), "{way}");
            let large = costs.last().unwrap();
            assert!((large.further - 33e-6).abs() < 1e-12, "{large:?}");
            assert!((large.one - 133e-6).abs() < 1e-12, "{large:?}");
        }
    }

    #[test]
    fn what_there_is_no_time_for_is_left_out_large_pieces_first() {
        let mut partner = Partner::default();
        let budget = 0.02;
        let found = ways(&mut partner, 1, budget).unwrap();
        assert!(partner.clock < 2.0 * budget, "{}", partner.clock);
        assert!(partner.has_ended);
        let sizes = |way| found.costs().get(&way).map_or(0, Vec::len);
        assert!(sizes(TransferMethod::Send) > 0, "{found:?}");
        assert!(
            TransferMethod::ALL
                .iter()
                .all(|&way| sizes(way) < SIZES.len()),
            "{found:?}"
        );
    }
}
