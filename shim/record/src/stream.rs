//! All counts of this process, as one partial profile: read directly from the counters, at any
//! moment, even in a signal handler.

use treepie_profile::partial_profiles::{Encoder, Sink};

use super::identity::identity;
use super::patience::Patience;
use super::reading::encode_counts;
use super::{clock, phases, shared_memory, windows};

/// Writes this process's partial profile. Nothing is allocated, and no lock is waited for longer
/// than `patience`: data behind it are omitted.
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
        clock::now(),
    );
    encode_counts(patience, &mut encoder);
    shared_memory::encode(patience, &mut encoder);
    windows::encode(patience, &mut encoder);
    phases::encode(patience, &mut encoder);
    encoder.end();
}
