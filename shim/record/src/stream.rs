//! All that this process has counted, as one partial profile: read from where it is counted,
//! at any moment, and in a signal handler too.

use treepie_profile::partial_profiles::{self, Encoder, Sink};

use super::identity::identity;
use super::patience::Patience;
use super::phases::{self, PATIENT, Reading};
use super::{cancelled, communicators, counters, shared_memory, windows};

/// Writes this process's partial profile. Nothing is allocated, and no lock is waited for
/// longer than `patience`: what it covers is left out.
pub fn encode<S: Sink>(patience: impl Patience, sink: &mut S) {
    let Some(identity) = identity() else {
        return;
    };
    let mut encoder = Encoder::new(sink);
    encoder.rank(
        identity.process,
        identity.rank,
        &identity.host,
        &identity.allowed_cores,
        phases::now(),
    );
    encode_counts(patience, &mut encoder);
    shared_memory::encode(patience, &mut encoder);
    windows::encode(patience, &mut encoder);
    phases::encode(patience, &mut encoder);
    encoder.end();
}

/// Writes what was counted, from the start until now.
fn encode_counts<S: Sink>(patience: impl Patience, encoder: &mut Encoder<'_, S>) {
    counters::read_all(|kind, partner, traffic| encoder.counted(kind, partner, traffic));
    cancelled::each_taken_back(patience, |kind, partner, traffic| {
        encoder.taken_back(kind, partner, traffic);
    });
    communicators::encode_collectives(patience, encoder);
    counters::read_times(|class, time| encoder.time(class, time));
}

/// What was counted from the start until now.
pub fn reading() -> Reading {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    encode_counts(PATIENT, &mut encoder);
    encoder.end();
    let partial = partial_profiles::decode_all(&bytes)
        .next()
        .flatten()
        .unwrap_or_default();
    Reading {
        counted: partial.counted,
        collectives: partial.collectives,
        times: partial.times,
    }
}
