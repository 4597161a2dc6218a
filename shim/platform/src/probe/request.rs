//! Requests of the measuring rank to the echoing one.
//!
//! One request is for several sizes, one after the other: on a long path a separate request for
//! each would cost another round trip.
//!
//! ```text
//!   round trip     measure --m--> echo --0--> measure            RTT(m)
//!   train          measure --m m m m--> echo --0--> measure      RTT of n
//!   late           echo --0 a b c--> ...   measure waits, then receives: or(m)
//! ```

use serde::{Deserialize, Serialize};

use crate::probe::messenger::{Messenger, receive_value};
use crate::probe::trial::Trial;

/// One exchange after the other, all with their sizes in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Request {
    /// Round trips: the message there, an empty one back.
    RoundTrips(Vec<u64>),
    /// Trains of (size, number of messages), each with one empty answer.
    Trains(Vec<(u64, usize)>),
    /// Requested by an empty message, all sizes together, after an empty one.
    Late(Vec<u64>),
    /// A trial of a method.
    Trial(Trial),
    /// No more trials.
    EndTrials,
    /// No more measurements.
    Done,
}

/// Serves the requests of the measuring rank, until it is done.
pub(super) fn echo(messenger: &mut impl Messenger, from: usize) {
    while let Some(request) = receive_value(messenger, from) {
        match request {
            Request::Done => return,
            Request::Trial(trial) => {
                messenger.try_way(from, false, &trial);
            }
            Request::EndTrials => messenger.end_trials(from),
            Request::RoundTrips(sizes) => {
                for bytes in sizes {
                    messenger.receive(from, bytes);
                    messenger.send(from, 0);
                }
            }
            Request::Trains(trains) => {
                for (bytes, count) in trains {
                    messenger.receive_train(from, bytes, count);
                    messenger.send(from, 0);
                }
            }
            Request::Late(sizes) => {
                messenger.receive(from, 0);
                messenger.send(from, 0);
                for bytes in sizes {
                    messenger.send(from, bytes);
                }
            }
        }
    }
}
