//! Start-up: of a process that never calls MPI, and of `MPI_Init`.

use std::ffi::OsString;
use std::path::Path;

use treepie_tests::artifacts;

use crate::error::Error;
use crate::figures::{Figure, Origin};
use crate::launch::{MODE_REPLAY, OFF, PROFILE, REPLAY, Variant, mpis, numbers, output};
use crate::overhead::batches;
use crate::rounds::{Measurement, Series};

/// Library that a process inherits: none, an empty one, or Treepie in a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inherited {
    Plain,
    Again,
    Empty,
    Mode(&'static str),
}

const INHERITED: [Inherited; 6] = [
    Inherited::Plain,
    Inherited::Again,
    Inherited::Empty,
    Inherited::Mode("off"),
    Inherited::Mode("profile"),
    Inherited::Mode("replay"),
];

impl Inherited {
    fn name(self) -> &'static str {
        match self {
            Inherited::Plain => "plain",
            Inherited::Again => "again",
            Inherited::Empty => "empty",
            Inherited::Mode(mode) => mode,
        }
    }
}

/// The variant with a plain `MPI_Init` and one `MPI_Comm_split`: the minimum that a replay needs.
const SPLIT: Variant = Variant::With("split", &[]);

const OF_INIT: [Variant; 8] = [
    Variant::Plain,
    Variant::Again,
    SPLIT,
    OFF,
    PROFILE,
    REPLAY,
    // Collectives of two clusters are replaced under the guard.
    Variant::With(
        "guarded",
        &[
            MODE_REPLAY,
            ("TREEPIE_COLLECTIVES", "auto"),
            ("TREEPIE_GUARD", "on"),
            ("TREEPIE_CLUSTERS", "0,1"),
        ],
    ),
    // With a store.
    Variant::With(
        "learning",
        &[("TREEPIE_MODE", "auto"), ("TREEPIE_STORE", "{}/store")],
    ),
];

/// Measures both.
///
/// # Errors
/// A run fails.
pub(crate) fn measure(
    origin: &Origin,
    rounds: usize,
    scratch: &Path,
) -> Result<Vec<Figure>, Error> {
    let empty = scratch.join("empty.so");
    let compile = ["sh", "-c", "echo | cc -shared -fPIC -x c -o \"$0\" -"];
    let mut compile: Vec<OsString> = compile.map(OsString::from).into();
    compile.push(empty.clone().into());
    output("an empty library", 60, &compile, scratch)?;
    let series = Series {
        origin,
        mpi: "",
        calls: 1,
        rounds,
    };
    let mut figures = series.run(&INHERITED, Inherited::name, |variant| {
        let values = processes(variant, &empty, scratch)?;
        let row = "a process that never calls MPI".to_owned();
        Ok(vec![Measurement {
            row,
            quantity: "ns",
            values,
        }])
    })?;
    for mpi in mpis() {
        let series = Series {
            origin,
            mpi: mpi.name(),
            calls: 1,
            rounds,
        };
        figures.extend(series.run(&OF_INIT, Variant::name, |variant| {
            let values = match variant == SPLIT {
                true => batches(mpi, "init-split", 1, Variant::Plain, scratch)?,
                false => batches(mpi, "init", 1, variant, scratch)?,
            };
            let row = "MPI_Init on 2 ranks".to_owned();
            Ok(vec![Measurement {
                row,
                quantity: "ns",
                values,
            }])
        })?);
    }
    Ok(figures)
}

/// The mean nanoseconds of a hundred processes that do nothing. The shell that starts them also has
/// the library.
fn processes(variant: Inherited, empty: &Path, scratch: &Path) -> Result<Vec<f64>, Error> {
    let script = "began=${EPOCHREALTIME/[.,]/}
        for ((count = 0; count < 100; count++)); do /bin/true; done
        echo $(((${EPOCHREALTIME/[.,]/} - began) * 10))";
    let preload = |library: &Path| format!("LD_PRELOAD={}", library.display());
    let mut words: Vec<OsString> = vec!["env".into()];
    match variant {
        Inherited::Plain | Inherited::Again => {}
        Inherited::Empty => words.push(preload(empty).into()),
        Inherited::Mode(mode) => {
            words.push(preload(&artifacts::library()).into());
            words.push(format!("TREEPIE_MODE={mode}").into());
            words.push("TREEPIE_PERMUTATION=1,0".into());
        }
    }
    words.extend(["bash", "-c", script].map(OsString::from));
    let what = format!("/bin/true, {}", variant.name());
    let (stdout, _) = output(&what, 120, &words, scratch)?;
    numbers(&what, &stdout)
}
