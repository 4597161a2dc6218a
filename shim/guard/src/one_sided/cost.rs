//! Time of one-sided communication over a link, as it was measured (`treepie probe --ways`),
//! otherwise from the link's latency and gap.

use treepie_platform::{Link, TransferMethod};
use treepie_traffic::windows::EpochKind;

/// Bytes of the destination of an update in a joined message: an address and a length.
const HEADER: f64 = 16.0;

/// Bytes of the put in a timed epoch.
const PUT: u64 = 8;

/// Returns the seconds of `pieces` pieces of `bytes` bytes that are sent in one way to one target,
/// until the origin knows that they have arrived.
pub fn seconds(link: &Link, way: TransferMethod, pieces: f64, bytes: f64) -> f64 {
    let measured = link
        .ways()
        .and_then(|ways| ways.seconds(way, pieces, bytes));
    measured.unwrap_or_else(|| modelled(link, way, pieces, bytes))
}

/// Ways of messages, among which a program, or the MPI, can choose for a block with gaps.
pub const MESSAGES: &[TransferMethod] = &[
    TransferMethod::Send,
    TransferMethod::Vector,
    TransferMethod::Packed,
];

/// Ways of puts.
pub const PUTS: &[TransferMethod] = &[
    TransferMethod::Put,
    TransferMethod::PutVector,
    TransferMethod::PutJoined,
];

/// Returns the fastest of these methods, the first of equal ones; [`TransferMethod::Send`] if
/// there are none.
pub fn fastest(link: &Link, ways: &[TransferMethod], pieces: f64, bytes: f64) -> TransferMethod {
    let of = |way: &&TransferMethod| seconds(link, **way, pieces, bytes);
    let least = ways.iter().min_by(|a, b| of(a).total_cmp(&of(b)));
    least.copied().unwrap_or(TransferMethod::Send)
}

/// Returns the seconds of joined pieces, if they can be joined: puts and accumulates. Joined
/// accumulates are not measured: their additional time over puts is assumed to be that of one
/// operation of all their bytes, since the target computes.
pub fn joined_seconds(link: &Link, way: TransferMethod, pieces: f64, bytes: f64) -> Option<f64> {
    let puts = seconds(link, TransferMethod::PutJoined, pieces, bytes);
    match way {
        TransferMethod::Put => Some(puts),
        TransferMethod::Accumulate => {
            let at_once = |way| seconds(link, way, 1.0, pieces * bytes);
            Some(
                puts + (at_once(TransferMethod::Accumulate) - at_once(TransferMethod::Put))
                    .max(0.0),
            )
        }
        _ => None,
    }
}

/// Returns the seconds from latency and gap: separate pieces occupy the link one after the other;
/// joined ones are one message, with a header for each. Both are acknowledged.
fn modelled(link: &Link, way: TransferMethod, pieces: f64, bytes: f64) -> f64 {
    let there_and_back = 2.0 * link.latency();
    there_and_back
        + match way {
            TransferMethod::Send
            | TransferMethod::Put
            | TransferMethod::Get
            | TransferMethod::Accumulate => pieces * link.gap(bytes as u64),
            TransferMethod::Vector | TransferMethod::Packed => {
                link.isolated_gap((pieces * bytes) as u64)
            }
            TransferMethod::PutVector | TransferMethod::PutJoined if pieces > 1.0 => {
                link.isolated_gap((pieces * (bytes + HEADER)) as u64)
            }
            TransferMethod::PutVector | TransferMethod::PutJoined => link.gap(bytes as u64),
        }
}

/// Returns the seconds of an epoch of this kind with one small put, between two ranks; for
/// `LockAll` those of the put and a flush.
pub fn epoch_seconds(link: &Link, kind: EpochKind) -> f64 {
    let measured = link.ways().and_then(|ways| ways.epochs().get(&kind));
    measured.copied().unwrap_or_else(|| {
        let round_trips = match kind {
            // Grant of the lock; acknowledgement of the put.
            EpochKind::Lock => 2.0,
            // Acknowledgement of the put; or notification that one side is ready, and that the
            // other is done.
            EpochKind::LockAll | EpochKind::Start | EpochKind::Fence => 1.0,
        };
        2.0 * link.latency() * round_trips + link.gap(PUT)
    })
}

