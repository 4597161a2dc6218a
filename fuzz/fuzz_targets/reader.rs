//! Runs one reader, selected by `TREEPIE_READER`, on the input of the fuzzer.
#![no_main]

use cap::Cap;
use libfuzzer_sys::fuzz_target;
use std::alloc::System;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use treepie_fuzz::{READERS, Reader};

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// Maximum memory for an input of this number of bytes: the limit of readers, of which up to twice
/// as much is allocated.
fn most_memory(bytes: usize) -> usize {
    2 * (64 << 20).max(32 * bytes)
}

/// The longest time in milliseconds, and the largest memory in MiB, so far.
static RECORDS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

fn say_records(milliseconds: u64) {
    let mebibytes = MEMORY.max_allocated() as u64 >> 20;
    let [time, memory] = &RECORDS;
    let longer = time.fetch_max(milliseconds, Relaxed) < milliseconds;
    if memory.fetch_max(mebibytes, Relaxed) < mebibytes || longer {
        let [time, memory] = [time, memory].map(|record| record.load(Relaxed));
        eprintln!("at most: {time} ms, {memory} MiB");
    }
}

static READER: OnceLock<&'static Reader> = OnceLock::new();

fn named() -> &'static Reader {
    let name = std::env::var("TREEPIE_READER").unwrap_or_default();
    let reader = READERS.iter().find(|reader| reader.name == name);
    reader.unwrap_or_else(|| {
        let names: Vec<&str> = READERS.iter().map(|reader| reader.name).collect();
        panic!(
            "TREEPIE_READER={name}: one of {} was expected",
            names.join(", ")
        )
    })
}

fuzz_target!(|data: &[u8]| {
    let reader = READER.get_or_init(named);
    // A larger allocation fails, which ends the process.
    let limit = MEMORY.allocated() + most_memory(data.len());
    MEMORY.set_limit(limit).expect("so much is not taken yet");
    let start = Instant::now();
    reader.meets(data);
    MEMORY.set_limit(usize::MAX).expect("there is no limit");
    say_records(start.elapsed().as_millis() as u64);
});
