//! Times of exchanges with one echoing rank.

use super::request::Request;
use crate::probe::messenger::{Messenger, send_value};

/// A round trip of an empty message that is longer than this, in seconds, is one
/// of a wide area: it hides how long the mirror takes to notice a request, and
/// what else disturbs short ways.
const LONG: f64 = 2e-3;

/// One round trip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trip {
    /// Seconds from the send to the answer.
    pub(super) time: f64,
    /// Seconds that the send occupied the sender.
    pub(super) send: f64,
}

/// A measurement towards one rank.
pub(super) struct Timer<'a, M: Messenger> {
    messenger: &'a mut M,
    to: usize,
    deadline: f64,
    is_long: bool,
}

impl<'a, M: Messenger> Timer<'a, M> {
    /// Towards `to`, in about so many `seconds`.
    pub(super) fn new(messenger: &'a mut M, to: usize, seconds: f64) -> Self {
        let deadline = messenger.seconds() + seconds;
        Timer {
            messenger,
            to,
            deadline,
            is_long: false,
        }
    }

    /// Seconds that are left; below 0 when the time is up.
    pub(super) fn left(&mut self) -> f64 {
        self.deadline - self.messenger.seconds()
    }

    /// Whether the time is up.
    pub(super) fn is_late(&mut self) -> bool {
        self.left() < 0.0
    }

    /// Whether the way is a long one, as far as it is known.
    pub(super) fn is_long(&self) -> bool {
        self.is_long
    }

    /// Lets the mirror go.
    pub(super) fn done(mut self) {
        self.request(&Request::Done);
    }

    fn request(&mut self, request: &Request) {
        send_value(self.messenger, self.to, request);
    }

    /// Round trips of empty messages; they say whether the way is a long one.
    pub(super) fn empty_round_trips(&mut self, times: usize) -> Vec<Trip> {
        let trips = self.round_trips(&vec![0; times]);
        self.is_long = trips.iter().all(|trip| trip.time > LONG);
        trips
    }

    /// One round trip of each of these sizes. On a short way an empty one, which
    /// does not count, goes before: it finds the mirror still on its way.
    pub(super) fn round_trips(&mut self, sizes: &[u64]) -> Vec<Trip> {
        let first = usize::from(!self.is_long);
        let mut all = vec![0; first];
        all.extend_from_slice(sizes);
        self.request(&Request::RoundTrips(all.clone()));
        let trips = all.iter().map(|&bytes| {
            let began = self.messenger.seconds();
            self.messenger.send(self.to, bytes);
            let sent = self.messenger.seconds();
            self.messenger.receive(self.to, 0);
            Trip {
                time: self.messenger.seconds() - began,
                send: sent - began,
            }
        });
        let trips: Vec<Trip> = trips.collect();
        trips[first..].to_vec()
    }

    /// The time up to the answer of each of these trains of (size, number of
    /// messages). On a short way one of an empty message, which does not count,
    /// goes before.
    pub(super) fn trains(&mut self, trains: &[(u64, usize)]) -> Vec<f64> {
        let first = usize::from(!self.is_long);
        let mut all = vec![(0, 1); first];
        all.extend_from_slice(trains);
        self.request(&Request::Trains(all.clone()));
        let times = all.iter().map(|&(bytes, count)| {
            let began = self.messenger.seconds();
            self.messenger.send_train(self.to, bytes, count);
            self.messenger.receive(self.to, 0);
            self.messenger.seconds() - began
        });
        let times: Vec<f64> = times.collect();
        times[first..].to_vec()
    }

    /// Times of receiving messages of these sizes that have arrived already, after
    /// a wait of so many seconds.
    pub(super) fn late(&mut self, sizes: &[u64], wait: f64) -> Vec<f64> {
        self.request(&Request::Late(sizes.to_vec()));
        self.messenger.send(self.to, 0);
        self.messenger.pause(wait);
        // The first one takes in what waits outside the process.
        self.messenger.receive(self.to, 0);
        let received = sizes.iter().map(|&bytes| {
            let began = self.messenger.seconds();
            self.messenger.receive(self.to, bytes);
            self.messenger.seconds() - began
        });
        received.collect()
    }
}
