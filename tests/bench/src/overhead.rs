//! Single calls: nanoseconds per iteration.

use std::path::Path;

use treepie_tests::{Mpi, artifacts};

use crate::error::{Error, wanted};
use crate::figures::{Figure, Origin};
use crate::launch::{
    MODE_PROFILE, MODE_REPLAY, OFF, OUTPUT, PROFILE, REPLAY, Variant, mpis, numbers, output,
    real_time,
};
use crate::rounds::{Measurement, Series};

/// Number of batches of one run.
pub(crate) const BATCHES: usize = 10;

/// The variants of single calls. `left` may replace started collectives, but leaves these to the
/// MPI: all ranks are on one host.
pub(crate) const VARIANTS: [Variant; 11] = [
    Variant::Plain,
    Variant::Again,
    Variant::Hook,
    OFF,
    PROFILE,
    // With a page for each rank.
    Variant::With("pages", &[MODE_PROFILE, OUTPUT, ("TREEPIE_PAGES", "true")]),
    // With the order of receives recorded.
    Variant::With(
        "order",
        &[MODE_PROFILE, OUTPUT, ("TREEPIE_ORDER", "{}/order")],
    ),
    // With ranks that may be stopped at a cut.
    Variant::With("cut", &[MODE_PROFILE, OUTPUT, ("TREEPIE_CUT", "true")]),
    REPLAY,
    Variant::With(
        "left",
        &[
            MODE_REPLAY,
            ("TREEPIE_COLLECTIVES", "bcast=flat,allreduce=auto"),
        ],
    ),
    Variant::Monitoring,
];

/// A kind of call: its name, iterations of a batch, and calls of an iteration, all of which pass
/// through the library. In a ping-pong each iteration is a send on one rank and a receive on the
/// other; `fortran-X` is X by `use mpi`. `tests/programs/src/bin/overhead.rs` defines the
/// iterations.
type Kind = (&'static str, u32, u32);

const KINDS: [Kind; 17] = [
    ("comm-rank", 1_000_000, 1),
    ("fortran-comm-rank", 1_000_000, 1),
    ("comm-rank-threads", 1_000_000, 1),
    ("testall", 1_000_000, 1),
    ("isend-self", 100_000, 4),
    ("isend-lengths", 100_000, 4),
    ("fortran-isend-self", 100_000, 4),
    ("isend-self-threads", 50_000, 4),
    ("allreduce-self", 100_000, 1),
    ("iallreduce-self", 100_000, 2),
    ("iallreduce-partner", 20_000, 2),
    ("neighbours-self", 50_000, 1),
    ("put-self", 100_000, 1),
    ("isend-partner", 100_000, 2),
    ("ping-pong", 40_000, 2),
    // Short batches: many rounds are more informative.
    ("ping-pong-0", 4_000, 2),
    ("ping-pong-1024", 4_000, 2),
];

/// Measures all kinds of calls, or those of a list.
///
/// # Errors
/// A kind is unknown, or a run fails.
pub(crate) fn measure(
    origin: &Origin,
    rounds: usize,
    kinds: Option<&str>,
    scratch: &Path,
) -> Result<Vec<Figure>, Error> {
    let kinds = wanted("kind of call", kinds, &KINDS, |kind| kind.0)?;
    let mut figures = Vec::new();
    for mpi in mpis() {
        let variants: Vec<Variant> = VARIANTS.into_iter().filter(|one| one.is_of(mpi)).collect();
        for &(kind, iterations, calls) in &kinds {
            let series = Series {
                origin,
                mpi: mpi.name(),
                calls,
                rounds,
            };
            figures.extend(series.run(&variants, Variant::name, |variant| {
                let values = batches(mpi, kind, iterations, variant, scratch)?;
                Ok(vec![Measurement {
                    row: kind.to_owned(),
                    quantity: "ns",
                    values,
                }])
            })?);
        }
    }
    Ok(figures)
}

/// The batches of one run: nanoseconds per iteration.
///
/// # Errors
/// A run fails.
pub(crate) fn batches(
    mpi: Mpi,
    kind: &str,
    iterations: u32,
    variant: Variant,
    scratch: &Path,
) -> Result<Vec<f64>, Error> {
    let program = match kind.starts_with("fortran-") {
        true => artifacts::job(mpi, "overhead.f90"),
        false => artifacts::program(mpi, "overhead"),
    };
    let mut words = real_time();
    words.extend(variant.launch(mpi, 2, scratch));
    words.push(program.into());
    words.extend([
        kind.into(),
        BATCHES.to_string().into(),
        iterations.to_string().into(),
    ]);
    let what = format!("{kind} under {mpi}, {}", variant.name());
    let (stdout, _) = output(&what, 120, &words, scratch)?;
    numbers(&what, &stdout)
}
