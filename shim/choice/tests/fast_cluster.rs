//! One cluster of eight hosts with 64 cores each and a fast network: the promised gains, at the
//! latencies of real networks, by the platform file of `profiles/`.
#![allow(clippy::unwrap_used)] // a test may panic

use std::path::Path;

use treepie_choice::predict::Predictor;
use treepie_collective::Operation::{self, *};
use treepie_collective::Uniform;
use treepie_collective::network::Computing;
use treepie_native::Family;
use treepie_platform::file::PlatformFile;

const FILE: &str = include_str!("../../../profiles/fast-cluster.platform.yaml");

/// Ratio of the time of the MPI's own algorithm to that of the plan that the guard tries first.
fn promised(file: &PlatformFile, operation: Operation, bytes: u64) -> f64 {
    let call = Uniform {
        operation,
        bytes,
        root: 0,
    };
    let computing = Computing::default();
    let predictor = Predictor::new(&file.platform, call, Family::OpenMpi, computing).unwrap();
    let choice = predictor.estimates();
    choice.native_seconds().unwrap() / choice.considered()[0].seconds
}

#[test]
fn leaders_gain_for_short_calls_the_more_the_longer_the_latency_and_not_for_long_ones() {
    let mut before = 1.0;
    for microseconds in [1, 2, 3] {
        let latency = format!("latency_us: {microseconds}\n    samples:\n    - 0 0.3");
        let text = FILE.replace("latency_us: 2\n    samples:\n    - 0 0.3", &latency);
        let file = PlatformFile::from_text(Path::new("fast"), &text).unwrap();
        let factor = |operation, bytes| promised(&file, operation, bytes);
        let sum = factor(Allreduce, 8);
        assert!(
            sum > 1.3 && sum > before,
            "{microseconds} us: {sum} and {before} before"
        );
        before = sum;
        assert!(factor(Barrier, 0) > 5.0);
        assert!(factor(Allreduce, 1 << 20) < 1.0);
    }
}