/// Returns the number of rounds in which `ranks` ranks meet: a fence takes this many times its
/// duration on two of them.
pub fn rounds(ranks: usize) -> f64 {
    f64::from(ranks.max(2).next_power_of_two().ilog2())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeMap;

    use super::*;
    use treepie_platform::{WayCost, Ways};

    #[test]
    fn what_was_not_measured_follows_from_latency_and_gap() {
        let link = Link::linear(50.0, 5.0, 0.01).unwrap();
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
        near(
            seconds(&link, TransferMethod::Put, 100.0, 8.0),
            100.0 + 100.0 * 5.08,
        );
        near(
            seconds(&link, TransferMethod::PutJoined, 100.0, 8.0),
            100.0 + 5.0 + 2400.0 * 0.01,
        );
        near(seconds(&link, TransferMethod::PutJoined, 1.0, 8.0), 105.08);
        near(epoch_seconds(&link, EpochKind::Lock), 205.08);
        let cost = WayCost {
            bytes: 8,
            one: 90.0,
            further: 2.0,
        };
        let ways = Ways::new(
            [(TransferMethod::Put, vec![cost])].into(),
            [(EpochKind::Lock, 300.0)].into(),
        );
        let link = link.with_ways(ways.unwrap());
        near(seconds(&link, TransferMethod::Put, 11.0, 8.0), 110.0);
        near(epoch_seconds(&link, EpochKind::Lock), 300.0);
        near(epoch_seconds(&link, EpochKind::Start), 105.08);
    }

    #[test]
    fn the_fastest_way_changes_with_the_number_of_pieces() {
        let cost = |one, further| {
            vec![WayCost {
                bytes: 8,
                one,
                further,
            }]
        };
        let ways = [
            (TransferMethod::Send, cost(1.0, 1.0)),
            (TransferMethod::Vector, cost(3.0, 0.5)),
            (TransferMethod::Packed, cost(6.0, 0.25)),
        ];
        let link = Link::linear(50.0, 5.0, 0.01).unwrap();
        let link = link.with_ways(Ways::new(ways.into(), BTreeMap::new()).unwrap());
        let of = |pieces| fastest(&link, MESSAGES, pieces, 8.0);
        assert_eq!(
            [1.0, 5.0, 6.0, 13.0, 14.0].map(of),
            [
                TransferMethod::Send,
                TransferMethod::Send,
                TransferMethod::Vector,
                TransferMethod::Vector,
                TransferMethod::Packed
            ]
        );
    }

    #[test]
    fn joined_accumulates_take_what_the_target_computes_longer_than_joined_puts() {
        let link = Link::linear(50.0, 5.0, 0.01).unwrap();
        let joined = |link: &Link, way| joined_seconds(link, way, 100.0, 8.0);
        assert_eq!(
            joined(&link, TransferMethod::Accumulate),
            joined(&link, TransferMethod::Put)
        );
        assert_eq!(joined(&link, TransferMethod::Get), None);
        let costs = |one: f64| {
            let cost = |bytes| WayCost {
                bytes,
                one: one + bytes as f64 * one / 1000.0,
                further: 2.0,
            };
            vec![cost(8), cost(1024)]
        };
        let ways = [
            (TransferMethod::Put, costs(100.0)),
            (TransferMethod::Accumulate, costs(200.0)),
            (TransferMethod::PutJoined, costs(120.0)),
        ];
        let measured = link.with_ways(Ways::new(ways.into(), BTreeMap::new()).unwrap());
        let [put, accumulate] = [TransferMethod::Put, TransferMethod::Accumulate]
            .map(|way| joined(&measured, way).unwrap());
        // 800 bytes together: 180 us, or 360.
        assert!(
            (accumulate - put - 180.0).abs() < 1e-6,
            "{put} {accumulate}"
        );
    }

    #[test]
    fn more_ranks_meet_in_more_rounds() {
        assert_eq!(
            [1, 2, 3, 4, 64, 65].map(rounds),
            [1.0, 1.0, 2.0, 2.0, 6.0, 7.0]
        );
    }
}
