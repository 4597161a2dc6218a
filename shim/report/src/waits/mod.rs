//! Why a job hangs, in words: what is the matter in the first line, then what each rank does, the
//! cycle, collectives that ranks do not agree on, and messages that nobody received.

mod activity;
mod answers;
mod hang;
mod headline;
mod words;

pub use hang::Hang;
