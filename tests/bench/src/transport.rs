//! Collectives on one host: the MPI's own, unchanged and as tuned by `treepie tune`, plans over the
//! MPI's messages, plans over shared memory, and the collectives adopted by auto under the guard.
//! Each rank has a core if there are enough; with more ranks than cores, waiting processes let
//! others run in all variants. Plans are those of `TREEPIE_COLLECTIVES`, if that is set; the guard
//! has ten times as many batches as they, to find one.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use treepie_tests::{Mpi, artifacts};

use crate::error::{Error, wanted};
use crate::figures::{Figure, Origin};
use crate::launch::{numbers, output};
use crate::rounds::{Measurement, Series};

const PLANS: &str = "barrier=dissemination,bcast=binomial,allreduce=recursive-doubling";
const VARIANTS: [&str; 5] = ["native", "tuned", "messages", "memory", "guarded"];
const MPIS: [Mpi; 4] = [Mpi::OpenMpi, Mpi::Mpich, Mpi::OpenMpi5, Mpi::Mpich5];

/// Requested measurements: numbers of ranks, calls such as `bcast:1024`, and names of MPIs, each
/// separated by commas.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransportOptions<'a> {
    pub(crate) ranks: &'a str,
    pub(crate) calls: &'a str,
    pub(crate) mpis: &'a str,
}

/// Ranks of an MPI on this machine.
#[derive(Debug, Clone, Copy)]
struct Ranks<'a> {
    mpi: Mpi,
    ranks: usize,
    scratch: &'a Path,
}

/// Runs these measurements.
///
/// # Errors
/// An MPI is unknown, a number of ranks is invalid, or a run fails.
pub(crate) fn measure(
    origin: &Origin,
    rounds: usize,
    of: TransportOptions,
    scratch: &Path,
) -> Result<Vec<Figure>, Error> {
    let mut figures = Vec::new();
    for mpi in wanted("MPI", Some(of.mpis), &MPIS, |mpi| mpi.name())? {
        for ranks in numbers("the list of ranks", &of.ranks.replace(',', " "))? {
            let place = Ranks {
                mpi,
                ranks: ranks as usize,
                scratch,
            };
            place.tune(of.calls)?;
            let series = Series {
                origin,
                mpi: mpi.name(),
                calls: 1,
                rounds,
            };
            figures.extend(series.run(
                &VARIANTS,
                |name| name,
                |variant| place.time(variant, of.calls),
            )?);
        }
    }
    Ok(figures)
}

impl Ranks<'_> {
    /// The words that start the ranks with these variables, and with this library preloaded.
    fn launch(self, preload: Option<PathBuf>, variables: &[(&str, String)]) -> Vec<OsString> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let is_bound = self.ranks <= cores;
        let libraries = preload
            .into_iter()
            .chain(self.mpi.preload().filter(|_| !is_bound));
        let libraries: Vec<String> = libraries.map(|file| file.display().to_string()).collect();
        let mut all: Vec<(String, String)> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        if !libraries.is_empty() {
            all.push(("LD_PRELOAD".to_owned(), libraries.join(":")));
        }
        match is_bound {
            true => self.mpi.launch_on_cores(self.ranks, &all),
            false => self.mpi.launch(self.ranks, &all),
        }
    }

    fn tuning(self) -> PathBuf {
        self.scratch
            .join(format!("{}.{}.tuning", self.mpi.name(), self.ranks))
    }

    /// Runs `treepie tune` for these calls.
    fn tune(self, calls: &str) -> Result<(), Error> {
        let split = || calls.split(',').filter_map(|call| call.split_once(':'));
        let operations: BTreeSet<&str> = split().map(|(name, _)| name).collect();
        let sizes: BTreeSet<u64> = split()
            .filter_map(|(_, bytes)| bytes.parse().ok())
            .filter(|bytes| *bytes > 0)
            .collect();
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        let sizes = if sizes.is_empty() {
            "8".to_owned()
        } else {
            sizes.join(",")
        };
        let operations = operations.into_iter().collect::<Vec<_>>().join(",");
        let mut words: Vec<OsString> = vec![artifacts::command().into()];
        words.extend(["tune", "-q", "--without-plans", "--commutative"].map(OsString::from));
        words.extend(["--time-limit", "60", "--collectives", &operations].map(OsString::from));
        words.extend(["--sizes", &sizes, "-o"].map(OsString::from));
        words.extend([self.tuning().into_os_string(), "--".into()]);
        words.extend(self.launch(None, &[]));
        let what = format!("treepie tune on {} ranks of {}", self.ranks, self.mpi);
        output(&what, 300, &words, self.scratch).map(|_| ())
    }

    /// The least and the median of all batches of each call in a run.
    fn time(self, variant: &str, calls: &str) -> Result<Vec<Measurement>, Error> {
        let plans = std::env::var("TREEPIE_COLLECTIVES").unwrap_or_else(|_| PLANS.to_owned());
        let tuning = self.tuning().join("tuning.yaml").display().to_string();
        let settings: Vec<(&str, String)> = match variant {
            "native" => Vec::new(),
            "tuned" => vec![
                ("TREEPIE_COLLECTIVES", "native".into()),
                ("TREEPIE_TUNING", tuning),
            ],
            "guarded" => vec![
                ("TREEPIE_COLLECTIVES", "auto".into()),
                ("TREEPIE_GUARD", "on".into()),
                ("TREEPIE_TRANSPORT", "memory".into()),
            ],
            transport => {
                vec![
                    ("TREEPIE_COLLECTIVES", plans),
                    ("TREEPIE_TRANSPORT", transport.into()),
                ]
            }
        };
        let with_library = variant != "native";
        let mode = with_library.then(|| ("TREEPIE_MODE", "replay".to_owned()));
        let variables: Vec<_> = mode.into_iter().chain(settings).collect();
        let mut words = self.launch(with_library.then(artifacts::library), &variables);
        let batches = if variant == "guarded" { "200" } else { "20" };
        words.push(artifacts::job(self.mpi, "transport_times").into());
        words.extend([batches, "2", calls].map(OsString::from));
        let what = format!("{variant} on {} ranks of {}", self.ranks, self.mpi);
        let (stdout, _) = output(&what, 300, &words, self.scratch)?;
        let mut measured = Vec::new();
        for line in stdout.lines() {
            let Some((name, rest)) = line.split_once(' ') else {
                continue;
            };
            let values = numbers(&what, rest)?;
            let [bytes, least, median] = values[..] else {
                continue;
            };
            let row = format!("{name} of {bytes} bytes on {} ranks", self.ranks);
            for (quantity, value) in [("ns, least", least), ("ns, median", median)] {
                measured.push(Measurement {
                    row: row.clone(),
                    quantity,
                    values: vec![value],
                });
            }
        }
        Ok(measured)
    }
}
