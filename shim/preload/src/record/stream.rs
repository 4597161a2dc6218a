//! All that this process has counted, as one partial profile: read from where it is counted,
//! at any moment, and in a signal handler too.

use once_cell::sync::OnceCell;
use treepie_core::files::partial_profiles::{self, Encoder, Sink};

use super::patience::Patience;
use super::phases::{self, PATIENT, Reading};
use super::{cancelled, communicators, counters, shared_memory, windows};

/// Who this process is in the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its rank in the launcher's world.
    pub process: u32,
    /// Its rank in the application's world.
    pub rank: u32,
    /// Name of its host.
    pub host: String,
    /// The cores that it may run on, as Linux lists them.
    pub allowed_cores: String,
}

static IDENTITY: OnceCell<Identity> = OnceCell::new();

/// Says who this process is, once.
pub fn identify(identity: Identity) {
    let _ = IDENTITY.set(identity);
}

/// Writes this process's partial profile. Nothing is allocated, and no lock is waited for
/// longer than `patience`: what it covers is left out.
pub fn encode<S: Sink>(patience: impl Patience, sink: &mut S) {
    let Some(identity) = IDENTITY.get() else {
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
    if let Some(taken_back) = cancelled::taken_back(patience) {
        for (&(kind, partner), &traffic) in taken_back.iter() {
            encoder.taken_back(kind, partner, traffic);
        }
    }
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
