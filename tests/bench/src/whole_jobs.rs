//! Whole jobs on two ranks: seconds, and the processor time of all processes. Starting a job and
//! writing the profile are included, as for a user.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use treepie_tests::{Mpi, artifacts};

use crate::error::{Error, wanted};
use crate::figures::{Figure, Origin};
use crate::launch::{OFF, PROFILE, Variant, mpis, numbers, output};
use crate::rounds::{Measurement, Series};

const VARIANTS: [Variant; 5] = [
    Variant::Plain,
    Variant::Again,
    OFF,
    PROFILE,
    Variant::Monitoring,
];

/// Each takes about eight seconds.
const JOBS: [&[&str]; 3] = [
    &["halo2d", "512", "24000"],
    &["cg", "300", "225000"],
    &[
        "lmp",
        "-in",
        "melt.lammps",
        "-log",
        "none",
        "-screen",
        "none",
    ],
];

/// Measures all jobs, or those of a list.
///
/// # Errors
/// A job is unknown, or a run fails.
pub(crate) fn measure(
    origin: &Origin,
    rounds: usize,
    jobs: Option<&str>,
    scratch: &Path,
) -> Result<Vec<Figure>, Error> {
    let jobs = wanted("job", jobs, &JOBS, |job| job[0])?;
    write_input(scratch)?;
    let mut figures = Vec::new();
    for mpi in mpis() {
        let variants: Vec<Variant> = VARIANTS.into_iter().filter(|one| one.is_of(mpi)).collect();
        // Debian's LAMMPS is linked to Open MPI.
        let jobs = jobs
            .iter()
            .filter(|job| mpi == Mpi::OpenMpi || job[0] != "lmp");
        for job in jobs {
            let series = Series {
                origin,
                mpi: mpi.name(),
                calls: 1,
                rounds,
            };
            figures.extend(series.run(&variants, Variant::name, |variant| {
                times(mpi, job, variant, scratch)
            })?);
        }
    }
    Ok(figures)
}

/// Writes LAMMPS' input of the tests, thirty times as long.
fn write_input(scratch: &Path) -> Result<(), Error> {
    let from = artifacts::repository().join("tests/jobs/melt.lammps");
    let text = fs::read_to_string(&from).map_err(|error| Error::file(&from, error))?;
    let lines = text.lines();
    let longer = lines.map(|line| {
        if line.starts_with("run ") {
            "run 7500"
        } else {
            line
        }
    });
    let to = scratch.join("melt.lammps");
    fs::write(
        &to,
        longer.map(|line| format!("{line}\n")).collect::<String>(),
    )
    .map_err(|error| Error::file(&to, error))
}

fn times(
    mpi: Mpi,
    job: &[&str],
    variant: Variant,
    scratch: &Path,
) -> Result<Vec<Measurement>, Error> {
    let script = "TIMEFORMAT='%R %U %S'; time \"$@\" >said 2>&1";
    let mut words: Vec<OsString> = ["bash", "-c", script, "bash"].map(OsString::from).into();
    words.extend(variant.launch(mpi, 2, scratch));
    words.push(match job[0] {
        "lmp" => artifacts::lammps(mpi).into(),
        name => artifacts::job(mpi, name).into(),
    });
    words.extend(job[1..].iter().map(OsString::from));
    let what = format!("{} under {mpi}, {}", job[0], variant.name());
    let (_, stderr) = output(&what, 300, &words, scratch)?;
    let times = numbers(&what, stderr.lines().last().unwrap_or_default())?;
    let of = |quantity, values| Measurement {
        row: job.join(" "),
        quantity,
        values,
    };
    Ok(vec![
        of("s", vec![times[0]]),
        of("processor s", vec![times[1..].iter().sum()]),
    ])
}
