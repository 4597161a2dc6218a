//! Times of exchanges with one echoing rank.

use super::request::Request;
use crate::probe::messenger::{Messenger, send_value};

/// Round trip of an empty message, in seconds, above which it is wide-area: it hides the time until
/// the echo notices a request, and other disturbances of short paths.
const LONG: f64 = 2e-3;

/// One round trip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trip {
    /// Seconds from the send to the answer.
    pub(super) time: f64,
    /// Seconds for which the send occupied the sender.
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
    /// Creates a timer towards `to`, for about `seconds`.
    pub(super) fn new(messenger: &'a mut M, to: usize, seconds: f64) -> Self {
        let deadline = messenger.seconds() + seconds;
        Timer {
            messenger,
            to,
            deadline,
            is_long: false,
        }
    }

    /// Remaining seconds; negative when the time is up.
    pub(super) fn left(&mut self) -> f64 {
        self.deadline - self.messenger.seconds()
    }

    /// True if the time is up.
    pub(super) fn is_late(&mut self) -> bool {
        self.left() < 0.0
    }

    /// True if the path is a long one, as far as known.
    pub(super) fn is_long(&self) -> bool {
        self.is_long
    }

    /// Ends the echo.
    pub(super) fn done(mut self) {
        self.request(&Request::Done);
    }

    fn request(&mut self, request: &Request) {
        send_value(self.messenger, self.to, request);
    }

    /// Times round trips of empty messages, which determine whether the path is a long one.
    pub(super) fn empty_round_trips(&mut self, times: usize) -> Vec<Trip> {
        let trips = self.round_trips(&vec![0; times]);
        self.is_long = trips.iter().all(|trip| trip.time > LONG);
        trips
    }

    /// Times one round trip of each of these sizes. On a short path an empty message, which does
    /// not count, is sent first: it arrives while the echo is still handling the request.
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

    /// Times each of these trains of (size, number of messages) up to the answer. On a short path
    /// one of an empty message, which does not count, is sent first.
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

    /// Times of receiving messages of these sizes that have already arrived, after a wait of `wait`
    /// seconds.
    pub(super) fn late(&mut self, sizes: &[u64], wait: f64) -> Vec<f64> {
        self.request(&Request::Late(sizes.to_vec()));
        self.messenger.send(self.to, 0);
        self.messenger.pause(wait);
        // The first one takes in messages that wait outside the process.
        self.messenger.receive(self.to, 0);
        let received = sizes.iter().map(|&bytes| {
            let began = self.messenger.seconds();
            self.messenger.receive(self.to, bytes);
            self.messenger.seconds() - began
        });
        received.collect()
    }
}
