//! What the measuring rank of two asks of the one that mirrors.
//!
//! One request asks for several sizes, one after the other: on a long way each
//! request of its own would cost another round trip.
//!
//! ```text
//!   round trip     measure --m--> mirror --0--> measure          RTT(m)
//!   train          measure --m m m m--> mirror --0--> measure    RTT of n
//!   late           mirror --0 a b c--> ... measure waits, then receives: or(m)
//! ```

use super::Messenger;

/// One exchange after the other, all with their sizes in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Request {
    /// Round trips: the message there, an empty one back.
    RoundTrips(Vec<u64>),
    /// Trains of (size, number of messages), each with one empty answer.
    Trains(Vec<(u64, usize)>),
    /// Asked by an empty message, all sizes at once, an empty one in front.
    Late(Vec<u64>),
    /// There is nothing more to measure.
    Done,
}

impl Request {
    /// The request as a line of text.
    pub(super) fn text(&self) -> String {
        let words = |sizes: &[u64]| {
            sizes
                .iter()
                .map(|bytes| format!(" {bytes}"))
                .collect::<String>()
        };
        match self {
            Request::RoundTrips(sizes) => format!("r{}", words(sizes)),
            Request::Trains(trains) => {
                let trains = trains.iter();
                let flat: Vec<u64> = trains
                    .flat_map(|&(bytes, count)| [bytes, count as u64])
                    .collect();
                format!("t{}", words(&flat))
            }
            Request::Late(sizes) => format!("l{}", words(sizes)),
            Request::Done => "d".into(),
        }
    }

    /// The request of a text; [`Request::Done`] for one that means nothing, which
    /// only another program could have sent.
    fn parse(text: &str) -> Request {
        let mut words = text.split(' ');
        let kind = words.next();
        let Ok(sizes) = words.map(str::parse).collect::<Result<Vec<u64>, _>>() else {
            return Request::Done;
        };
        match kind {
            Some("r") => Request::RoundTrips(sizes),
            Some("t") => Request::Trains(
                sizes
                    .as_chunks()
                    .0
                    .iter()
                    .map(|&[bytes, count]| (bytes, count as usize))
                    .collect(),
            ),
            Some("l") => Request::Late(sizes),
            _ => Request::Done,
        }
    }
}

/// Does what the measuring rank asks, until it is done.
pub(super) fn mirror(messenger: &mut impl Messenger, from: usize) {
    loop {
        match Request::parse(&messenger.hear(from)) {
            Request::Done => return,
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
